import { plannedRequests, type PlannedRequests } from '../../domain/signals/plan-cost.ts'
import { searches } from '../../domain/signals/searches.ts'
import { signalTypes, type SignalType } from '../../domain/signals/signal.ts'
import { ConfigError } from '../../domain/errors.ts'
import { formatUsd, type Atomic } from '../../domain/money.ts'
import { rowsPerAccount } from '../../store/signals/figures.ts'
import { pipelineBudget, purseOf } from '../config/watching/purses.ts'
import type { Context } from '../context/context.ts'
import { listMonth } from '../money/list-months.ts'
import { pipelineNamed, readAccounts, type PipelineAccounts } from './accounts.ts'
import { togetherOf } from './buying/ask.ts'
import { openPurse } from './buying/purse.ts'
import { dueOf } from './run-signals.ts'

/** The plan of a pipeline: nothing was bought for it. Amounts in USD. */
export interface SignalPlan extends Omit<PipelineAccounts, 'accounts'> {
  pipeline: string
  accounts: number
  /** The checks that a run would make now, by type. */
  due: Partial<Record<SignalType, number>>
  /** The accounts that a run would make a check for. */
  dueAccounts: number
  requests: PlannedRequests
  /** The most that one request may cost, of the dearest search. */
  perRequestAtMostUsd: string
  costAtMostUsd: Readonly<Record<keyof PlannedRequests, { least: string; likely: string }>>
  /** The most that an account may cost the first time, alone. */
  month: { spentUsd: string; capUsd: string | null }
}

/**
 * Plans a pipeline: what is due now, and the requests and cost of the first time, of a week and of a month. Reads the accounts out of
 * their CRM, at no cost. Throws ConfigError for a search whose price nobody knows.
 */
export async function planSignals(
  context: Context,
  pipeline: string,
  { signal }: { signal: AbortSignal },
): Promise<SignalPlan> {
  const settings = pipelineNamed(context.config, pipeline)
  const { accounts, ...others } = await readAccounts(context, `signals.${pipeline}.accounts`, settings, {
    signal,
  })
  const { types = signalTypes, days = {} } = settings
  const due = await dueOf(context, pipeline, settings, accounts)
  const rows = await rowsPerAccount(context.database.db, pipeline)
  const together = await togetherOf(context, types)
  const purse = await openPurse(context, { ...purseOf(pipeline), budgetAtomic: 0n, signal })
  await purse.close()
  const caps = types.map((type) => ({
    type,
    capAtomic: purse.plan(searches[type], { domain_search_ids: ['any'] }).capAtomic,
  }))
  const unpriced = caps.find(({ capAtomic }) => capAtomic === undefined)
  if (unpriced)
    throw new ConfigError(
      'price_unknown',
      `nobody knows the price of ${searches[unpriced.type]} yet: name the most that one request may cost in payment.maxPricesUsd`,
    )
  const dearest = caps.reduce<Atomic>((most, { capAtomic = 0n }) => (capAtomic > most ? capAtomic : most), 0n)
  const requests = plannedRequests(
    {
      all: accounts.length,
      unidentified: accounts.filter(({ serviceId, identity }) => !serviceId && !identity.companyId).length,
    },
    types.map((type) => ({
      type,
      days: days[type],
      together: together.get(type) ?? 1,
      rowsPerAccount: rows.get(type),
    })),
    purse.pageSize,
  )
  const month = await listMonth(context, pipelineBudget(pipeline))
  return {
    ...others,
    pipeline,
    accounts: accounts.length,
    due: countsOf(due.flatMap((each) => each.due.map(({ type }) => type))),
    dueAccounts: due.length,
    requests,
    perRequestAtMostUsd: formatUsd(dearest),
    costAtMostUsd: {
      first: costOf(requests.first, dearest),
      week: costOf(requests.week, dearest),
      month: costOf(requests.month, dearest),
    },
    month: {
      spentUsd: formatUsd(month.spentAtomic),
      capUsd: month.capAtomic === undefined ? null : formatUsd(month.capAtomic),
    },
  }
}

function countsOf(types: readonly SignalType[]): Partial<Record<SignalType, number>> {
  const counts: Partial<Record<SignalType, number>> = {}
  for (const type of signalTypes) {
    const count = types.filter((each) => each === type).length
    if (count > 0) counts[type] = count
  }
  return counts
}

function costOf({ least, likely }: { least: number; likely: number }, price: Atomic) {
  return { least: formatUsd(price * BigInt(least)), likely: formatUsd(price * BigInt(likely)) }
}
