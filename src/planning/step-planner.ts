import { PaydirtError, describeUnexpected } from '../domain/errors.ts'
import { isTooLong, type LookupKey } from '../domain/keys.ts'
import type { Atomic } from '../domain/money.ts'
import {
  nextStep,
  slotOf,
  type Facts,
  type LookupWanted,
  type PlannedRecord,
  type PriceTable,
  type Stop,
} from '../domain/planning/planner.ts'
import type { RecipeBook } from '../domain/planning/recipes.ts'
import type { Fact, FieldValue, Patch } from '../domain/record.ts'
import { withUndoneOpen } from '../domain/planning/wanted-fields.ts'
import { identifiersOf, type Identifier } from '../domain/subjects/identifiers.ts'
import { identifiersOfKey } from '../domain/subjects/traces.ts'
import type { LookupLedger } from '../store/ledger/lookups.ts'

/** Nothing here is optional: a trigger that left out the configured prices would decide differently from the others. */
export interface StepPlannerOptions {
  lookups: Pick<LookupLedger, 'facts' | 'freshFacts' | 'paidBy'>
  recipes: RecipeBook
  /** The most that each step costs. */
  prices: PriceTable
  /** Returns the indexes of the suppressed subjects. */
  suppressed: (subjects: () => readonly (readonly Identifier[])[]) => Promise<ReadonlySet<number>>
  now: () => Date
  /** Called when a record's values break the planning. The record is rejected, and the others are planned. */
  onUnexpected?: (failure: { runId: string; recipe: string; problem: string }) => void
}

interface PlannableTask extends PlannedRecord {
  runId: string
  recipe: string
  /** The lookups made for it, in order. Empty for a task that has just been made. */
  steps: readonly LookupKey[]
  /** Set where the record itself decides: it cannot be read, it is gone, its last change was our own. */
  ended?: Stop | undefined
}

export type Decision =
  | { kind: 'lookup'; lookup: LookupWanted }
  | { kind: 'write'; patch: Patch; reason: string | null }
  | Stop
  | { kind: 'suppressed' }
  /** Its last lookup has no answer yet. */
  | { kind: 'waiting' }

export interface StepPlanner {
  /**
   * Decides the next step of each task, in order. Changes nothing. `without` are facts in place of lookups that have no
   * answer and get none for now.
   */
  decide(tasks: readonly PlannableTask[], without?: ReadonlyMap<LookupKey, Fact>): Promise<Decision[]>
}

type Answers = ReadonlyMap<LookupKey, Fact>
type Paid = ReadonlyMap<LookupKey, Atomic>

/**
 * Plans the next step of tasks, for every trigger: scan, button, workflow, monitor and worker. The first step and the
 * later ones go through the same rules: recipe, prices, price ceiling, fresh answers and suppressions.
 */
export function createStepPlanner(options: StepPlannerOptions): StepPlanner {
  const { lookups, recipes, prices } = options

  /** A price ceiling counts what the run has paid for the record, and a fresh answer in the ledger costs nothing. */
  async function paidFor(judged: readonly PlannableTask[]): Promise<ReadonlyMap<PlannableTask, Paid>> {
    const paid = new Map<PlannableTask, Paid>()
    for (const [runId, group] of Map.groupBy(judged, (task) => task.runId)) {
      const keys = group.flatMap(({ steps }) => steps)
      const byKey: Paid = keys.length > 0 ? await lookups.paidBy(runId, keys) : new Map()
      for (const task of group) paid.set(task, byKey)
    }
    return paid
  }

  async function freshAmong(keys: readonly LookupKey[]): Promise<ReadonlySet<LookupKey>> {
    return keys.length === 0 ? new Set() : new Set((await lookups.freshFacts(keys)).keys())
  }

  async function plan(tasks: readonly PlannableTask[], answers: Answers): Promise<Decision[]> {
    const isPlanned = ({ ended, steps }: PlannableTask) => {
      const last = steps.at(-1)
      return !ended && (last === undefined || answers.has(last))
    }
    const asksLedger = (task: PlannableTask) =>
      recipes(task.object, task.recipe).priceCeilingAtomic !== undefined || withUndoneOpen(task) !== undefined
    const judged = tasks.filter((task) => isPlanned(task) && asksLedger(task))
    const paid = await paidFor(judged)
    const stepOf = (task: PlannableTask, isFresh: (key: LookupKey) => boolean) => {
      try {
        const facts = factsOf(task.steps, answers, paid.get(task))
        const step = nextStep(task, recipes(task.object, task.recipe), facts, { prices, isFresh })
        return step.kind === 'lookup' && isTooLong(step.lookup.key) ? unstorable : step
      } catch (error) {
        // Planning is pure: what broke it once breaks it each time, for every task that is planned with it.
        if (error instanceof PaydirtError) throw error
        return unplannable(task, describeUnexpected(error))
      }
    }
    // A first pass collects the lookups whose price decides; whether they are fresh is then one query.
    const asked = new Set<LookupKey>()
    for (const task of judged) stepOf(task, (key) => (asked.add(key), false))
    const fresh = await freshAmong([...asked])
    return tasks.map((task): Decision => {
      if (task.ended) return task.ended
      if (!isPlanned(task)) return { kind: 'waiting' }
      const step = stepOf(task, (key) => fresh.has(key))
      if (step.kind !== 'write') return step
      const patch: Patch = {}
      for (const name of Object.keys(step.values)) patch[name] = { set: step.values[name] as FieldValue }
      return { kind: 'write', patch, reason: step.reason ?? null }
    })
  }

  function unplannable({ runId, recipe }: PlannableTask, problem: string): Stop {
    options.onUnexpected?.({ runId, recipe, problem })
    return { kind: 'stop', status: 'rejected', reason: `unexpected error: ${problem}` }
  }

  return {
    async decide(tasks, without = new Map()) {
      const known = tasks.flatMap(({ steps }) => steps)
      const facts: Answers =
        known.length > 0 ? await lookups.facts(known, { orSettledHere: true }) : new Map()
      const answers = without.size > 0 ? new Map([...without, ...facts]) : facts
      const decisions = await plan(tasks, answers)
      const suppressed = await options.suppressed(() =>
        decisions.map((decision, index) => identifiersOfTask(tasks[index], decision)),
      )
      return decisions.map((decision, index) =>
        suppressed.has(index) && decision.kind !== 'waiting' ? { kind: 'suppressed' } : decision,
      )
    },
  }
}

const unstorable: Stop = {
  kind: 'stop',
  status: 'rejected',
  reason: 'what it would be looked up by is too long',
}

function factsOf(steps: readonly LookupKey[], answers: Answers, paid: Paid | undefined): Facts {
  const facts: Facts = {}
  for (const key of steps) {
    const fact = answers.get(key)
    if (fact) facts[slotOf(key)] = paid ? { ...fact, priceAtomic: paid.get(key) ?? 0n } : fact
  }
  return facts
}

/** A lookup may find a suppressed subject that nothing in the record named: nothing more is bought for it either. */
function identifiersOfTask(task: PlannableTask | undefined, decision: Decision): Identifier[] {
  if (!task) return []
  const last = task.steps.at(-1)
  return [
    ...identifiersOf(task.identity),
    ...(last === undefined ? [] : identifiersOfKey(last)),
    ...(decision.kind === 'lookup' ? identifiersOfKey(decision.lookup.key) : []),
  ]
}
