import type { MonitorStep } from '../../../../domain/monitors/monitor-plan.ts'
import type { Atomic } from '../../../../domain/money.ts'
import type { MatchCount, MatchRow } from '../../../../store/matches/matches-page.ts'
import type { MonitorsState } from '../../../../store/monitors/monitors-state.ts'
import type { DeskJob, OnJobEnd } from '../desk-job.ts'

/** The monitors of the settings, with their deliveries and actions. Wired in app/web/watching. */
export interface MonitorsPort {
  /** Reads the ledger alone: the service is asked by an action, never by a page. */
  read(): Promise<MonitorsView>
  /** Returns one page of the matches of a monitor, the latest first. */
  matches(monitor: string, page: number): Promise<MatchPage>
  /** Starts an action and returns at once. Returns false while one is at work here. */
  start(action: MonitorAction, by: string, onEnd: OnJobEnd): boolean
  job(): MonitorJob | undefined
}

export interface MonitorsView extends Pick<MonitorsState, 'others' | 'headers'> {
  monitors: readonly MonitorView[]
  /** The last comparison with the service that was made here. */
  compared: ComparedView | undefined
}

export interface MonitorView {
  name: string
  mode: string
  signalTypes: readonly string[]
  /** The status of the settings. */
  declaredStatus: string
  /** The status at the service as it was seen last, here or in its log. Undefined: never. */
  status: string | undefined
  /** `auto`, an address, or undefined: it is read from its logs alone. */
  webhook: string | undefined
  /** Work is declared for each company that it names. */
  worksMatches: boolean
  enrichesByItself: boolean
  /** Undefined: it is not at the service as far as the ledger knows. */
  known: MonitorsState['monitors'][number] | undefined
  matches: readonly Pick<MatchCount, 'state' | 'matches'>[]
  /** The cost of its matches in this month (UTC), and the caps of the settings. */
  month: { month: string; spentAtomic: Atomic; capAtomic: Atomic | undefined }
  dayCapAtomic: Atomic | undefined
}

export interface ComparedView {
  at: Date
  steps: readonly MonitorStep[]
  /** Monitors of others in the workspace. */
  foreign: number
  warnings: readonly string[]
}

export interface MatchPage {
  matches: readonly MatchRow[]
  page: number
  hasNext: boolean
}

/** `compare` reads the monitors at the service; the others change the status of one there. */
export type MonitorAction = { kind: 'compare' } | { kind: 'pause' | 'resume'; monitor: string }

export interface MonitorJob extends DeskJob<MonitorAction['kind']> {
  monitor?: string | undefined
}
