import type { Connector, ScanPage, Watermark } from '../connectors/connector.ts'
import type { LookupKey } from '../domain/keys.ts'
import { nextStep, recipes, type LookupWanted } from '../domain/planner.ts'
import type { SourceRecord } from '../domain/record.ts'
import type { LookupLedger } from '../store/lookups.ts'
import type { Run, RunLedger } from '../store/runs.ts'
import type { NewTask, TaskLedger } from '../store/tasks.ts'

/** Moves on the tasks that wait for these lookups; the workers' planner does it. */
interface Advance {
  waitingFor(keys: LookupKey[]): Promise<void>
}

export interface ScanOptions {
  runs: Pick<RunLedger, 'setRecords'>
  tasks: Pick<TaskLedger, 'insert' | 'firstOrdinals' | 'lastOrdinal'>
  lookups: Pick<LookupLedger, 'want' | 'facts'>
  /** Where a scan that was broken off goes on, from the number of records already stored. */
  watermarkAt: (records: number) => Watermark
  /** Absent for a plan: then tasks are stored, and nothing is asked for. */
  advance?: Advance
  onPage?: (records: number) => void
}

/**
 * Reads a connector page by page into tasks, and asks for the lookups that they need. Whatever is cached moves on at
 * once. A page is stored whole or not at all, so that a scan broken off at any place goes on behind its last page.
 */
export async function scan(
  run: Run,
  connector: Connector,
  options: ScanOptions,
  signal?: AbortSignal,
): Promise<number> {
  let records = await options.tasks.lastOrdinal(run.id)
  const start = {
    ...(records > 0 ? { after: options.watermarkAt(records) } : {}),
    ...(signal ? { signal } : {}),
  }
  for await (const page of connector.scan(run.entity, start)) {
    await storePage(run, page, records, options)
    records += page.records.length
    await options.runs.setRecords(run.id, records)
    options.onPage?.(records)
    if (signal?.aborted) break
  }
  return records
}

async function storePage(run: Run, page: ScanPage, before: number, options: ScanOptions): Promise<void> {
  const planned = page.records.map((record, index) => ({
    ordinal: before + index + 1,
    record,
    ...firstStep(run, record),
  }))
  const wanted = planned.flatMap(({ lookup }) => (lookup ? [lookup] : []))
  const firsts = await options.tasks.firstOrdinals(
    run.id,
    wanted.map(({ key }) => key),
  )
  if (options.advance) {
    await options.lookups.want(wanted, {
      id: run.id,
      connector: run.connector,
      hot: run.trigger === 'button',
    })
  }
  const tasks = planned.map(({ ordinal, record, lookup, ended }): NewTask => {
    const key = lookup?.key ?? null
    const first = key === null ? undefined : firsts.get(key)
    if (key !== null && first === undefined) firsts.set(key, ordinal)
    return {
      ordinal,
      recordId: record.id,
      identity: record.identity,
      status: ended?.status ?? (options.advance ? 'looking_up' : 'queued'),
      lookupKey: key,
      duplicateOf: first ?? null,
      waitingFor: options.advance ? key : null,
      reason: ended?.reason ?? null,
    }
  })
  await options.tasks.insert(run.id, tasks)
  if (options.advance) await moveOnCached(wanted, { lookups: options.lookups, advance: options.advance })
}

async function moveOnCached(
  wanted: LookupWanted[],
  { lookups, advance }: Required<Pick<ScanOptions, 'lookups' | 'advance'>>,
): Promise<void> {
  const cached: LookupKey[] = [...(await lookups.facts(wanted.map(({ key }) => key))).keys()]
  if (cached.length > 0) await advance.waitingFor(cached)
}

interface FirstStep {
  lookup?: LookupWanted
  ended?: { status: 'unchanged' | 'skipped' | 'rejected'; reason: string }
}

function firstStep(run: Run, record: SourceRecord): FirstStep {
  if (record.unreadable !== undefined) return { ended: { status: 'rejected', reason: record.unreadable } }
  const step = nextStep(run.object, record.identity, recipes[run.object], {})
  if (step.kind === 'lookup') return { lookup: step.lookup }
  if (step.kind === 'stop') return { ended: step }
  throw new Error('a plan without facts cannot write')
}
