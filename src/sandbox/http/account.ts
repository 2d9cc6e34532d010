import type { Account } from '../accounts.ts'
import type { Answer } from './answer.ts'

export const MAX_PER_PAGE = 25
export const MAX_PAGE = 100
const LICENCES = 2

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
        max_search_per_page: MAX_PER_PAGE,
        max_search_page: MAX_PAGE,
        total_max_search_page: MAX_PAGE * LICENCES,
      },
      metadata: creditBlock(account, 0),
    },
  }
}

/** `POST /profile/usage`: credits used, in total and by endpoint. */
export function usage(account: Account): Answer {
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
