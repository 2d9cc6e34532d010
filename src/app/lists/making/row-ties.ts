import type { CreatedRecords } from '../../../store/lists/created-records.ts'
import type { MakingConnector } from './fit-row.ts'
import type { MakeOptions, OpenRow, RowTie } from './make-records.ts'

/** Rows whose company is known, and those that wait for it. */
export interface TiedRows {
  ready: OpenRow[]
  waiting: OpenRow[]
}

/**
 * Finds the records of the companies to which people are tied, as they are now: one that is made by the same plan by its key, and one that
 * was there by its id, because it may be gone or merged. `areMade`: every company has ended, so that one without a draft was forgotten.
 */
export async function tiedRows(
  { making, connector, created }: Pick<MakeOptions, 'making' | 'connector' | 'created'>,
  rows: readonly OpenRow[],
  areMade: boolean,
): Promise<TiedRows> {
  const companies = rows.flatMap(({ row: { company } }) => company ?? [])
  const [first] = companies
  if (!first) return { ready: [...rows], waiting: [] }
  const made = await created.byKey(making.runId, [
    ...new Set(companies.flatMap((company) => ('key' in company ? [company.key] : []))),
  ])
  const ids = [...new Set(companies.flatMap((company) => ('recordId' in company ? [company.recordId] : [])))]
  const read = ids.length === 0 ? new Map<string, never>() : await connector.read(first.entity, ids)
  const tied: TiedRows = { ready: [], waiting: [] }
  for (const open of rows) {
    const { company } = open.row
    if (!company) {
      tied.ready.push(open)
      continue
    }
    const tie =
      'key' in company ? tieToMade(made.get(company.key), areMade) : tieToRecord(company.recordId, read)
    if (tie) tied.ready.push({ ...open, tie: { entity: company.entity, ...tie } })
    else tied.waiting.push(open)
  }
  return tied
}

type Found = { recordId: string } | { untied: string }
type Draft = Awaited<ReturnType<CreatedRecords['byKey']>> extends Map<string, infer Value> ? Value : never

/** Undefined: the company has not ended. */
function tieToMade(draft: Draft | undefined, areMade: boolean): Found | undefined {
  if (!draft) return areMade ? { untied: 'its company was forgotten' } : undefined
  const { state, recordId, reason } = draft
  if (state === 'intent' || state === 'sent') return undefined
  if (state === 'archived') return { untied: 'its company was taken back' }
  return recordId === null ? { untied: `its company was not made: ${reason ?? state}` } : { recordId }
}

function tieToRecord(
  id: string,
  read: ReadonlyMap<
    string,
    Awaited<ReturnType<MakingConnector['read']>> extends Map<string, infer R> ? R : never
  >,
): Found {
  const record = read.get(id)
  if (record?.state === 'present' || record?.state === 'unreadable') return { recordId: id }
  if (record?.state === 'merged') return { recordId: record.into }
  return { untied: 'its company is gone' }
}

/**
 * Ties records of an earlier attempt to their companies: it may have ended before the tie. One that is tied to a company stays with it,
 * because a person may have chosen another. Returns the tie of each record, by its place.
 */
export async function tieRecords(
  connector: MakingConnector,
  entity: string,
  records: readonly { open: OpenRow; id: string }[],
): Promise<Map<number, RowTie>> {
  const ties = new Map<number, RowTie>()
  const wanted = records.flatMap(({ open: { row, tie }, id }) => {
    if (tie) ties.set(row.ordinal, tie)
    return tie && 'recordId' in tie
      ? [{ ordinal: row.ordinal, toEntity: tie.entity, from: id, to: tie.recordId }]
      : []
  })
  const [first] = wanted
  if (!first) return ties
  const { toEntity } = first
  const there = await connector.associations(
    entity,
    toEntity,
    wanted.map(({ from }) => from),
  )
  const untied = wanted.filter(({ from }) => (there.get(from)?.length ?? 0) === 0)
  if (untied.length === 0) return ties
  const refused = await connector.maker.associate(entity, toEntity, untied)
  for (const [at, reason] of refused) ties.set(untied[at]!.ordinal, { entity: toEntity, untied: reason })
  return ties
}
