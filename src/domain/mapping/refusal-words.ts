/** Codes of a CRM for what has a name of ours already. */
const sameThing: Readonly<Record<string, string>> = {
  INVALID_OPTION: 'no such option',
  INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST: 'no such option',
}

/**
 * Returns why a value was left out of a record, in the words that summary, history, explain, desk and docs use: ours for our own
 * codes and for those of a CRM that mean the same, the CRM's own for others.
 */
export function refusalWords(code: string): string {
  return Object.hasOwn(sameThing, code) ? (sameThing[code] ?? code) : code.toLowerCase().replaceAll('_', ' ')
}
