import type { Connector } from '../../../connectors/connector.ts'
import { usdFromCredits } from '../../../domain/credits.ts'
import { ConfigError } from '../../../domain/errors.ts'
import type { Atomic } from '../../../domain/money.ts'
import { createListPlans } from '../../../store/lists/list-plans.ts'
import { createPlanLedger, type Plan } from '../../../store/plans/plans.ts'
import { objectOfList } from '../../config/lists.ts'
import type { Context } from '../../context/context.ts'
import { plannedRefusals } from '../../runs/preflight.ts'
import { newPlanId } from '../../context/new-id.ts'
import type { OwnCharge } from '../../service/own-charges.ts'
import type { ReadExclusionsOptions } from '../exclusions/read-exclusions.ts'
import { applyList, type AppliedList, type ApplyListOptions } from '../making/apply-list.ts'
import { makingRefusals } from '../making/making-refusals.ts'
import { assertIndexed } from '../making/may-make.ts'
import { listRules, planList, type ListPlan } from '../making/plan-list.ts'
import { fetchList, type Fetched } from '../pages/fetch-list.ts'
import type { ListCalls } from '../pages/list-calls.ts'
import type { ReadList } from '../pages/read-list.ts'

export interface RunListOptions {
  connector: Connector
  /** The most that this run may spend: on pages, and on what is bought for the rows. */
  budgetAtomic: Atomic
  reachableOnly: boolean
  signal: AbortSignal
  onExcluding?: ReadExclusionsOptions['onExcluding']
  onPage?: ((list: ReadList) => void) | undefined
  onPlan?: (() => void) | undefined
  onLookups?: ApplyListOptions['onLookups']
  onNotice?: ApplyListOptions['onNotice']
  onRecords?: ((done: number, total: number) => void) | undefined
  /** The longest that it waits for another list, or for the CRM. */
  waitMs?: number | undefined
}

export interface ListRun {
  list: string
  end: Fetched['end'] | AppliedList['end']
  reason?: string
  /** The plan that an earlier run of the list has left: it went on, and no page was looked at. */
  continued: string | undefined
  /** Undefined: a plan went on. */
  fetched: Fetched | undefined
  charges: OwnCharge[]
  /** Undefined: the pages did not arrive, or a plan went on. */
  plan: ListPlan | undefined
  /** Undefined: nothing was to be made. */
  applied: AppliedList | undefined
}

/**
 * Buys the pages of a list that the ledger lacks, plans its new records, and makes them. A plan that was begun goes on first, and is all
 * that this run does: no list has two. Throws ConfigError, before anything is bought, for what would be refused afterwards.
 *
 * Crash windows are those of its parts: of each page (fetch-list.ts), of the plan (src/store/lists/list-plans.ts) and of each record
 * (src/store/lists/created-records.ts). The same call goes on in each of them.
 */
export async function runList(context: Context, calls: ListCalls, options: RunListOptions): Promise<ListRun> {
  const { name } = calls
  const { connector, budgetAtomic, reachableOnly, signal, onExcluding, onPage, onPlan } = options
  const unfinished = await unfinishedPlan(context, calls)
  if (unfinished) {
    const applied = await carryOut(context, unfinished, budgetAtomic, options)
    return { ...summaryOf(name, applied), continued: unfinished.id }
  }
  const [refusal] = await runRefusals(context, calls, connector)
  if (refusal)
    throw new ConfigError(refusal.code, `${refusal.message.replace(/\.$/, '')}. Nothing was bought`)
  const fetched = await fetchList(context, calls, {
    budgetAtomic,
    reachableOnly,
    signal,
    onExcluding,
    onPage,
  })
  const { end, reason, charges } = fetched
  const before = { ...summaryOf(name), fetched, charges }
  // Records are made of the whole list: a part of it could be what the next pages repeat in another spelling.
  if (end !== 'complete') return { ...before, end, ...(reason === undefined ? {} : { reason }) }
  if (signal.aborted) return { ...before, end: 'interrupted' }
  onPlan?.()
  const plan = await planList(context, calls, connector, newPlanId(context), { signal, onExcluding }).catch(
    (error: unknown) => {
      if (!signal.aborted) throw error
      return undefined
    },
  )
  if (!plan) return { ...before, end: 'interrupted' }
  if (plan.creates + (plan.updates?.records ?? 0) === 0) {
    await createPlanLedger(context.database.db, context).drop(plan.planId)
    return { ...before, plan }
  }
  const [refused] = plan.refusals
  if (refused !== undefined) throw new ConfigError('list_refused', `lists.${name}: ${refused}`)
  const planId = await createListPlans(context.database.db).claim(name, plan.planId)
  const claimed = await createPlanLedger(context.database.db, context).get(planId)
  if (!claimed) throw new ConfigError('no_such_plan', `plan ${planId} of ${name} is gone: run it again`)
  const applied = await carryOut(context, claimed, budgetAtomic - spentOf(charges), options)
  return { ...before, ...summaryOf(name, applied), fetched, charges, plan }
}

