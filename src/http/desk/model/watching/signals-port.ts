import type { Atomic } from '../../../../domain/money.ts'
import type { RecordSpend } from '../../../../domain/planning/explain.ts'
import type { DayScore } from '../../../../domain/signals/change.ts'
import type { ReportedAccount, ReportedName } from '../../../../domain/signals/report.ts'
import type { Addend } from '../../../../domain/signals/score.ts'
import type { SignalType } from '../../../../domain/signals/signal.ts'
import type { TimelineEvent } from '../../../../domain/signals/timeline.ts'
import type { AccountCheck, AccountState } from '../../../../store/signals/account-page.ts'
import type { DeskJob, OnJobEnd } from '../desk-job.ts'

/** The pipelines of the settings, with their accounts and actions. Wired in app/web/watching. */
export interface SignalsPort {
  /** Returns every pipeline of the settings, in their order. */
  pipelines(): Promise<PipelineView[]>
  /** Returns what moved among the accounts of a pipeline in so many days, at most some seconds old. */
  moved(pipeline: string, days: number): Promise<MovedAccounts>
  /** Returns a page of all accounts of a pipeline, the highest score first. */
  accounts(pipeline: string, page: number): Promise<AccountPage>
  /** Returns an account by its name, CONNECTOR:OBJECT:ID, or the reason why there is none. */
  account(record: string, page: number): Promise<AccountView | { missing: string }>
  /** Starts an action and returns at once. Returns false while one of this pipeline is at work here. */
  start(pipeline: string, action: PipelineAction, by: string, onEnd: OnJobEnd): boolean
  job(pipeline: string): PipelineJob | undefined
  /** Returns the last plan that was made here. */
  plan(pipeline: string): PipelinePlan | undefined
}

export interface PipelineView {
  name: string
  /** The object of a CRM, or the list, whose accounts it watches. */
  source: { connector: string; entity: string | undefined } | { list: string }
  types: readonly SignalType[]
  /** Accounts of which a type was checked, and those of them that the service does not know. */
  accounts: number
  unmatched: number
  signals: number
  lastCheckAt: Date | null
  /** The month's cost (UTC), and its cap; undefined: it has none. */
  month: { month: string; spentAtomic: Atomic; capAtomic: Atomic | undefined }
  /** The most that one run spends by the settings. */
  budgetAtomic: Atomic | undefined
}

export interface MovedAccounts {
  madeAt: Date
  /** The day (UTC) with which scores are compared. */
  since: string
  /** The last day for which scores were computed; null: never. */
  scoredOn: string | null
  watched: number
  moved: readonly ReportedAccount[]
  added: readonly ReportedName[]
  gone: readonly ReportedName[]
  /** The cost of the period. */
  spend: RecordSpend
}

export interface AccountPage {
  accounts: readonly (ReportedName & { stage: string | null; hundredths: number })[]
  total: number
  page: number
  pages: number
}

export interface AccountView extends AccountState {
  account: ReportedName & { stage: string | null }
  scores: readonly AccountScore[]
  checks: readonly AccountCheck[]
  /** One page of the timeline, the latest first. */
  events: readonly TimelineEvent[]
  total: number
  page: number
  pages: number
}

export interface AccountScore {
  pipeline: string
  hundredths: number
  /** Null: there was no score seven days before. */
  changeHundredths: number | null
  comparedWith: string | null
  /** The strongest first. */
  addends: readonly Addend[]
  /** Signals that no rule fits. */
  unscored: number
  history: readonly DayScore[]
}

/** `plan` reads the accounts and pays nothing. */
export type PipelineAction = { kind: 'plan' } | { kind: 'run'; budgetAtomic: Atomic }

export interface PipelineJob extends DeskJob<PipelineAction['kind']> {
  /** The runs that wrote into the CRM. */
  runs?: readonly string[]
}

export interface PipelinePlan {
  madeAt: Date
  accounts: number
  due: Readonly<Partial<Record<SignalType, number>>>
  /** Requests and the most that they cost, in USD. */
  periods: readonly {
    period: string
    least: number
    likely: number
    leastAtomic: Atomic
    likelyAtomic: Atomic
  }[]
  /** Accounts that are not watched, with the reason. */
  skipped: readonly { place: string; reason: string }[]
  suppressed: number
}
