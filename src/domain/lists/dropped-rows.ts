/** The reasons for which a row is not in the ledger. */
const dropReasons = ['suppressed', 'forgotten'] as const
export type DropReason = (typeof dropReasons)[number]

/**
 * The one key of what stands in the place of a dropped row. The place stays, so that a page has as many entries as the service sent:
 * its size says whether it is the last one.
 */
const droppedKey = 'dropped_by_paydirt'

/** Returns what stands in the place of a dropped row. */
export function dropped(reason: DropReason): Record<string, DropReason> {
  return { [droppedKey]: reason }
}

/** Returns why a row was dropped; undefined for a row of the service. */
export function dropReason(row: Readonly<Record<string, unknown>>): DropReason | undefined {
  const reason = dropReasons.find((each) => each === row[droppedKey])
  return reason !== undefined && Object.keys(row).length === 1 ? reason : undefined
}
