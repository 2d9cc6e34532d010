import type { Verdict } from '../../../../domain/champions/moved.ts'
import type { Atomic } from '../../../../domain/money.ts'
import type { ChampionRow } from '../../../../store/champions/champions-page.ts'
import type { DeskJob, OnJobEnd } from '../desk-job.ts'

/** The people whose jobs are watched, with the actions on them. Wired in app/web/watching. */
export interface ChampionsPort {
  /** Returns every watch of the settings, in their order. */
  watches(): Promise<WatchView[]>
  people(watch: string, wanted: { verdict: Verdict | undefined; page: number }): Promise<ChampionPage>
  /** Starts an action and returns at once. Returns false while one of this watch is at work here. */
  start(watch: string, action: WatchAction, by: string, onEnd: OnJobEnd): boolean
  job(watch: string): WatchJob | undefined
}

export interface WatchView {
  name: string
  connector: string
  /** The days after which a person is looked up again. */
  days: number
  /** People by the verdict of their last check. */
  verdicts: Readonly<Partial<Record<Verdict, number>>>
  lastCheckedAt: Date | null
  /** The month's cost (UTC), and its cap; undefined: it has none. */
  month: { month: string; spentAtomic: Atomic; capAtomic: Atomic | undefined }
  /** The most that one run spends by the settings. */
  budgetAtomic: Atomic | undefined
}

export interface ChampionPage {
  people: readonly ChampionRow[]
  page: number
  pages: number
}

/** `plan` reads the people and pays nothing. */
export type WatchAction = { kind: 'plan' } | { kind: 'run'; budgetAtomic: Atomic }

export interface WatchJob extends DeskJob<WatchAction['kind']> {
  /** The runs that wrote into the CRM. */
  runs?: readonly string[]
}
