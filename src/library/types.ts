// One file because it is the whole face of the package, which a change is read in.
import type { FileConfig } from '../app/config/file.ts'
import type { RunPlan } from '../app/plans/plan-text.ts'
import type { RecordHistory, RecordName } from '../app/records/history.ts'
import type { UndoneMatch } from '../app/records/undo-match.ts'
import type { UndoneRecords } from '../app/records/undo-made.ts'
import type { Undone } from '../app/records/undo.ts'
import type { CsvInput, CsvPlan } from '../app/runs/enrich-csv.ts'
import type { RunDetail } from '../app/runs/run-detail.ts'
import type { ListedRun } from '../app/runs/run-list.ts'
import type { RunEnd } from '../app/runs/run-to-end.ts'
import type { RunSummary } from '../app/runs/summary.ts'
import type { ScanFilter } from '../connectors/connector.ts'
import type { ColumnMap } from '../connectors/csv/column-map.ts'
import type { ConfigError } from '../domain/errors.ts'
import type { ObjectKind, TaskStatus } from '../domain/words.ts'
import type { TaskJson } from '../http/tasks/task-json.ts'
import type { RefusalRow, SpendGroup } from '../store/views/spend.ts'

/** The settings of an object of the library. */
export interface PaydirtOptions {
  /** The settings of a `paydirt.config.ts`. No file is read. Default: none. */
  config?: FileConfig | undefined
  /**
   * The variables of docs/configuration.md: address, wallet or API key, stores, CRMs. Default: `process.env`. A `.env` is not
   * read; `process.loadEnvFile()` does that.
   */
  env?: Readonly<Record<string, string | undefined>> | undefined
}

/** A CSV to enrich or plan. */
export interface FileWork {
  /** Path of the file. */
  file: string
  /** The object that each row is. */
  object: ObjectKind
  /** Default: the configured recipe. */
  recipe?: string | undefined
  /** The columns by meaning, where their names do not say so. */
  map?: ColumnMap | undefined
  /** Default: by the byte order mark, or UTF-8. */
  encoding?: string | undefined
  /** Path of the enriched file. Needed unless it is only planned. */
  out?: string | undefined
  /** True: any file at `out` is replaced. Without it, only an unedited output of the same input is. */
  force?: boolean | undefined
}

/** Records of a CRM to enrich now, by their ids. */
export interface RecordsWork {
  /** `hubspot` or `salesforce`. */
  connector: string
  /** `company`, `person`, or the CRM's own name. */
  object: string
  ids: readonly string[]
  recipe?: string | undefined
}

/** New and changed records of a CRM to sync or plan. */
export interface SyncWork {
  /** `hubspot` or `salesforce`. */
  connector: string
  /** Only this object; default: all that the connector has. */
  object?: string | undefined
  recipe?: string | undefined
  /** Records that changed since then, also those that the last sync has read. */
  since?: Date | undefined
  /** At most so many records of each object. */
  limit?: number | undefined
  filter?: readonly ScanFilter[] | undefined
  /** True: records whose answers are stale instead of changed ones. */
  refresh?: boolean | undefined
}

/** Options of everything that can take long. */
export interface WorkOptions {
  /**
   * Stops the work: what was sent is waited for, and the call resolves with the end `interrupted`. Nothing is lost; the same
   * call continues it.
   */
  signal?: AbortSignal | undefined
  /** Called with each event of this work, as it happens. */
  onEvent?: ((event: PaydirtEvent) => void) | undefined
}

export interface ApplyPlanOptions extends WorkOptions {
  /** Path of the enriched file, for the plan of a CSV. */
  out?: string | undefined
  force?: boolean | undefined
}

export interface UndoWorkOptions {
  /** Only this field. */
  field?: string | undefined
  /** True: report what would be restored, and write nothing. */
  plan?: boolean | undefined
  /** Stops the undo behind the record that is under way; the same call continues it. */
  signal?: AbortSignal | undefined
}

/** A run that has ended. `parked`: the rest waits, and its summary says for which reasons. */
export interface EndedRun {
  end: RunEnd
  summary: RunSummary
}

/** An object of the CRM that could not begin, and why. The others are worked. */
export interface LeftOutObject {
  entity: string
  error: ConfigError
}

