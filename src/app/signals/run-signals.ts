import { dueChecks } from '../../domain/signals/due.ts'
import { signalTypes, type SignalType } from '../../domain/signals/signal.ts'
import type { Atomic } from '../../domain/money.ts'
import { endedWhole, lastChecks, type SignalAccount } from '../../store/signals/accounts.ts'
import { takeChecks } from '../../store/signals/take-checks.ts'
import type { PipelineSettings } from '../config/watching/signals.ts'
import { purseOf } from '../config/watching/purses.ts'
import type { Context } from '../context/context.ts'
import type { OwnCharge } from '../service/own-charges.ts'
import { pipelineNamed, readAccounts, type PipelineAccounts } from './accounts.ts'
import { ask, togetherOf, type Asked } from './buying/ask.ts'
import { identify } from './buying/identify.ts'
import { openPurse, type Purse, type PurseEnd } from './buying/purse.ts'
import { mostTogether, questionsOf, type DueAccount } from './buying/questions.ts'

export interface RunSignalsOptions {
  budgetAtomic: Atomic
  signal: AbortSignal
  onProgress?: ((progress: SignalProgress) => void) | undefined
}

interface SignalProgress {
  accounts: number
  /** Checks that are due, and those of them that were made. */
  due: number
  checked: number
}

/** The outcome of one run of a pipeline. A check is one type of one account. */
export interface SignalRun extends Omit<PipelineAccounts, 'accounts'> {
  pipeline: string
  accounts: readonly SignalAccount[]
  due: number
  checked: number
  /** Due checks that were not made, because the budget, a cap or a person ended the run, or their question failed. */
  left: number
  /** Accounts that the service does not know. Nothing is concluded about them, and nothing is written. */
  unmatched: number
  /** The answers that were paid for. */
  bought: number
  charges: readonly OwnCharge[]
  committedAtomic: Atomic
  end: 'complete' | PurseEnd['end']
  reason?: string
  /** The time from which more may be bought, where the end of a cap is known. */
  resumesAt?: Date
  problems: readonly string[]
}

/**
 * Asks for what is due of the accounts of a pipeline, the checks that were made longest ago first, within the budget. The same call goes
 * on where it was: a check that was made is not due, and an answer in the ledger is not bought again.
 */
export async function runSignals(
  context: Context,
  pipeline: string,
  options: RunSignalsOptions,
): Promise<SignalRun> {
  const { signal, budgetAtomic, onProgress } = options
  const settings = pipelineNamed(context.config, pipeline)
  const { accounts, ...others } = await readAccounts(context, `signals.${pipeline}.accounts`, settings, {
    signal,
  })
  const due = await dueOf(context, pipeline, settings, accounts)
  let dueCount = due.reduce((sum, each) => sum + each.due.length, 0)
  const purse = await openPurse(context, { ...purseOf(pipeline), budgetAtomic, signal })
  let [checked, left, unmatched] = [0, 0, 0]
  const take = (asked: Asked) => {
    checked += asked.checked
    left += asked.left
    onProgress?.({ accounts: accounts.length, due: dueCount, checked })
  }
  try {
    onProgress?.({ accounts: accounts.length, due: dueCount, checked })
    const identified = await identify(
      context,
      due.map(({ account }) => account),
      purse,
      await endedWhole(
        context.database.db,
        pipeline,
        due.map(({ account }) => account.id),
      ),
    )
    const dueById = new Map(due.map((each) => [each.account.id, each.due]))
    for (const id of renamedAtService(due, identified.known)) {
      const anew = dueChecks(settings.types ?? signalTypes, [], { days: {}, now: context.now() })
      dueCount += anew.length - (dueById.get(id)?.length ?? 0)
      dueById.set(id, anew)
    }
    const dueFor = (account: SignalAccount): DueAccount => ({ account, due: dueById.get(account.id) ?? [] })
    for (const each of identified.left) left += dueFor(each).due.length
    unmatched = identified.unknown.length
    checked += await takeUnknown(context, pipeline, identified.unknown, dueFor)
    await askAll(context, { pipeline, settings, purse }, identified.known.map(dueFor), take)
  } finally {
    await purse.close()
  }
  const ended = purse.ended()
  return {
    ...others,
    pipeline,
    accounts,
    due: dueCount,
    checked,
    left,
    unmatched,
    bought: purse.bought(),
    charges: purse.charges,
    committedAtomic: purse.committedAtomic(),
    end: ended?.end ?? 'complete',
    ...(ended && { reason: ended.reason }),
    ...(ended?.resumesAt && { resumesAt: ended.resumesAt }),
    problems: purse.problems,
  }
}

