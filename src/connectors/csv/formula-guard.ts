/** What a spreadsheet takes for the beginning of a formula; the wide forms are folded to the same by some of them. */
const formulaStart = /^[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/
const plainNumber = /^[+-]?\d+(?:[.,]\d+)*$/
const e164Phone = /^\+\d{7,15}$/

/**
 * Puts a single quote before a value from outside that a spreadsheet would run as a formula. Plain numbers and E.164
 * phones are left alone, since no formula can be made of them. For values that we add; a user's own cells stay as they are.
 */
export function guardFormula(value: string): string {
  if (!formulaStart.test(value)) return value
  return plainNumber.test(value) || e164Phone.test(value) ? value : `'${value}`
}
