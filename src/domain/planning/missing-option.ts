/** True where a field of some record was left out because its value is no option of a picklist. */
export function hasMissingOption(reasons: readonly { reason: string }[]): boolean {
  return reasons.some(({ reason }) => reason.includes('(no such option)'))
}

/** Returns the sentence that helps where it is true. Commands are in backquotes. */
export function optionsHint(connector: string): string {
  return `\`paydirt options ${connector}\` lists the values that are no option of their picklist`
}
