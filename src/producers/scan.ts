import type { Connector, ScanOptions, ScanPage } from '../connectors/connector.ts'
import type { LookupKey } from '../domain/keys.ts'
import { nextStep, type LookupWanted, type PriceTable } from '../domain/planning/planner.ts'
import { builtInRecipes, type RecipeBook } from '../domain/planning/recipes.ts'
import type { SourceRecord } from '../domain/record.ts'
import { identifiersOf, type Identifier } from '../domain/subjects/identifiers.ts'
import type { LookupLedger } from '../store/ledger/lookups.ts'
import type { Run, RunLedger } from '../store/runs/runs.ts'
import type { NewTask, TaskLedger } from '../store/runs/tasks.ts'

/** Moves on the tasks that wait for these lookups; the workers' planner does it. */
interface Advance {
  advanceTasksWaitingFor(keys: LookupKey[]): Promise<void>
}

export interface ScanSettings {
  runs: Pick<RunLedger, 'get' | 'markScanned'>
  tasks: Pick<TaskLedger, 'insertPage' | 'firstOrdinals'>
  lookups: Pick<LookupLedger, 'want' | 'facts'>
  /** Absent for a plan: then tasks are stored, and nothing is asked for. */
  advance?: Advance
  /** Default: the built-in recipes alone. */
  recipes?: RecipeBook
  /** What steps cost at most. Default: what is known of the service's prices. */
  prices?: PriceTable
  /** Which of these subjects, by their place, are to be left alone. Absent: none. */
  suppressed?: (subjects: readonly (readonly Identifier[])[]) => Promise<ReadonlySet<number>>
  onPage?: (records: number) => void
}

/**
 * Reads a connector page by page into tasks, and asks for the lookups that they need. Whatever is cached moves on at
 * once. A page and the watermark behind it are stored together, so that a scan broken off at any place goes on behind
 * its last page. Answers the number of records of the run.
 */
export async function scan(
  run: Run,
  connector: Connector,
  settings: ScanSettings,
  source: ScanOptions = {},
): Promise<number> {
  // The run as it stands now: it may have been broken off and gone on with before.
  const stored = await settings.runs.get(run.id)
  let records = stored?.records ?? 0
  if (stored?.scannedAt) return records
  const after = stored?.watermark ?? source.after
  const limit = source.limit === undefined ? undefined : source.limit - records
  if (limit === undefined || limit > 0) {
    const options = { ...source, ...(after ? { after } : {}), ...(limit === undefined ? {} : { limit }) }
    for await (const page of connector.scan(run.entity, options)) {
      await storePage(run, page, records, settings)
      records += page.records.length
      settings.onPage?.(records)
      if (source.signal?.aborted) return records
    }
  }
  if (!source.signal?.aborted) await settings.runs.markScanned(run.id)
  return records
}

async function storePage(run: Run, page: ScanPage, before: number, options: ScanSettings): Promise<void> {
  const { recipes = builtInRecipes } = options
  const suppressed = await options.suppressed?.(page.records.map(({ identity }) => identifiersOf(identity)))
  const planned = page.records.map((record, index) => ({
    ordinal: before + index + 1,
    ...(suppressed?.has(index)
      ? leftAlone(record)
      : { record, ...firstStep(run, record, page.ownWrites, recipes, options.prices) }),
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
  await options.tasks.insertPage(run.id, tasks, page.watermark)
  if (options.advance) await moveOnCached(wanted, { lookups: options.lookups, advance: options.advance })
}

async function moveOnCached(
  wanted: LookupWanted[],
  { lookups, advance }: Required<Pick<ScanSettings, 'lookups' | 'advance'>>,
): Promise<void> {
  const cached: LookupKey[] = [...(await lookups.facts(wanted.map(({ key }) => key))).keys()]
  if (cached.length > 0) await advance.advanceTasksWaitingFor(cached)
}

interface FirstStep {
  lookup?: LookupWanted
  ended?: { status: 'unchanged' | 'skipped' | 'rejected'; reason: string }
}

/** Of whom nothing is to be known, nothing is kept. */
function leftAlone(record: SourceRecord): FirstStep & { record: SourceRecord } {
  return { record: { ...record, identity: {} }, ended: { status: 'skipped', reason: 'suppressed' } }
}

function firstStep(
  run: Run,
  record: SourceRecord,
  ownWrites: ReadonlySet<string> | undefined,
  recipes: RecipeBook,
  prices: PriceTable | undefined,
): FirstStep {
  // Its last change was our own: looking it up again would only find what we wrote.
  if (ownWrites?.has(record.id)) return { ended: { status: 'unchanged', reason: 'our own write' } }
  if (record.unreadable !== undefined) return { ended: { status: 'rejected', reason: record.unreadable } }
  const step = nextStep(record, recipes(run.object, run.recipe), {}, prices ? { prices } : {})
  if (step.kind === 'lookup') return { lookup: step.lookup }
  if (step.kind === 'stop') return { ended: step }
  throw new Error('a plan without facts cannot write')
}
