/**
 * The characters that start a formula in a spreadsheet; some spreadsheets fold the wide forms to the same characters.
 */
const formulaStart = /^[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/
const plainNumber = /^[+-]?\d+(?:[.,]\d+)*$/
const e164Phone = /^\+\d{7,15}(?: ext\. \d{1,9})?$/

/**
 * The places inside a value at which a spreadsheet may begin a cell: it splits a file at the list separator of its country,
 * and then finds the quotes of this file in the middle of a cell, where they mean nothing.
 */
const innerCell = /([;,|\t\r\n]"*)([=+\-@\uFF1D\uFF0B\uFF0D\uFF20][^;,\t\r\n]*)/g
/** Behind a sign a call or the address of a program makes a formula; `- one` is an entry of a list. */
const signed = /^[+\-\uFF0B\uFF0D]/
const callOrProgram = /[\p{L}\d_.]\(|\|/u

/**
 * Puts a single quote before an external value that a spreadsheet would run as a formula, and before each part of it that
 * another list separator would make a cell. Plain numbers and E.164 phones stay unchanged, since no formula can be made of
 * them. For values that we add; a user's own cells stay as they are.
 */
export function guardFormula(value: string): string {
  const inner = value.replace(innerCell, (all, separator: string, cell: string) =>
    isHarmless(cell) || (signed.test(cell) && !callOrProgram.test(cell)) ? all : `${separator}'${cell}`,
  )
  return formulaStart.test(value) && !isHarmless(value) ? `'${inner}` : inner
}

function isHarmless(text: string): boolean {
  return plainNumber.test(text) || e164Phone.test(text)
}
