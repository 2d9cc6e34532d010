/** Statements with more parameters are lists of values, of a different length each time. */
const maxParameters = 40
const mayRepeat = /^\s*(select|insert|update|delete|with)\b/i

/** Returns true for a statement that is worth to be prepared under a name: it may come again with the same text. */
export function isPreparable(text: string, parameters: number): boolean {
  return parameters <= maxParameters && mayRepeat.test(text)
}
