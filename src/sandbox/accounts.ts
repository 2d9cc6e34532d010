/** The API key of every sandbox, for direct access. */
export const API_KEY = 'sandbox-key'
export const API_KEY_HEADER = 'x-api-key'

export interface Credit {
  /** Credits of the plan, which are used first. */
  credit: number
  topupCredit: number
}

export interface AccountState extends Credit {
  /** Credits that were used, in total and by endpoint. Free endpoints have requests and no credits. */
  spent: number
  usage: Record<string, { requests: number; credits: number }>
}

/** A workspace with direct access. */
export interface Account {
  canAfford(credits: number): boolean
  take(endpoint: string, credits: number): void
  read(): AccountState
}

export type Accounts = ReturnType<typeof createAccounts>

export function createAccounts(keys: Record<string, Credit>) {
  const accounts = new Map(Object.entries(keys).map(([key, credit]) => [key, createAccount(credit)]))
  return {
    /** Returns undefined for an unknown key. */
    find: (key: string): Account | undefined => accounts.get(key),
  }
}

function createAccount(start: Credit): Account {
  const state: AccountState = { ...start, spent: 0, usage: {} }
  return {
    canAfford: (credits) => state.credit + state.topupCredit >= credits,
    take(endpoint, credits) {
      const fromPlan = Math.min(credits, state.credit)
      state.credit -= fromPlan
      state.topupCredit -= credits - fromPlan
      state.spent += credits
      const used = (state.usage[endpoint] ??= { requests: 0, credits: 0 })
      used.requests += 1
      used.credits += credits
    },
    read: () => structuredClone(state),
  }
}