/**
 * Returns the plan of a list that was begun and has not ended. Throws ConfigError for one that cannot go on, because the settings are
 * others now. One that a person has stopped for good, or of which nothing was made, is given up then.
 */
export async function unfinishedPlan(
  context: Context,
  { name, settings }: Pick<ListCalls, 'name' | 'settings'>,
): Promise<Plan | undefined> {
  const { db } = context.database
  const plans = createListPlans(db)
  const id = await plans.unfinished(name)
  const plan = id === undefined ? undefined : await createPlanLedger(db, context).get(id)
  if (!plan || plan.job['rules'] === listRules(context, settings)) return plan
  if (plan.runId === null) {
    await plans.release(plan.id)
    return undefined
  }
  if (await context.runs.stopOf(plan.runId)) return undefined
  throw new ConfigError(
    'plan_unfinished',
    `run ${plan.runId} of ${name} has not ended, and lists.${name} or the mapping has changed since it was planned. Put the settings back and run the list again, or give that run up with \`paydirt runs ${plan.runId} --stop\``,
  )
}

/** Returns why a run of the list would be refused now, before anything is bought for it. */
export async function runRefusals(
  context: Context,
  { name, settings }: Pick<ListCalls, 'name' | 'settings'>,
  connector: Connector,
): Promise<ConfigError[]> {
  const refusals = (await makingRefusals(connector, name, settings)).map(
    (reason) =>
      new ConfigError(
        'list_refused',
        `${reason.startsWith(`lists.${name}`) ? '' : `lists.${name}: `}${reason}${/[.!?]$/.test(reason) ? '' : '.'}`,
      ),
  )
  const { recipe, into } = settings
  const object = objectOfList(settings)
  if (recipe !== undefined)
    refusals.push(
      ...(await plannedRefusals(context, connector, {
        connector: connector.name,
        object,
        entity: into.entity,
        recipe,
        source: { list: name },
      })),
    )
  const { maker } = connector
  try {
    if (maker) await assertIndexed(context, { maker }, settings)
    return refusals
  } catch (error) {
    if (error instanceof ConfigError) return [...refusals, error]
    throw error
  }
}

/** Carries a plan out. `budgetAtomic` is what is left of the run's budget for what is bought for its rows. */
function carryOut(
  context: Context,
  plan: Plan,
  budgetAtomic: Atomic,
  { connector, signal, onRecords, onLookups, onNotice, waitMs }: RunListOptions,
): Promise<AppliedList> {
  return applyList(context, plan, {
    connector,
    signal,
    mostAtomic: budgetAtomic,
    onProgress: onRecords,
    onLookups,
    onNotice,
    waitMs,
  })
}

function summaryOf(list: string, applied?: AppliedList): ListRun {
  const { end = 'finished', reason } = applied ?? {}
  return {
    list,
    end,
    ...(reason === undefined ? {} : { reason }),
    continued: undefined,
    fetched: undefined,
    charges: [],
    plan: undefined,
    applied,
  }
}

/** Returns what was paid, and what may have been, in USD: a credit counts as a cent. */
export function spentOf(charges: readonly OwnCharge[]): Atomic {
  return charges.reduce((sum, { state, amountAtomic, currency }) => {
    if (state === 'declined' || state === 'expired') return sum
    return sum + (currency === 'credit' ? usdFromCredits(amountAtomic) : amountAtomic)
  }, 0n)
}
