/**
 * Control characters other than tab, line feed and carriage return. Postgres cannot store U+0000, and a terminal may obey the
 * others.
 */
const control = /[\p{Cc}--[\t\n\r]]/v

/**
 * Returns what makes a text from outside unusable, or undefined for a usable one: it is too long, has half of a surrogate
 * pair, or has control characters. The words never contain the text.
 */
export function textFault(text: string, maxLength: number): string | undefined {
  if (text.length > maxLength) return `it has ${text.length} characters, and at most ${maxLength} are read`
  if (!text.isWellFormed()) return 'it has half of a surrogate pair'
  return control.test(text) ? 'it has control characters' : undefined
}
