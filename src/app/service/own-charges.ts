import { formatUsd } from '../../domain/money.ts'
import type { RecordLookup } from '../../store/views/record-lookups.ts'

type Charge = RecordLookup['charges'][number]

/** A charge that a command has made, or found open and has gone on with. */
export type OwnCharge = Charge & {
  /** True for one that an earlier command has begun. */
  isContinued: boolean
  /** The operation that it pays for, where a command pays for several. */
  operation?: string
  /** True where nobody was told the amount: it is the most that was reserved. */
  isAtMost?: boolean
}

const closedStates: readonly string[] = ['settled', 'lost', 'declined', 'expired']

/** Returns a reader of the charges of one command, from now on. What is closed already and stays as it is was paid by earlier ones. */
export async function ownCharges<C extends Charge>(
  read: () => Promise<C[]>,
): Promise<() => Promise<(C & OwnCharge)[]>> {
  const before = new Map((await read()).map(({ id, state }) => [id, state]))
  return async () =>
    (await read())
      .filter(({ id, state }) => before.get(id) !== state || !closedStates.includes(state))
      .map((charge) => ({ ...charge, isContinued: before.has(charge.id) }))
}

/** Returns what a command has cost, in words. USD and credits are never added up. */
export function chargesText(charges: readonly OwnCharge[]): string {
  const sums = new Map<string, { amount: bigint; unit: string; words: string }>()
  for (const charge of charges) {
    const { state, amountAtomic: amount, currency } = charge
    if (state === 'declined' || state === 'expired' || amount === 0n) continue
    const unit = currency === 'credit' ? 'credits' : currency
    const words = wordsOf(charge)
    const known = sums.get(`${unit} ${words}`)
    sums.set(`${unit} ${words}`, { amount: amount + (known?.amount ?? 0n), unit, words })
  }
  if (sums.size === 0) return 'nothing was paid'
  return [...sums.values()]
    .map(({ amount, unit, words }) => `${formatUsd(amount)} ${unit} ${words}`)
    .join(', ')
}

function wordsOf({ state, operation, isContinued, isAtMost }: OwnCharge): string {
  const is = state === 'settled' && isAtMost ? 'at most' : (stateText[state] ?? state)
  return `${is}${operation === undefined ? '' : ` for ${operation}`}${isContinued ? ', begun by an earlier command' : ''}`
}

const stateText: Readonly<Record<string, string>> = {
  settled: 'paid',
  lost: 'paid without an answer',
  in_doubt: 'in doubt',
  sent: 'in doubt',
  journaled: 'reserved',
}