interface Watched {
  types?: readonly SignalType[] | undefined
  days?: PipelineSettings['days']
}

/** Returns the accounts of which something is due, with it. */
export async function dueOf(
  { database, now }: Pick<Context, 'database' | 'now'>,
  pipeline: string,
  { types = signalTypes, days = {} }: Watched,
  accounts: readonly SignalAccount[],
): Promise<DueAccount[]> {
  const last = await lastChecks(
    database.db,
    pipeline,
    accounts.map(({ id }) => id),
  )
  return accounts
    .map((account) => ({
      account,
      due: dueChecks(types, last.get(account.id) ?? [], { days, now: now() }),
    }))
    .filter(({ due }) => due.length > 0)
}

/** Returns the accounts that had another id at the service before. Their checks were of that one. */
function renamedAtService(due: readonly DueAccount[], known: readonly SignalAccount[]): bigint[] {
  const before = new Map(due.map(({ account }) => [account.id, account.serviceId]))
  return known.flatMap(({ id, serviceId }) => {
    const old = before.get(id) ?? null
    return old !== null && old !== serviceId ? [id] : []
  })
}

interface Buying {
  pipeline: string
  settings: Watched
  purse: Purse
}

/** Asks alone until an answer has shown that its rows name their company, and then many together. */
async function askAll(
  context: Context,
  { pipeline, settings: { types = signalTypes }, purse }: Buying,
  accounts: readonly DueAccount[],
  take: (asked: Asked) => void,
): Promise<void> {
  const done = new Set<string>()
  const keyOf = (type: SignalType, id: bigint) => `${type}:${id}`
  const together = await togetherOf(context, types)
  for (;;) {
    const open = accounts.map(({ account, due }) => ({
      account,
      due: due.filter(({ type }) => !done.has(keyOf(type, account.id))),
    }))
    const questions = questionsOf(open, (type) => together.get(type) ?? 1)
    if (questions.length === 0) return
    const grown = new Set<SignalType>()
    for (const question of questions) {
      const { type } = question
      // Confirmed meanwhile by the answer to one account: the rest of the type is grouped anew.
      if (grown.has(type)) continue
      const asked = await ask({ context, pipeline, purse }, question)
      take(asked)
      for (const { id } of question.accounts) done.add(keyOf(type, id))
      if (asked.isAttributed && together.get(type) === 1) {
        together.set(type, mostTogether)
        grown.add(type)
      }
    }
    if (grown.size === 0) return
  }
}

/** An account that the service does not know was checked, too: it is asked for again when it is due, and nothing is concluded. */
async function takeUnknown(
  { database: { db }, now }: Context,
  pipeline: string,
  unknown: readonly { account: SignalAccount; lookupKey: string }[],
  dueFor: (account: SignalAccount) => DueAccount,
): Promise<number> {
  const checks = unknown.flatMap(({ account, lookupKey }) =>
    dueFor(account).due.map(({ type }) => ({ type, lookupKey, accountId: account.id })),
  )
  for (const group of Map.groupBy(checks, ({ type, lookupKey }) => `${type} ${lookupKey}`).values()) {
    const { type, lookupKey } = group[0]!
    await takeChecks(db, {
      pipeline,
      type,
      at: now(),
      isWhole: true,
      from: undefined,
      lookupKey,
      priceAtomic: null,
      checks: group.map(({ accountId }) => ({ accountId, rows: [], isMatched: false })),
    })
  }
  return checks.length
}
