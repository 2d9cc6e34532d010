import type { Account } from '../accounts.ts'
import { withTotals, type Plan } from '../plan.ts'
import type { Answer } from './answer.ts'

/** The things in a workspace whose number its plan limits. */
export interface Holdings {
  monitors: number
  channelTemplates: number
}

/**
 * `POST /profile`: remaining credits and the limits of the plan. It needs an API key, since only a key names a
 * workspace.
 */
export function profile(account: Account, plan: Plan): Answer {
  const { credit, topupCredit } = account.read()
  account.take('profile', 0)
  return {
    status: 200,
    body: {
      data: {
        name: 'Sandbox workspace',
        credit,
        topup_credit: topupCredit,
        ...withTotals(plan),
      },
      metadata: creditBlock(account, 0),
    },
  }
}

/** `POST /profile/usage`: credits used, in total and by endpoint, and how much of each quota is in use. */
export function usage(account: Account, plan: Plan, holdings: Holdings): Answer {
  const limits = withTotals(plan)
  account.take('usage', 0)
  const { credit, topupCredit, spent, usage: byEndpoint } = account.read()
  return {
    status: 200,
    body: {
      data: {
        credit,
        topup_credit: topupCredit,
        total_credit_used: spent,
        usage: Object.entries(byEndpoint).map(([endpoint, used]) => ({ endpoint, ...used })),
        quotas: [
          quota('monitor', holdings.monitors, limits.total_max_monitor),
          quota('channel_template', holdings.channelTemplates, limits.total_max_channel_template),
        ],
      },
      metadata: creditBlock(account, 0),
    },
  }
}

/** Returns the block that states the cost of an answer. Without an account it states no remaining credits. */
export function creditBlock(account: Account | undefined, credits: number) {
  const { credit = 0, topupCredit = 0 } = account?.read() ?? {}
  return { profile: { credit, topup_credit: topupCredit, total_credit_cost: credits } }
}

function quota(name: string, used: number, limit: number) {
  return { name, used, limit, remaining: Math.max(0, limit - used) }
}
