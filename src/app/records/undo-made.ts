import type { Connector } from '../../connectors/connector.ts'
import type { RecordMaker, RecordSnapshot } from '../../connectors/creating.ts'
import { ConfigError, RetriableError } from '../../domain/errors.ts'
import { touched, withoutNotes } from './made-record-touched.ts'
import { createMadeRecords, type MadeRecord } from '../../store/lists/made-records.ts'
import type { Run } from '../../store/runs/runs.ts'
import { pause } from '../../timing/pause.ts'
import type { Context } from '../context/context.ts'
import type { UndoneNotes } from '../notes/undo-notes.ts'

/** One record that a run has made. */
export interface UndoneRecord {
  /** Null: it is not known. */
  record: string | null
  /** The object of the record: companies that were made for people are not the run's own. */
  entity: string
  outcome: 'archived' | 'would_archive' | 'already' | 'left'
  /** The reason why it was not archived. */
  reason?: string
}

/** The records of a list's run, taken back. Scripts rely on its form. */
export interface UndoneRecords {
  kind: 'records'
  runId: string
  connector: string
  entity: string
  plan: boolean
  archived: number
  /** Records that were archived before. */
  already: number
  left: number
  /** Records that were not archived; in a plan every record. */
  rows: UndoneRecord[]
  /** The notes and tasks of the run, which are taken back first. Absent: it has none. */
  notes?: UndoneNotes
  /** The place where the CRM keeps archived records, and for how many days. */
  bin: { keptDays: number; place: string }
  /** The reason why the undo ended early. The same call continues it. */
  unfinished?: string | undefined
}

const pageSize = 100
const longestPauseMs = 30_000

/** True for a run that has made records. Records that a list has updated have a run of their own, whose fields are restored. */
export function makesRecords({
  trigger,
  source,
  fingerprint,
}: Pick<Run, 'trigger' | 'source' | 'fingerprint'>): boolean {
  return trigger === 'list' && fingerprint === `plan|${String(source['plan'])}`
}

/** Throws ConfigError where one field of a list's run is to be undone. */
export function assertNoField(runId: string, field: string | undefined): void {
  if (field !== undefined)
    throw new ConfigError(
      'no_field',
      `run ${runId} has made records: they are taken back whole, so leave --field out`,
    )
}

/**
 * Archives the records that a run has made and nobody has touched since: every property that can be written is as it was after the
 * creation, nothing was tied to the record, and no later run of ours wrote into it. The others are left, each with its reason. A change
 * between the comparison and the archiving, which is one request later, is not seen.
 *
 * Companies that were made for people come after the people. Ties to people whom the same undo archives do not count; a company of people
 * who stay stays too, and Salesforce would take its contacts along.
 *
 * `notes`: what the same undo did, or would do, with the notes of these records; `people` likewise with people of another run.
 *
 * The crash window is above the ledger (src/store/lists/made-records.ts).
 */
export async function undoMade(
  context: Pick<Context, 'database' | 'fieldWrites' | 'now' | 'recordIndex'>,
  connector: Connector,
  run: Run,
  {
    plan,
    signal,
    notes,
    people,
  }: {
    plan: boolean
    signal: AbortSignal
    notes?: UndoneNotes | undefined
    people?: UndoneRecords | undefined
  },
): Promise<UndoneRecords> {
  const { maker } = connector
  if (!maker) throw new ConfigError('makes_no_records', `no records can be archived in ${connector.name}`)
  const made = createMadeRecords(context.database.db, context)
  const undone: UndoneRecords = {
    kind: 'records',
    runId: run.id,
    connector: run.connector,
    entity: run.entity,
    plan,
    archived: 0,
    already: 0,
    left: 0,
    rows: [],
    bin: maker.bin,
  }
  // People who were archived, or would be, where companies were made for them.
  const away: Away = { entity: run.entity, ids: new Set() }
  const others = people && awayOf(people)
  let after = 0
  for (;;) {
    if (signal.aborted) return { ...undone, unfinished: 'it was interrupted' }
    const found = await made.page(run.id, after, pageSize)
    const entity = found[0]?.entity
    const page = found.filter((each) => each.entity === entity)
    const last = page.at(-1)
    if (!last || entity === undefined) return undone
    after = last.ordinal
    try {
      const isBeside = entity !== run.entity
      const judged = await judge(
        context,
        connector,
        maker,
        { run, entity, away: isBeside ? away : others, notes },
        page,
      )
      const wanted = judged.filter(({ outcome }) => outcome === 'would_archive')
      if (!plan && wanted.length > 0) {
        await made.markArchiveSent(
          run.id,
          wanted.map(({ ordinal }) => ordinal),
        )
        await archive(maker, entity, wanted, signal)
      }
      const done = judged.filter(
        ({ outcome, isNews }) => outcome === 'archived' || (isNews && !plan && outcome === 'already'),
      )
      await made.markArchived(
        run.id,
        done.map(({ ordinal }) => ordinal),
      )
      await context.recordIndex.drop(
        run.connector,
        entity,
        done.flatMap(({ record }) => record ?? []),
      )
      for (const { record, outcome, reason } of judged) {
        if (outcome === 'archived' || outcome === 'would_archive') undone.archived += 1
        else undone[outcome] += 1
        if (!isBeside && record !== null && outcome !== 'left' && maker.companiesOf(entity) !== undefined)
          away.ids.add(record)
        if (plan || outcome === 'left')
          undone.rows.push({ record, entity, outcome, ...(reason === undefined ? {} : { reason }) })
      }
    } catch (error) {
      if (!(error instanceof RetriableError)) throw error
      return { ...undone, unfinished: error.message }
    }
  }
}

