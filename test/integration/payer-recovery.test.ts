import { describe, expect, test } from 'vitest'
import {
  BudgetExhaustedError,
  FatalError,
  PaymentInDoubtError,
  PolicyDeniedError,
  RetriableError,
} from '../../src/domain/errors.ts'
import { challenge, fails, found, plain, transaction } from '../support/payer-stage.ts'
import { database, stage, states, usePayerStage, resetStage } from './payer-stage.fixture.ts'

usePayerStage()

describe('a payment that was settled and not answered', () => {
  const used = challenge({ error: 'invalid_exact_evm_nonce_already_used' })

  /** Pays, and hears nothing until the grace for a late answer is over. */
  async function lose(): Promise<void> {
    const payer = stage.startPayer()
    stage.script(challenge(), fails(new RetriableError('timeout', 'no answer')))
    await expect(payer.buy(stage.purchase)).rejects.toThrow(RetriableError)
    stage.chain.fate = { kind: 'used', transaction }
    stage.script(used)
    stage.pass(5)
    const doubt = await payer.buy(stage.purchase).catch((error: unknown) => error)
    expect(doubt).toBeInstanceOf(PaymentInDoubtError)
    expect((doubt as PaymentInDoubtError).details['askAgainInMs']).toBeLessThanOrEqual(5_000)
    expect(await states()).toEqual(['in_doubt'])
    stage.pass(45)
  }

  test('is waited for, then counted as lost, and bought once more under another nonce', async () => {
    await lose()
    stage.script(used, challenge(), found())
    expect(await stage.startPayer().buy(stage.purchase)).toMatchObject({ outcome: 'found' })
    const [one, other] = await stage.charges()
    expect([one, other]).toMatchObject([
      { attempt: 1, state: 'lost', transaction, sends: 3 },
      { attempt: 2, state: 'settled', sends: 1 },
    ])
    expect(other!.nonce).not.toBe(one!.nonce)
    // The lost money stays spent.
    expect(await stage.committed()).toBe(20_000n)
    expect(new Set(stage.proofs().filter(Boolean)).size).toBe(2)
  })

  test('a second time is not bought a third time', async () => {
    await lose()
    stage.script(used, challenge(), fails(new RetriableError('timeout', 'no answer')))
    await expect(stage.startPayer().buy(stage.purchase)).rejects.toThrow(RetriableError)
    stage.pass(46)
    stage.script(used)
    await expect(stage.startPayer().buy(stage.purchase)).rejects.toMatchObject({
      name: 'FatalError',
      code: 'paid_no_data',
    })
    expect(await states()).toEqual(['lost', 'lost'])
    await expect(stage.startPayer().buy(stage.purchase)).rejects.toThrow(FatalError)
  })

  test('is not bought again at all where that is switched off', async () => {
    await resetStage(database.db, { rebuyLost: false })
    await lose()
    stage.script(used)
    await expect(stage.startPayer().buy(stage.purchase)).rejects.toMatchObject({ code: 'paid_no_data' })
    expect(await states()).toEqual(['lost'])
  })

  test('is settled after all by an answer that comes when it was given up', async () => {
    await lose()
    const open = (await stage.journal.unanswered(stage.key)).open
    await stage.journal.lose(open!.id, transaction, 'given up')
    const fact = {
      outcome: 'found',
      data: { company_name: 'Late' },
      freshUntil: new Date('2027-01-01'),
    } as const
    await stage.journal.settleCharge(open!, { transaction, at: new Date() }, fact)
    expect(await states()).toEqual(['settled'])
    expect(await stage.answer()).toMatchObject({ data: { company_name: 'Late' } })
    expect(await stage.committed()).toBe(10_000n)
  })
})

describe('a payment that died unused', () => {
  test('gives its budget back, and the lookup is bought under a new nonce; its bytes are never sent again', async () => {
    stage.script(challenge(), plain(500))
    await expect(stage.startPayer().buy(stage.purchase)).rejects.toThrow(RetriableError)
    const [dead] = stage.proofs().filter(Boolean)

    // Past its time, and the chain is not sure yet: nothing is sent, nothing is signed.
    stage.pass(300)
    const doubt = stage.startPayer().buy(stage.purchase)
    await expect(doubt).rejects.toMatchObject({
      name: 'PaymentInDoubtError',
      details: { askAgainInMs: 30_000 },
    })
    expect(stage.requests).toHaveLength(2)

    stage.chain.fate = { kind: 'dead' }
    stage.script(found())
    await stage.startPayer().buy(stage.purchase)
    expect(await states()).toEqual(['expired', 'settled'])
    expect(await stage.committed()).toBe(10_000n)
    expect(stage.proofs().filter(Boolean)[1]).not.toBe(dead)
  })

  test.each([291, 300, 3600])('%i seconds old is not sent any more while nobody knows of it', async (age) => {
    stage.script(challenge(), plain(500))
    await expect(stage.startPayer().buy(stage.purchase)).rejects.toThrow(RetriableError)
    stage.pass(age)
    stage.chain.fate = { kind: 'unknown' }
    await expect(stage.startPayer().buy(stage.purchase)).rejects.toThrow(PaymentInDoubtError)
    expect(stage.requests).toHaveLength(2)
    expect(await states()).toEqual(['in_doubt'])
  })

  test('is asked for again where the server keeps payment identifiers, however old: all that can come is the answer', async () => {
    stage.script(challenge({ identifier: true }), plain(500))
    await expect(stage.startPayer().buy(stage.purchase)).rejects.toThrow(RetriableError)
    stage.pass(1000)
    stage.chain.fate = { kind: 'used', transaction }
    stage.script(found())
    await stage.startPayer().buy(stage.purchase)
    expect(stage.requests[2]).toEqual(stage.requests[1])
    expect(await states()).toEqual(['settled'])
  })
})

