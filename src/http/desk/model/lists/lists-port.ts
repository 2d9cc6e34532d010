import type { JudgedRow, MatchedRecord, ReviewAnswer } from '../../../../domain/lists/judged-row.ts'
import type { Atomic } from '../../../../domain/money.ts'
import type { RecordSpend } from '../../../../domain/planning/explain.ts'
import type { Verdict } from '../../../../domain/words.ts'
import type { ListRun } from '../../../../store/lists/list-history.ts'
import type { OnJobEnd } from '../desk-job.ts'
import type { ListAction, ListJob, ListQuote } from './list-actions.ts'

/** The lists of the settings, with their rows, their review and their actions. Wired in app/web/lists. */
export interface ListsPort {
  names(): string[]
  newPlanId(): string
  /** Returns undefined where there is no such list. */
  read(name: string): Promise<ListView | undefined>
  /** Returns one page of the rows with a verdict, or of all. Undefined while they are compared with the CRM's records. */
  rows(name: string, wanted: { verdict: Verdict | undefined; page: number }): Promise<RowPage | undefined>
  /** Returns one page of the rows that wait for a person. Undefined while they are compared with the CRM's records. */
  waiting(name: string, page: number): Promise<WaitingPage | undefined>
  /** Stores an answer and returns the verdict from now on. Throws ConfigError and InputError for one that cannot hold. */
  answer(
    name: string,
    answer: GivenAnswer,
  ): Promise<{ verdict: string; reason: string; record: string | null }>
  /** Erases an answer. Throws InputError where there is none. */
  forgetAnswer(name: string, key: string): Promise<{ answer: string }>
  history(name: string): Promise<ListHistory>
  /** Says what an action may cost. Throws ConfigError and InputError for settings that allow none. */
  quote(name: string): Promise<ListQuote>
  /**
   * Starts an action and returns at once. Returns false while one of this list is at work here. `onEnd` is called with its figures
   * when it has ended.
   */
  start(name: string, action: ListAction, by: string, onEnd: OnJobEnd): boolean
  /** Returns the last action of a list that was started in this process. */
  job(name: string): ListJob | undefined
  /** Returns the plan of this list. Undefined where there is none. */
  plan(name: string, planId: string): Promise<PlannedList | undefined>
}

/** A list as far as the ledger has it. */
export interface ListView {
  name: string
  search: string
  connector: string
  entity: string
  /** The reason why nothing can be said of it; its other values are then empty. */
  problem?: string | undefined
  /** Null: not known before page 1 is bought. */
  total: number | null
  reachable: number | null
  rows: number
  pages: number
  isComplete: boolean
  /** False: none of its pages is fresh, so that the next fetch begins anew. */
  isCurrent: boolean
  startedAt: Date | null
  /** The rows that the service sent and that are not kept, by reason. */
  dropped: Readonly<Record<string, number>>
  /** The rows that the total promised and that did not come, because they moved. */
  moved: number
  faults: readonly string[]
  parts: readonly { name: string; total: number | null; pages: number; rows: number; cutAt: number | null }[]
  /** Undefined while the rows are compared. */
  verdicts: Readonly<Partial<Record<Verdict, number>>> | undefined
  /** The cost of its pages, whenever they were bought. */
  spend: RecordSpend
  /** The month's cost of the list, and its cap; undefined: it has none. */
  month: { month: string; spentAtomic: Atomic; capAtomic: Atomic | undefined }
  indexIsComplete: boolean
}

export interface RowPage {
  rows: readonly ShownRow[]
  page: number
  pages: number
}

export interface ShownRow extends JudgedRow {
  /** The key by which a person names it. */
  key: string
}

export interface WaitingPage {
  rows: readonly {
    row: ShownRow
    records: readonly (MatchedRecord & { known: string })[]
  }[]
  total: number
  page: number
  pages: number
  answers: readonly {
    key: string
    answer: ReviewAnswer
    recordId: string | null
    isRecordThere: boolean
    by: string
    at: Date
  }[]
}

interface GivenAnswer {
  key: string
  answer: ReviewAnswer
  record: string | undefined
  /** The records that the person saw. */
  shown: readonly string[]
  by: string
}

export interface ListHistory {
  fetches: readonly {
    id: string
    startedAt: Date
    endedAt: Date | null
    ending: string | null
    arrived: number
    stored: number
    dropped: Readonly<Record<string, number>>
    pages: number
  }[]
  /** The runs that made records of it, the latest first. */
  runs: readonly ListRun[]
}

/** The plan of a list, as an operator sees it before records are made. */
export interface PlannedList {
  id: string
  list: string
  madeAt: Date
  connector: string
  entity: string
  /** Undefined while it is made, or where its maker has ended. */
  figures: PlanFigures | undefined
  /** The run that carries it out. */
  runId: string | undefined
  /** The run has ended with every row. */
  isDone: boolean
  /** The most that carrying it out may cost. */
  mostAtomic: Atomic
  /** The first records, by canonical field. */
  first: readonly Readonly<Record<string, unknown>>[]
}

/** The figures of a list's plan, as `paydirt lists plan --json` has them. */
export interface PlanFigures {
  rows: number
  reachable: number | null
  isComplete: boolean
  verdicts: Partial<Record<Verdict, number>>
  creates: number
  crmCalls: number
  into: { set?: Record<string, unknown> | undefined; owner?: unknown }
  /** The companies of people. Absent or null: the records are tied to nothing. */
  association?: {
    entity: string
    existing: number
    made: number
    creates: number
    none: Record<string, number>
  } | null
  owners?: { owner: string | null; name: string | null; records: number }[]
  refusals: string[]
}
