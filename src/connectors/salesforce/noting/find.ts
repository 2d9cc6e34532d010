import { markersIn } from '../../../domain/notes/marker.ts'
import type { WantedNote } from '../../noting.ts'
import type { SalesforceClient } from '../api/client.ts'
import { select, soqlText, soqlTime } from '../api/soql.ts'
import { longId } from '../ids.ts'
import { inConditions, runQueries } from '../making/queries.ts'
import { textOf } from '../rows.ts'
import { objectOf, textFieldOf, tieOf } from './kinds.ts'

/** The clocks of the org and of this machine differ by less. */
const clockSlackMs = 86_400_000

/**
 * Returns the notes and tasks that have one of these markers, by marker. A long text cannot be filtered by, so those of the records since
 * then are read. A query sees what was committed.
 */
export async function findByMarker(
  client: SalesforceClient,
  entity: string,
  wanted: readonly WantedNote[],
): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  for (const [kind, group] of Map.groupBy(wanted, (each) => each.kind)) {
    const object = objectOf[kind]
    const text = textFieldOf[object]
    const records = [...new Set(group.flatMap(({ recordId }) => longId(recordId) ?? []))]
    const sinceMs = Math.min(...group.map(({ since }) => since.getTime()))
    const since = `CreatedDate >= ${soqlTime(Math.max(0, sinceMs - clockSlackMs))}`
    const queries = inConditions(tieOf(object, entity), records.map(soqlText)).map((condition) => ({
      q: select({ fields: ['Id', text], from: object, where: [condition, since] }),
    }))
    const markers = new Set(group.map(({ marker }) => marker))
    for (const row of (await runQueries(client, queries)).flat())
      for (const marker of markersIn(textOf(row[text]) ?? ''))
        if (markers.has(marker) && !found.has(marker)) found.set(marker, row.Id)
  }
  return found
}