describe('what stops a purchase before it is signed', () => {
  test('a challenge outside the policy: refused, recorded, and not asked for again at once', async () => {
    const payer = stage.startPayer()
    stage.script(challenge({ offer: { amount: '10001' } }))
    await expect(payer.buy(stage.purchase)).rejects.toThrow(PolicyDeniedError)
    await expect(payer.buy(stage.purchase)).rejects.toThrow(PolicyDeniedError)
    expect(stage.requests).toHaveLength(1)
    expect(await stage.charges()).toEqual([])
    const refusals = await database.db
      .selectFrom('refusals')
      .select(['rule', 'message'])
      .where('lookup_key', '=', stage.key)
      .execute()
    expect(refusals).toEqual([{ rule: 'price', message: expect.stringContaining('0.010001') }])

    stage.pass(31)
    stage.script(challenge(), found())
    await payer.buy(stage.purchase)
    expect(await states()).toEqual(['settled'])
  })

  test('a recipient that is not the one first seen', async () => {
    stage.script(challenge(), found())
    await stage.startPayer().buy(stage.purchase)
    await database.db.deleteFrom('terms').where('endpoint', '=', stage.purchase.request.endpoint).execute()
    stage.script(challenge({ offer: { payTo: '0x00000000000000000000000000000000DeaDBeef' } }))
    await expect(stage.startPayer().buy(stage.purchase)).rejects.toMatchObject({ name: 'PolicyDeniedError' })
    expect(await states()).toEqual(['settled'])
  })

  test('a challenge that has changed in answer to a payment: the old bytes stand, the new terms meet the policy', async () => {
    const dearer = challenge({ offer: { amount: '20000' } })
    stage.script(challenge(), dearer)
    await expect(stage.startPayer().buy(stage.purchase)).rejects.toThrow(PaymentInDoubtError)
    stage.script(dearer)
    await expect(stage.startPayer().buy(stage.purchase)).rejects.toThrow(PaymentInDoubtError)
    expect(stage.requests[2]).toEqual(stage.requests[1])

    stage.pass(400)
    stage.chain.fate = { kind: 'dead' }
    stage.script(dearer)
    await expect(stage.startPayer().buy(stage.purchase)).rejects.toThrow(PolicyDeniedError)
    expect(await states()).toEqual(['expired'])
    expect(await stage.committed()).toBe(0n)
  })

  test('a wallet that cannot pay: nothing is signed', async () => {
    await resetStage(database.db, { balanceAtomic: 9_999n })
    stage.script(challenge())
    await expect(stage.startPayer().buy(stage.purchase)).rejects.toMatchObject({
      name: 'BudgetExhaustedError',
      code: 'wallet_empty',
    })
    expect(await stage.charges()).toEqual([])
    expect(await stage.committed()).toBe(0n)
  })

  test('a server that finds the wallet empty: parked, in doubt, and the same bytes later', async () => {
    const payer = stage.startPayer()
    stage.script(challenge(), challenge({ error: 'insufficient_funds' }))
    await expect(payer.buy(stage.purchase)).rejects.toThrow(BudgetExhaustedError)
    expect(await states()).toEqual(['in_doubt'])
    stage.pass(60)
    stage.script(found())
    await payer.buy(stage.purchase)
    expect(stage.requests[2]).toEqual(stage.requests[1])
    expect(await states()).toEqual(['settled'])
  })

  test('a charge that another worker has open for the same lookup', async () => {
    stage.script(challenge(), fails(new RetriableError('timeout', 'slow')))
    await expect(stage.startPayer().buy(stage.purchase)).rejects.toThrow(RetriableError)
    const open = (await stage.journal.unanswered(stage.key)).open!
    // As a worker would that looked for an open charge a moment too early.
    const late = stage
      .startPayer({ unanswered: async () => ({ open: undefined, lost: 0 }) })
      .buy(stage.purchase)
    await expect(late).rejects.toMatchObject({ name: 'PaymentInDoubtError', code: 'charge_open' })
    expect(stage.requests).toHaveLength(2)
    expect(await stage.charges()).toMatchObject([{ nonce: open.authorization.nonce, state: 'in_doubt' }])
    expect(await stage.committed()).toBe(10_000n)
  })
})
