import type { Connector, CurrentRecord } from '../../connectors/connector.ts'
import { mergesIn } from '../../store/runs/merged-records.ts'
import type { FieldWrite } from '../../store/writes/written-fields.ts'
import type { Context } from '../context/context.ts'

/** A CRM that names merge after merge must not keep an undo for ever. */
const mostMerges = 20

/**
 * Reads records, and for one that was merged away the record that it became part of. `placeOf` returns the id under which
 * a record's values are now. The merges are noted in the ledger where `isNoted` says so: a plan writes nothing.
 */
export async function followMerges(
  { fieldWrites }: Pick<Context, 'fieldWrites'>,
  connector: Connector,
  entity: string,
  ids: readonly string[],
  { isNoted }: { isNoted: boolean },
): Promise<{ current: Map<string, CurrentRecord>; placeOf: (record: string) => string }> {
  const places = new Map(ids.map((id) => [id, id]))
  const read = new Map<string, CurrentRecord>()
  let asked = [...new Set(ids)]
  for (let round = 0; asked.length > 0 && round <= mostMerges; round += 1) {
    const found = await connector.read(entity, asked)
    if (isNoted) await fieldWrites.noteMerges(connector.name, entity, mergesIn(found))
    for (const [id, record] of found) read.set(id, record)
    const next = new Set<string>()
    for (const [id, place] of places) {
      const record = read.get(place)
      if (record?.state !== 'merged') continue
      places.set(id, record.into)
      if (!read.has(record.into)) next.add(record.into)
    }
    asked = [...next]
  }
  const current = new Map(
    [...places].map(([id, place]): [string, CurrentRecord] => [id, read.get(place) ?? { state: 'gone' }]),
  )
  return { current, placeOf: (record) => places.get(record) ?? record }
}

/** The decision on one write: neither `restore` nor `already` where `reason` says why it is left. */
export interface Decided {
  write: FieldWrite
  as?: 'restore' | 'already'
  reason?: string
}

/**
 * Leaves a field alone in which two records had different values before they became one: nobody knows which of the two
 * the record would have without us.
 */
export function withoutDisputes(decided: readonly Decided[], placeOf: (record: string) => string): Decided[] {
  const before = new Map<string, Set<string>>()
  const keyOf = ({ recordId, field }: FieldWrite): string => JSON.stringify([placeOf(recordId), field])
  const oldOf = ({ old, oldRaw }: FieldWrite): string => JSON.stringify(oldRaw ?? old)
  for (const { write, as } of decided) {
    if (as !== 'restore') continue
    before.set(keyOf(write), (before.get(keyOf(write)) ?? new Set()).add(oldOf(write)))
  }
  return decided.map(({ write, ...decision }) =>
    decision.as === 'restore' && (before.get(keyOf(write))?.size ?? 0) > 1
      ? { write, reason: 'the records that were merged had different values before' }
      : { write, ...decision },
  )
}
