import type { Atomic } from '../../domain/money.ts'
import type { RecordName, RecordTimeline } from './story.ts'

/** What the desk asks of the house, beyond what stands in the ledger. The wiring is in app/desk.ts. */
export interface DeskPorts {
  /** What can be synced by hand; empty when no CRM is set up. */
  syncable(): { connector: string; entities: string[] }[]
  /** Begins a sync of one entity; asked again before it is under way, it is the same run. Answers as soon as the run stands. */
  startSync(connector: string, entity: string): Promise<{ runId: string }>
  /** Stops all spending, in every process, at once. */
  stopSpending(reason: string): Promise<void>
  /** Lifts the stop; what it had parked goes on. */
  resumeSpending(): Promise<void>
  /** Undefined when there is no wallet. Its amount is undefined while the chain does not answer. */
  wallet(): Promise<{ address: string; balanceAtomic: Atomic | undefined } | undefined>
  /** Undefined when Redis does not answer. */
  pace(): Promise<PaceNow | undefined>
  queues(): Promise<QueueDepth[]>
  story(name: RecordName): Promise<RecordTimeline>
  settings(): Promise<SettingsSection[]>
  /** Settles what is in doubt, holds the ledger against the chain, and keeps the result. Undefined without a wallet. */
  reconcile: (() => Promise<{ differences: number; difference: string }>) | undefined
  /** Undefined while nothing is scheduled here. */
  schedules: SchedulesPort | undefined
  /** Conditions that were told and have not ended. */
  alerts?: (() => Promise<{ name: string; message: string; since: Date }[]>) | undefined
}

export interface PaceNow {
  phase: string
  perSecond: number
  servedPerSecond: number
  windows: { lengthMs: number; limit: number; confirmed: boolean }[]
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
}

export interface ScheduleRow {
  name: string
  connector: string
  entity: string
  /** Cron expression and time zone, as they stand in the config. */
  when: string
  window?: string | undefined
  isPaused: boolean
  nextAt: Date | undefined
  lastAt: Date | undefined
}

/** A table of settings, read-only; never a secret's value. */
export interface SettingsSection {
  title: string
  note?: string
  columns: string[]
  rows: string[][]
}
