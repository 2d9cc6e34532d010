/**
 * Control characters, what turns the direction of text, and separators that a terminal shows as nothing or obeys. Line feeds
 * and tabs stay.
 */
const unprintable = /[[\p{Cc}--[\t\n]]\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gv

/**
 * Returns a text that a terminal can be given whatever it holds: a company's name cannot clear the screen, colour the next
 * line or reverse what follows it. Such characters become their JSON escapes, so a JSON document stays the same document.
 */
export function printable(text: string): string {
  return text.replaceAll(
    unprintable,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
