/**
 * The characters that start a formula in a spreadsheet; some spreadsheets fold the wide forms to the same characters.
 */
const formulaStart = /^[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/
const plainNumber = /^[+-]?\d+(?:[.,]\d+)*$/
const e164Phone = /^\+\d{7,15}(?: ext\. \d{1,9})?$/

/**
 * Puts a single quote before an external value that a spreadsheet would run as a formula. Plain numbers and E.164
 * phones stay unchanged, since no formula can be made of them. For values that we add; a user's own cells stay as they
 * are.
 */
export function guardFormula(value: string): string {
  if (!formulaStart.test(value)) return value
  return plainNumber.test(value) || e164Phone.test(value) ? value : `'${value}`
}