export interface SyncPlans {
  plans: RunPlan[]
  leftOut: LeftOutObject[]
}

export interface Synced {
  /** The worst end of all. */
  end: RunEnd
  runs: EndedRun[]
  leftOut: LeftOutObject[]
}

export interface AppliedPlan extends EndedRun {
  planId: string
  /** Records that have changed since the plan was made: nothing was bought or written for them. */
  drifted: number
}

export interface EnrichedByIds {
  end: RunEnd
  /** One, or more when other requests of the last minute asked for some of the records. */
  summaries: RunSummary[]
  results: TaskJson[]
}

/** The result of an undo; undefined for a run whose source keeps no values, such as a CSV. */
export type UndoResult = Undone | UndoneRecords | UndoneMatch | undefined

/** Something that happened in the work of this object. */
export type PaydirtEvent =
  /** A file was read, and its enrichment begins. */
  | { type: 'file'; reading: Omit<CsvInput, 'notLookedUp'> }
  /** The plan of one object was made. */
  | { type: 'planned'; entity: string; plan: RunPlan }
  /** An object of a sync begins. */
  | { type: 'object'; connector: string; entity: string }
  /** An object of a sync cannot begin. */
  | { type: 'left_out'; connector: string; entity: string; error: ConfigError }
  /** An interrupted run is continued. */
  | { type: 'resumed'; runId: string; startedAt: Date }
  /**
   * Said about ten times a second at most. `settled` is in USD; `credits` is what direct access charged, when it charged
   * any; `pace` the requests a second that the pacer has learned, with those at a time where the service has such a limit, and the
   * share of the last ten minutes' requests that the service refused as too many (0 to 1), absent before the first request.
   */
  | {
      type: 'progress'
      records: number
      counts: Record<TaskStatus, number>
      underWay: { records: number; bought: number }
      settled: string
      credits?: string
      pace?: { perSecond: number; atOnce?: number; refusedShare: number }
      /** Set while the call stops: nothing more is begun, and answers that are on their way still come in. */
      isStopping?: true
    }
  /** A sentence for a person. */
  | { type: 'notice'; text: string }
  /** A run has ended. */
  | { type: 'ended'; runId: string; end: RunEnd; summary: RunSummary }