/** People of one object who are archived, or would be in a plan. */
interface Away {
  entity: string
  ids: Set<string>
}

function awayOf({ entity, rows }: UndoneRecords): Away {
  const going = rows.filter(({ outcome, entity: object }) => outcome === 'would_archive' && object === entity)
  return { entity, ids: new Set(going.flatMap(({ record }) => record ?? [])) }
}

interface Judged extends UndoneRecord {
  ordinal: number
  /** The ledger does not know yet that it is archived. */
  isNews: boolean
}

async function judge(
  { fieldWrites }: Pick<Context, 'fieldWrites'>,
  connector: Connector,
  maker: RecordMaker,
  {
    run,
    entity,
    away,
    notes,
  }: {
    run: Run
    entity: string
    away: Away | undefined
    notes: UndoneNotes | undefined
  },
  page: readonly MadeRecord[],
): Promise<Judged[]> {
  const ids = page.flatMap(({ state, recordId }) =>
    state === 'created' && recordId !== null ? [recordId] : [],
  )
  const snapshots = withoutNotes(await maker.snapshots(entity, ids), entity, notes)
  const ourStamp = connector.mapping?.own.enrichedAt
  const now = away ? await withoutAway(connector, entity, away, snapshots) : snapshots
  const written = await fieldWrites.ourWrites(run.connector, entity, ids)
  return page.map(({ ordinal, state, recordId: record, snapshot, isArchiveSent }): Judged => {
    const left = (reason: string): Judged => ({
      ordinal,
      record,
      entity,
      outcome: 'left',
      reason,
      isNews: false,
    })
    if (state === 'archived') return { ordinal, record, entity, outcome: 'already', isNews: false }
    if (state !== 'created')
      return left('nobody knows yet if it was made: `paydirt apply` of its plan finishes the run')
    if (record === null)
      return left(
        'its values were erased: its subject was forgotten, or it is older than retention.recordsDays',
      )
    const current = now.get(record)
    if (!current)
      return {
        ordinal,
        record,
        entity,
        outcome: 'already',
        isNews: true,
        ...(isArchiveSent ? {} : { reason: 'it is gone, or was merged' }),
      }
    if (snapshot === null) return left('the process ended while it was made: nobody knows what it held then')
    const reason = touched(snapshot, current, { isWritten: written.has(record), ourStamp })
    return reason === undefined
      ? { ordinal, record, entity, outcome: 'would_archive', isNews: true }
      : left(reason)
  })
}

/** Returns the state of companies as if the people were gone that this undo has archived, or would. */
async function withoutAway(
  connector: Connector,
  entity: string,
  away: Away,
  snapshots: ReadonlyMap<string, RecordSnapshot>,
): Promise<Map<string, RecordSnapshot>> {
  const ties = await connector.associations(entity, away.entity, [...snapshots.keys()])
  // Snapshots of both CRMs count them as `contacts`.
  const people = away.entity.toLowerCase().replace(/s?$/, 's')
  return new Map(
    [...snapshots].map(([id, { properties, tied }]) => {
      const staying = (ties.get(id) ?? []).filter((tie) => !away.ids.has(tie.id)).length
      const { [people]: _, ...others } = tied
      return [id, { properties, tied: staying > 0 ? { ...others, [people]: staying } : others }]
    }),
  )
}

/** Archives records, and writes into each of them what became of it. Throws RetriableError when the CRM makes us wait too long. */
async function archive(
  maker: RecordMaker,
  entity: string,
  records: readonly Judged[],
  signal: AbortSignal,
): Promise<void> {
  let waiting = [...records]
  for (let tries = 1; waiting.length > 0; tries += 1) {
    const results = await maker.archive(
      entity,
      waiting.map(({ record }) => record as string),
    )
    let [pauseMs, why] = [0, '']
    waiting = waiting.filter((record, at) => {
      const result = results[at]
      if (result?.status === 'archived' || result?.status === 'gone') record.outcome = 'archived'
      else if (result?.status === 'rejected')
        Object.assign(record, { outcome: 'left', reason: result.reason, isNews: false })
      else {
        pauseMs = Math.max(pauseMs, result?.afterMs ?? 0)
        why = result?.reason ?? why
        return true
      }
      return false
    })
    if (waiting.length === 0) return
    if (pauseMs > longestPauseMs || tries === 5 || signal.aborted) {
      for (const record of waiting)
        Object.assign(record, { outcome: 'left', reason: `not archived yet: ${why}`, isNews: false })
      return
    }
    await pause(pauseMs, signal)
  }
}
