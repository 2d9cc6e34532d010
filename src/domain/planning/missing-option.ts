/** True where a field of some record was left out because its value is no option of a picklist. */
export function hasMissingOption(reasons: readonly { reason: string }[]): boolean {
  return reasons.some(({ reason }) => reason.includes('(no such option)'))
}
