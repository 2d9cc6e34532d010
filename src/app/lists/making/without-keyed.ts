import type { CreatedRecords, Ending, Making } from '../../../store/lists/created-records.ts'
import type { PlannedRow } from '../../../store/lists/planned-rows.ts'
import type { MakingConnector } from './fit-row.ts'

/**
 * Ends the rows whose key a record has that this ledger has not made: it is of another installation, or of a ledger that was lost. It may
 * have been edited past recognition since, and HubSpot's upsert would write over that.
 */
export async function withoutKeyed<Row extends { row: PlannedRow; isRepeat: boolean }>(
  { making, connector, created }: { making: Making; connector: MakingConnector; created: CreatedRecords },
  rows: readonly Row[],
): Promise<Row[]> {
  const first = rows.filter(({ isRepeat }) => !isRepeat)
  if (first.length === 0) return [...rows]
  const ids = await connector.maker.findByKey(
    making.entity,
    first.map(({ row }) => row.key),
  )
  const there = first.flatMap(({ row }) => {
    const recordId = ids.get(row.key)
    return recordId === undefined ? [] : [{ row, recordId }]
  })
  await created.end(
    making,
    there.map(({ row }) => row),
    there.map(({ row: { ordinal }, recordId }): Ending => ({
      ordinal,
      state: 'exists',
      recordId,
      reason: 'exists: it has our key',
    })),
  )
  const ended = new Set(there.map(({ row }) => row.ordinal))
  return rows.filter(({ row }) => !ended.has(row.ordinal))
}
