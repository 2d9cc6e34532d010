import type { PlanSampleRow } from '../../../store/plans/plan-sample.ts'
import type { LeftOutField } from '../../../store/runs/task-progress.ts'

/** The plans from which an operator starts syncs. Wired in app/web/sync-plans.ts. */
export interface SyncPlansPort {
  /** The objects that can be synced, with the recipes that there are for each. */
  choices(): SyncChoice[]
  /**
   * Begins to plan, and returns as soon as the plan has an address. The same question again, while the answer is being
   * made, returns the same plan. Pays and writes nothing.
   */
  make(wanted: PlannedSync): Promise<{ planId: string }>
  read(planId: string): Promise<SyncPlan | undefined>
  /** Starts exactly the plan, and notes by whom. A plan that was started before returns the run that it has. */
  start(planId: string, by: { actor: string; role: string }): Promise<{ runId: string; isNew: boolean }>
}

interface SyncChoice {
  connector: string
  entity: string
  recipes: string[]
  defaultRecipe: string
}

export interface PlannedSync {
  connector: string
  entity: string
  recipe: string
  /** Undefined: all that is new or changed. */
  limit: number | undefined
}

export interface SyncPlan extends PlannedSync {
  id: string
  madeAt: Date
  /** Records read so far, by any process. */
  records: number
  /** The reason why it could not be made. */
  problem: string | undefined
  /** The run that was started from it. */
  runId: string | undefined
  /** Undefined until it is made. */
  figures: PlanFigures | undefined
  /** Some records, with what would change in them or be bought for them. */
  sample: PlanSampleRow[]
  /** False for a plan that only the command line can carry out. */
  isForDesk: boolean
  /** When it can no longer be started, because answers and records have changed since. */
  holdsUntil: Date
}

/** Amounts in USD, as decimal strings. */
interface CostRange {
  low: string
  expected: string
  high: string
}

export interface PlannedStep {
  step: string
  price: string | null
  cap: string
  stopped: boolean
  lookups: { low: number; expected: number; high: number }
  cost: CostRange
}

export interface PlannedLimit {
  name: 'run' | 'day' | 'month' | 'connector' | 'wallet' | 'stopped'
  cap: string | null
  used: string
  left: string | null
  stops: boolean
}

/** The numbers of a plan, as `--plan --json` has them (app/plans/plan-text.ts). */
export interface PlanFigures {
  records: number
  lookups: { unique: number; cached: number; duplicates: number; toBuy: number }
  tasks: { skipped: number; rejected: number }
  /** The records read, each counted once. Undefined in plans of earlier versions. */
  outcomes?:
    { lookUp: number; write: number; unchanged: number; skipped: number; rejected: number } | undefined
  /** The reasons why records end without a lookup or a write. */
  reasons?: { status: string; reason: string; count: number; first: string }[] | undefined
  cost: CostRange
  uncapped: CostRange
  steps: PlannedStep[]
  limits: PlannedLimit[]
  wallet: { address: string; balance: string | null } | null
  begins: boolean
  refusals: { code: string; message: string }[]
  preview?: { records: number; fields: Record<string, number> } | undefined
  leftOut?: LeftOutField[] | undefined
}