/** Enrichment by a program. Made by {@link createPaydirt}; released by `close` or `await using`. */
export interface Paydirt {
  /**
   * Returns what a run would buy, fill and pay, and saves it under an id for {@link Paydirt.apply}. Pays nothing.
   *
   * @example
   * ```ts
   * import { createPaydirt } from 'paydirt'
   *
   * await using paydirt = createPaydirt()
   * const plan = await paydirt.plan({ file: 'leads.csv', object: 'company' })
   * console.log(`${plan.lookups.toBuy} lookups, at most ${plan.cost.high} USD`)
   * ```
   */
  plan(work: FileWork, options?: WorkOptions): Promise<CsvPlan>
  plan(work: SyncWork, options?: WorkOptions): Promise<SyncPlans>
  /**
   * Carries a plan out: its records and lookups, within its cost. Throws ConfigError `plan_drifted` before anything is bought
   * when the file or the rules have changed.
   *
   * @example
   * ```ts
   * import { createPaydirt } from 'paydirt'
   *
   * await using paydirt = createPaydirt()
   * const { planId } = await paydirt.plan({ file: 'leads.csv', object: 'company' })
   * const { end, summary } = await paydirt.apply(planId!, { out: 'leads-planned.csv' })
   * console.log(end, summary.spend.settled)
   * ```
   */
  apply(planId: string, options?: ApplyPlanOptions): Promise<AppliedPlan>
  /**
   * Enriches a file or named records of a CRM now. The same call continues what was interrupted or parked, and pays for
   * nothing twice.
   *
   * @example
   * ```ts
   * import { createPaydirt } from 'paydirt'
   *
   * await using paydirt = createPaydirt({ config: { budgets: { runUsd: '5' } } })
   * const { end, summary } = await paydirt.enrich(
   *   { file: 'leads.csv', object: 'company', out: 'leads-enriched.csv' },
   *   { signal: AbortSignal.timeout(600_000) },
   * )
   * console.log(`${end}: ${summary.tasks.written} of ${summary.records} rows`)
   * ```
   */
  enrich(work: FileWork & { out: string }, options?: WorkOptions): Promise<EndedRun>
  enrich(work: RecordsWork, options?: WorkOptions): Promise<EnrichedByIds>
  /**
   * Enriches the records of a CRM that are new or changed since the last sync, and writes the results back.
   *
   * @example
   * ```ts
   * import { createPaydirt } from 'paydirt'
   *
   * await using paydirt = createPaydirt()
   * const { end, leftOut } = await paydirt.sync({ connector: 'hubspot', object: 'company', limit: 5 })
   * for (const { entity, error } of leftOut) console.error(entity, error.message)
   * console.log(end)
   * ```
   */
  sync(work: SyncWork, options?: WorkOptions): Promise<Synced>
  /**
   * Returns the latest runs first. Reads are answered beside a run of this object, and beside another process that holds an
   * embedded ledger.
   *
   * @example
   * ```ts
   * import { createPaydirt } from 'paydirt'
   *
   * await using paydirt = createPaydirt()
   * for (const { runId, state, settled } of await paydirt.runs({ limit: 10 })) console.log(runId, state, settled)
   * ```
   */
  runs(options?: { limit?: number | undefined }): Promise<ListedRun[]>
  /** Returns one run in full. Throws ConfigError `no_such_run`. */
  run(runId: string): Promise<RunDetail>
  /**
   * Returns the events of all work of this object from now on, until the signal or `close`. A slow reader loses old progress
   * and nothing else, up to a thousand events.
   *
   * @example
   * ```ts
   * import { createPaydirt } from 'paydirt'
   *
   * await using paydirt = createPaydirt()
   * const events = paydirt.events()
   * const run = paydirt.enrich({ file: 'leads.csv', object: 'company', out: 'leads-enriched.csv' })
   * for await (const event of events) {
   *   if (event.type === 'progress') console.log(`${event.counts.written} of ${event.records}, ${event.settled} USD`)
   *   if (event.type === 'ended') break
   * }
   * await run
   * ```
   */
  events(options?: { signal?: AbortSignal | undefined }): AsyncIterable<PaydirtEvent>
  /**
   * Returns what the ledger knows about one record, by its name (`hubspot:contact:123`) or its parts.
   *
   * @example
   * ```ts
   * import { createPaydirt } from 'paydirt'
   *
   * await using paydirt = createPaydirt()
   * const { fields, tasks } = await paydirt.history('csv:company:2')
   * console.log(fields.length, tasks.map(({ run, status }) => `${run} ${status}`))
   * ```
   */
  history(record: string | RecordName, options?: { run?: string | undefined }): Promise<RecordHistory>
  /**
   * Puts back the values that a run overwrote in a CRM, where nobody has changed them since.
   *
   * @example
   * ```ts
   * import { createPaydirt } from 'paydirt'
   *
   * await using paydirt = createPaydirt()
   * const [last] = await paydirt.runs({ limit: 1 })
   * const undone = last && (await paydirt.undo(last.runId, { plan: true }))
   * console.log(undone ?? 'its source keeps no values')
   * ```
   */
  undo(runId: string, options?: UndoWorkOptions): Promise<UndoResult>
  /**
   * Returns what was paid, by group, with prices and caps.
   *
   * @example
   * ```ts
   * import { createPaydirt } from 'paydirt'
   *
   * await using paydirt = createPaydirt()
   * const { rows } = await paydirt.spend({ by: 'day' })
   * console.table(rows)
   * ```
   */
  spend(options?: { by?: SpendGroup | undefined }): Promise<SpendReport>
  /** Stops work that is under way as its signal would, waits for it, and releases everything. Calls after it throw. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** Amounts in USD (or credits, as `currency` says), as text with six places. */
export interface SpendReport {
  by: SpendGroup
  rows: Record<string, string | number | null>[]
  /** The reasons for which payments were refused, with their number. */
  refused: RefusalRow[]
  /** Since when spending is stopped, by whom and why; undefined while it is not. `isRestored`: until the chain was read after a restore. */
  stopped: { since: Date; by: string | null; reason: string; isRestored?: true } | undefined
  prices: { step: string; price: string | null; cap: string; bought: boolean }[]
  lists: { list: string; month: string; spent: string; cap: string | null }[]
}
