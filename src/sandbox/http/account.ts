import type { Account } from '../accounts.ts'
import type { Answer } from './answer.ts'

export const MAX_PER_PAGE = 25
export const MAX_PAGE = 100
const LICENCES = 2

/** Caps for one licence. */
const caps = {
  max_search_per_page: MAX_PER_PAGE,
  max_search_page: MAX_PAGE,
  max_redeem_batch: 100,
  max_contact_lookup_batch: 100,
  max_monitor: 25,
  max_monitor_company: 500,
  max_channel_template: 50,
}

/**
 * The limits of the plan. A total is the cap times the licences. It says nothing about one request: 26 rows a page are
 * refused whatever `total_max_search_per_page` is.
 */
export const LIMITS = { ...caps, ...totals(caps) }

/** What a workspace holds of that which its plan limits. */
export interface Holdings {
  monitors: number
  channelTemplates: number
}

/**
 * `POST /profile`: remaining credits and the limits of the plan. It needs an API key, since only a key names a
 * workspace.
 */
export function profile(account: Account): Answer {
  const { credit, topupCredit } = account.read()
  account.take('profile', 0)
  return {
    status: 200,
    body: {
      data: {
        name: 'Sandbox workspace',
        credit,
        topup_credit: topupCredit,
        licence_count: LICENCES,
        ...LIMITS,
      },
      metadata: creditBlock(account, 0),
    },
  }
}

/** `POST /profile/usage`: credits used, in total and by endpoint, and how much of each quota is in use. */
export function usage(account: Account, holdings: Holdings): Answer {
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
          quota('monitor', holdings.monitors, LIMITS.total_max_monitor),
          quota('channel_template', holdings.channelTemplates, LIMITS.total_max_channel_template),
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

function totals<N extends string>(all: Record<N, number>) {
  return Object.fromEntries(
    Object.entries<number>(all).map(([name, value]) => [`total_${name}`, value * LICENCES]),
  ) as Record<`total_${N}`, number>
}
