import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { reconcileAndHeal } from '../../src/app/money/heal-charges.ts'
import { RetriableError } from '../../src/domain/errors.ts'
import { basePolicy } from '../../src/pay/limits/spending-policy.ts'
import type { LogPage, Transfer } from '../../src/pay/chain/transfer-log.ts'
import type { OpenDatabase } from '../../src/store/database/database.ts'
import { healCharges } from '../../src/store/ledger/heal-charges.ts'
import { openFreshLedger } from '../support/fresh-ledger.ts'
import { challenge, fails, found, plain, setStage, transaction, type Stage } from '../support/payer-stage.ts'

// A stale node called a payment dead that had been made. What the ledger did then is put right by what the chain shows.

let database: OpenDatabase
let close: () => Promise<void>
let stage: Stage
beforeAll(async () => void ({ database, close } = await openFreshLedger()))
afterAll(() => close())
beforeEach(async () => void (stage = await setStage(database.db)))

const at = new Date('2026-03-01T13:00:00Z')
const first = async () => (await stage.charges())[0]!
const heal = async () => healCharges(database.db, [{ nonce: (await first()).nonce, transaction }], at)
const lookup = () =>
  database.db.selectFrom('lookups').selectAll().where('key', '=', stage.key).executeTakeFirstOrThrow()

/** Pays, hears nothing, and is told by a stale node that the authorization died. */
async function closeWrongly(options: { identifier?: boolean } = {}): Promise<void> {
  stage.script(challenge(options), fails(new RetriableError('timeout', 'no answer')))
  await expect(stage.startPayer().buy(stage.purchase)).rejects.toThrow(RetriableError)
  stage.pass(400)
  const open = (await stage.journal.unanswered(stage.key)).open!
  stage.chain.fate = { kind: 'dead' }
  expect(await stage.startPayer().recover(open, stage.purchase, false)).toBe(true)
  expect(await stage.charges()).toMatchObject([{ state: 'expired' }])
  expect(await stage.committed()).toBe(0n)
  stage.chain.fate = { kind: 'used', transaction }
}

describe('a charge that was wrongly closed as expired', () => {
  test('is open again, counts in its budget, and its lookup is due', async () => {
    await closeWrongly()
    await database.db
      .updateTable('lookups')
      .set({ state: 'parked', due_at: new Date('2099-01-01') })
      .where('key', '=', stage.key)
      .execute()
    expect(await heal()).toMatchObject([{ state: 'in_doubt', transaction, amountAtomic: 10_000n }])
    expect(await stage.charges()).toMatchObject([{ state: 'in_doubt', transaction }])
    expect(await stage.committed()).toBe(10_000n)
    expect((await lookup()).due_at).toEqual(at)
    // A second time changes nothing.
    expect(await heal()).toEqual([])
    expect(await stage.committed()).toBe(10_000n)
  })

  test('is asked for its answer with the same bytes where the server repeats answers', async () => {
    await closeWrongly({ identifier: true })
    await heal()
    stage.script(found())
    await stage.startPayer().buy(stage.purchase)
    expect(stage.requests[2]).toEqual(stage.requests[1])
    expect(await stage.charges()).toMatchObject([{ state: 'settled', transaction }])
    expect(await stage.committed()).toBe(10_000n)
  })

  test('counts as lost where the lookup has been bought again', async () => {
    await closeWrongly()
    stage.script(found())
    await stage.startPayer().buy(stage.purchase)
    expect(await heal()).toMatchObject([{ state: 'lost' }])
    expect(await stage.charges()).toMatchObject([{ state: 'lost', transaction }, { state: 'settled' }])
    expect(await stage.committed()).toBe(20_000n)
    expect((await lookup()).state).toBe('answered')
  })

  test('counts as lost while another charge for the lookup is open, which stays the only open one', async () => {
    await closeWrongly()
    stage.script(plain(500))
    await expect(stage.startPayer().buy(stage.purchase)).rejects.toThrow(RetriableError)
    expect(await heal()).toMatchObject([{ state: 'lost' }])
    expect(await stage.charges()).toMatchObject([{ state: 'lost' }, { state: 'in_doubt' }])
  })

  test('is settled where its answer came without a receipt', async () => {
    stage.script(challenge(), found({ receipt: false }))
    await stage.startPayer().buy(stage.purchase)
    await stage.journal.release(
      (
        await database.db
          .selectFrom('charges')
          .select('id')
          .where('lookup_key', '=', stage.key)
          .executeTakeFirstOrThrow()
      ).id,
      'expired',
      'a stale node',
    )
    expect(await heal()).toMatchObject([{ state: 'settled' }])
    expect(await stage.charges()).toMatchObject([{ state: 'settled', transaction }])
    expect(await stage.committed()).toBe(10_000n)
  })

  test('in any other state is left as it is', async () => {
    stage.script(challenge(), found())
    await stage.startPayer().buy(stage.purchase)
    expect(await heal()).toEqual([])
    expect(await healCharges(database.db, [], at)).toEqual([])
    expect(await stage.charges()).toMatchObject([{ state: 'settled' }])
  })
})

test('reconcile finds it by the nonce of the unknown transfer, and ledger and chain agree again', async () => {
  await closeWrongly()
  const { authorization_json: authorization } = await database.db
    .selectFrom('charges')
    .select('authorization_json')
    .where('lookup_key', '=', stage.key)
    .executeTakeFirstOrThrow()
  const { payer, terms } = authorization as { payer: string; terms: { payTo: string } }
  const { nonce } = await first()
  const transfer: Transfer = {
    transaction,
    logIndex: 1,
    blockNumber: 1n,
    to: terms.payTo,
    amountAtomic: 10_000n,
    nonce,
  }
  const block = (number: bigint) => ({ number, hash: `${number}`, at })
  const warnings: object[] = []
  const log = { warn: (fields: object) => void warnings.push(fields), child: () => log }
  const context = {
    database,
    config: { policy: basePolicy },
    now: () => at,
    log,
    chain: {
      blockBefore: async () => 0n,
      blocks: async () => ({ latest: block(3n), final: block(2n) }),
      async *pages(_: string, from: bigint, to: { number: bigint; hash: string }): AsyncGenerator<LogPage> {
        const page = { through: to.number, hash: to.hash, isGone: false }
        if (from <= to.number) yield { ...page, transfers: from <= 1n ? [transfer] : [] }
      },
      usedNonces: async () => new Set(),
      noncesUsedIn: async (owner: string, of: string) =>
        owner === payer && of === transaction ? [nonce] : [],
    },
  } as unknown as Parameters<typeof reconcileAndHeal>[0]
  const resolve = async () => {
    const open = (await stage.journal.unanswered(stage.key)).open!
    await stage.startPayer().recover(open, stage.purchase, false)
  }
  const result = await reconcileAndHeal(context, payer, resolve)
  expect(result).toMatchObject({
    difference: '0.000000',
    differences: [],
    ledger: { lost: '0.010000', settled: '0.000000' },
    healed: [{ transaction, amount: '0.010000', state: 'in_doubt', lookup: stage.key }],
  })
  expect(warnings).toHaveLength(1)
  expect(await stage.charges()).toMatchObject([{ state: 'lost', transaction }])
})
