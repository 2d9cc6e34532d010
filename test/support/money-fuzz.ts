import { sql } from 'kysely'
import { privateKeyToAccount } from 'viem/accounts'
import { expect } from 'vitest'
import { reconcile } from '../../src/app/money/reconcile.ts'
import { createPayments } from '../../src/app/context/payments.ts'
import { openService } from '../../src/app/context/service.ts'
import { PaydirtError, RetriableError } from '../../src/domain/errors.ts'
import { lookupKey } from '../../src/domain/keys.ts'
import type { Send } from '../../src/domain/ports/transport.ts'
import type { Sandbox } from '../../src/sandbox/sandbox.ts'
import { openHouse } from './house.ts'
import { createDice, mutatedAnswer, mutatedChallenge, type Dice } from './mutations.ts'

// The real payer, ledger, transport and service client against the official x402 server and facilitator on a real chain.
// Between transport and payer each answer of the server is changed at random. Whatever that does, after each hundred
// lookups the ledger and the chain name the same payments.

export type Target = 'challenges' | 'answers'

/** After this many seconds every authorization has expired, and the grace for late answers is over. */
const jumpSeconds = 400

export async function openMoneyFuzz(sandbox: Sandbox, seed: number) {
  const dices = new Map<string, Dice>()
  /** Each lookup has dice of its own, so that it is broken in the same way in whatever order the lookups are made. */
  function diceOf(text: string): Dice {
    const number = /fuzz-\d+-(\d+)/.exec(text)?.[1] ?? '0'
    const dice = dices.get(number) ?? createDice(Math.imul(seed, 31) + Number(number) * 7_919)
    dices.set(number, dice)
    return dice
  }
  let offsetMs = 0
  const now = () => new Date(Date.now() + offsetMs)
  const house = await openHouse(sandbox, {
    env: { PAYDIRT_PAY_TO: sandbox.payTo },
    config: { budgets: { runUsd: '100000', dayUsd: '100000' } },
    overrides: { now },
  })
  await sandbox.fund(house.wallet, 1_000_000_000n)
  const { context } = house
  const { config, database } = context
  const { db } = database
  const service = openService(config, { catalogue: config.catalogue, isTraced: false, wrapSend: undefined })
  let target: Target = 'challenges'
  let isHonest = false
  const counts = { mutated: 0, refused: 0, answered: 0, errors: new Map<string, number>() }

  /** A request with a proof gets an answer, and one without gets a challenge. */
  const send: Send = async (request) => {
    const head = await service.send(request)
    const isPaid = Object.keys(request.headers ?? {}).some((name) => /^(x-)?payment/.test(name))
    if (isHonest || isPaid !== (target === 'answers')) return head
    counts.mutated += 1
    const dice = diceOf(String(request.body))
    if (!isPaid) return mutatedChallenge(head, dice)
    const mutated = mutatedAnswer(head, dice)
    if (mutated === 'lost') throw new RetriableError('unreachable', 'cut by the test')
    return mutated
  }
  const { payer, resolve } = createPayments({
    config,
    db,
    chain: context.chain,
    account: privateKeyToAccount(config.walletKey!),
    ledgerId: 'fuzz',
    send,
    wireBody: service.wireBody,
    acquirePermit: async () => ({ ready: async () => {}, done: async () => {} }),
    prepareBulk: service.prepareBulk,
    resume: service.resume,
    freshUntil: (_operation, _outcome, at) => new Date(at.getTime() + 90 * 86_400_000),
    now,
    wrapJournal: undefined,
    observer: { answer: () => {}, price: () => {} },
    onUnpaidRequest: () => {},
    onWarning: () => {},
    onError: (error) => count(error),
  })
  const { run } = await context.runs.open({
    id: `fuzz-${seed}`,
    connector: 'csv',
    object: 'company',
    entity: 'company',
    recipe: 'profile',
    trigger: 'csv',
    fingerprint: 'fuzz',
    source: {},
  })

  function count(error: unknown): void {
    // An error that no code expected is a finding: the worker would have to end the lookup by itself.
    if (!(error instanceof PaydirtError)) throw error
    counts.errors.set(error.code, (counts.errors.get(error.code) ?? 0) + 1)
  }

  /** Buys one lookup with a few tries, as a worker does, and gives it up as a worker does. */
  async function buy(number: number): Promise<void> {
    const key = lookupKey('company.profile', `profnet.example/company/fuzz-${seed}-${number}`)
    const url = `https://www.profnet.example/company/fuzz-${seed}-${number}`
    const request = service.prepare('company.profile', { profnet_url: url })
    await context.lookups.want(
      [{ key, operation: 'company.profile', request: JSON.parse(request.body) as Record<string, string> }],
      { id: run.id, connector: 'csv', hot: false },
    )
    const endpoint = target === 'challenges' ? `${request.endpoint} ${number}` : request.endpoint
    const purchase = {
      key,
      buys: [key],
      runId: run.id,
      connector: 'csv',
      lane: 'background' as const,
      request: { ...request, endpoint },
    }
    for (let tries = 1 + diceOf(url).roll(2); tries > 0; tries -= 1) {
      try {
        await payer.buy(purchase)
        counts.answered += 1
        return
      } catch (error) {
        count(error)
        if (error instanceof PaydirtError && error.name === 'PolicyDeniedError') {
          counts.refused += 1
          break
        }
      }
    }
    await context.lookups.fail(key, 'given up by the fuzz')
  }

  async function rpc<T>(method: string, params: unknown[]): Promise<T> {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const response = await fetch(sandbox.rpcUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
    const { error, result } = (await response.json()) as { error?: unknown; result: T }
    if (error) throw new Error(`${method}: ${JSON.stringify(error)}`)
    return result
  }

  /** Lets every open authorization expire in a final block, and resolves what is in doubt. */
  async function settleDoubts(): Promise<void> {
    isHonest = true
    if ((await openCharges()) > 0) {
      offsetMs += jumpSeconds * 1000
      await rpc('evm_increaseTime', [jumpSeconds])
      await rpc('anvil_mine', ['0x4'])
      await resolve(0)
    }
    isHonest = false
  }

  async function openCharges(): Promise<number> {
    const { rows } = await sql<{ open: number }>`
      select count(*)::int as open from charges where state in ('journaled', 'sent', 'in_doubt')`.execute(db)
    return rows[0]!.open
  }

  /** Compares by nonce and amount, from the chain's logs and by SQL of its own, and by `reconcile`. */
  async function compare(): Promise<{ transfers: number; difference: string }> {
    expect(await openCharges(), 'every doubt is resolved').toBe(0)
    const { rows: paid } = await sql<{ nonce: string; amount: string }>`
      select nonce, amount_atomic::text as amount from charges where state in ('settled', 'lost') order by nonce`.execute(
      db,
    )
    const transfers = await house.transfers()
    const onChain = transfers.map(({ nonce, amountAtomic }) => `${nonce} ${amountAtomic}`).sort()
    expect(onChain).toEqual(paid.map(({ nonce, amount }) => `${nonce} ${amount}`).sort())
    const { rows: sums } = await sql<{ committed: string; paid: string; unanswered: number; twice: number }>`
      select (select coalesce(sum(committed_atomic), 0)::text from budgets where scope = ${`run:${run.id}`}) as committed,
        (select coalesce(sum(amount_atomic), 0)::text from charges where state in ('settled', 'lost')) as paid,
        (select count(*)::int from charges join lookups on key = lookup_key
          where charges.state = 'settled' and (lookups.state <> 'answered' or outcome is null)) as unanswered,
        (select count(*)::int from (select from charges where state = 'settled' group by lookup_key having count(*) > 1) as twice)
          as twice`.execute(db)
    expect(sums[0]).toMatchObject({ committed: sums[0]!.paid, unanswered: 0, twice: 0 })
    const { difference } = await reconcile(context, house.wallet)
    expect(difference).toBe('0.000000')
    return { transfers: transfers.length, difference }
  }

  // An earlier fuzz on the same chain has moved its clock.
  const { timestamp } = await rpc<{ timestamp: `0x${string}` }>('eth_getBlockByNumber', ['latest', false])
  offsetMs = Math.max(0, Number(timestamp) * 1000 - Date.now())

  return {
    counts,
    states: async () => {
      const { rows } = await sql<{ state: string; count: number }>`
        select state, count(*)::int as count from charges group by state order by state`.execute(db)
      return Object.fromEntries(rows.map(({ state, count: many }) => [state, many]))
    },
    /** Runs one hundred, or fewer, and compares. */
    async round(next: Target, from: number, size: number) {
      target = next
      const numbers = Array.from({ length: size }, (_, at) => from + at)
      const lanes = Array.from({ length: 8 }, async () => {
        for (let number = numbers.shift(); number !== undefined; number = numbers.shift()) await buy(number)
      })
      await Promise.all(lanes)
      dices.clear()
      await settleDoubts()
      return compare()
    },
    async close() {
      await service.close()
      await house.close()
    },
  }
}
