import type { Atomic } from '../../../domain/money.ts'
import type { ContractPort } from './contract.ts'
import type { ListsPort } from './lists/lists-port.ts'
import type { RecordName, RecordTimeline } from './record-timeline.ts'
import type { UndoPort } from './run-undo.ts'
import type { SyncPlansPort } from './sync-plan.ts'
import type { ChampionsPort } from './watching/champions-port.ts'
import type { MonitorsPort } from './watching/monitors-port.ts'
import type { SignalsPort } from './watching/signals-port.ts'

/** The desk's dependencies beyond the ledger. Wired in app/web/desk.ts. */
export interface DeskPorts {
  /** The objects that an operator can sync; empty when no CRM is set up. */
  syncable(): { connector: string; entities: string[] }[]
  plans: SyncPlansPort
  /** Stops all spending, in every process, at once. */
  stopSpending(reason: string): Promise<void>
  /** Lifts the stop and resumes the work that it had parked. */
  resumeSpending(): Promise<void>
  /** Undefined when there is no wallet. The balance is undefined while the chain does not respond. */
  wallet(): Promise<{ address: string; balanceAtomic: Atomic | undefined } | undefined>
  /** Undefined when Redis does not respond. */
  pace(): Promise<PaceNow | undefined>
  queues(): Promise<QueueDepth[]>
  timeline(name: RecordName): Promise<RecordTimeline>
  settings(): Promise<SettingsSection[]>
  /** Resolves charges in doubt, compares the ledger with the chain, and saves the result. Undefined without a wallet. */
  reconcile: (() => Promise<{ differences: number; difference: string }>) | undefined
  /** Undefined when schedules are not supported here. */
  schedules: SchedulesPort | undefined
  contract?: ContractPort | undefined
  lists?: ListsPort | undefined
  signals?: SignalsPort | undefined
  monitors?: MonitorsPort | undefined
  champions?: ChampionsPort | undefined
  /** Absent where no CRM can be reached. */
  undo?: UndoPort | undefined
  /** Alerts that were raised and are still active. */
  alerts?: (() => Promise<{ name: string; message: string; since: Date }[]>) | undefined
}

export interface PaceNow {
  phase: string
  perSecond: number
  servedPerSecond: number
  windows: { lengthMs: number; limit: number; confirmed: boolean }[]
  /** Requests that the service serves at a time, where it has such a limit. */
  atOnce?: number
  closedForMs: number
  totals: { ok: number; limited: number }
  /** 0 to 1, over the last ten minutes. */
  limitedShare: number
}

export interface QueueDepth {
  name: string
  waiting: number
  active: number
  delayed: number
}

interface SchedulesPort {
  list(): Promise<ScheduleRow[]>
  pause(name: string, by: string): Promise<void>
  resume(name: string): Promise<void>
  /** Returns for how many objects a run begins; 0 when each has one that is about to begin. */
  runNow(name: string): Promise<number>
}

/** The `entity` of a schedule that syncs every object. */
export const allObjects = 'all objects'

export interface ScheduleRow {
  name: string
  connector: string
  entity: string
  /** The list that it runs in place of a sync. */
  list?: string | undefined
  /** The pipeline of signals that it runs in place of a sync. */
  signals?: string | undefined
  /** The watch of champions that it looks up again. */
  champions?: string | undefined
  /** The pipeline whose report it sends in place of a sync. */
  report?: string | undefined
  /** Cron expression and time zone, as in the config. */
  when: string
  /** The IANA time zone in which its times are shown. */
  timeZone: string
  window?: string | undefined
  isPaused: boolean
  nextAt: Date | undefined
  /** The coming times, `nextAt` first; none while it is paused. */
  next: Date[]
  /** Undefined: the default recipe. */
  recipe?: string | undefined
  /** The most records that it reads; undefined: all that have changed. */
  limit?: number | undefined
  /** Its runs that have not ended. */
  openRuns: string[]
  /** The last run of each object. */
  lastRuns: string[]
  lastAt: Date | undefined
  /** Why the last run of an object did not begin. */
  failed: { entity: string; reason: string }[]
}

/** A read-only table of settings; never the value of a secret. */
export interface SettingsSection {
  title: string
  note?: string
  columns: string[]
  rows: string[][]
}
