import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { newPlanId } from '../../src/app/context/new-id.ts'
import { planText } from '../../src/app/plans/plan-text.ts'
import { enrichCsv, openInput, planCsv } from '../../src/app/runs/enrich-csv.ts'
import { parseUsd } from '../../src/domain/money.ts'
import { personUrl } from '../../src/sandbox/data/contacts.ts'
import { member } from '../../src/sandbox/data/directory.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openHouse, type House } from '../support/house.ts'

let sandbox: Sandbox
let house: House
let usual: Pick<House['context']['config'], 'policy' | 'caps'>

beforeAll(async () => {
  sandbox = await startSandbox()
  house = await openHouse(sandbox)
  usual = { policy: house.context.config.policy, caps: house.context.config.caps }
})
afterAll(async () => {
  await house.close()
  await sandbox.stop()
})
beforeEach(() => void Object.assign(house.context.config, usual))

const reveals = { 'contact.redeem:email-work': 150_000n, 'contact.redeem:phone': 300_000n }
const allow = () => Object.assign(house.context.config, { policy: { ...usual.policy, maxPrices: reveals } })
const limitRun = (runAtomic: bigint) =>
  Object.assign(house.context.config, { caps: { ...usual.caps, runAtomic } })

async function file(from: number, count: number) {
  const path = join(house.context.config.dataDir, '..', `bounds-${from}.csv`)
  const urls = Array.from({ length: count }, (_, at) => personUrl(member(from + at).slug))
  await writeFile(path, ['profnet_url', ...urls, ''].join('\n'))
  return openInput(house.context.config, { input: path, object: 'person' })
}

const plan = async (from: number, recipe: string, count = 7) =>
  planCsv(house.context, await file(from, count), { recipe, planId: newPlanId(house.context) })

async function carryOut(from: number, recipe: string, count = 7) {
  const before = (await house.transfers()).reduce((sum, { amountAtomic }) => sum + amountAtomic, 0n)
  const out = join(house.context.config.dataDir, '..', `bounds-${from}.out.csv`)
  await enrichCsv(house.context, await file(from, count), {
    out,
    recipe,
    signal: new AbortController().signal,
  })
  return (await house.transfers()).reduce((sum, { amountAtomic }) => sum + amountAtomic, 0n) - before
}

describe('a plan', () => {
  test('says that the run would not begin, by the reason that the run gives, and what it would cost', async () => {
    const refused = await plan(0, 'contact')
    expect(refused).toMatchObject({
      begins: false,
      refusals: [{ code: 'above_cap', message: expect.stringContaining('maxPricesUsd') }],
      cost: { currency: 'USD', low: '0.000000', expected: '0.000000', high: '0.000000' },
      uncapped: { low: '3.150000', high: '3.150000' },
      lookups: { toBuy: 7 },
    })
    expect(refused.steps).toMatchObject([
      { step: 'contact.redeem:email-work', price: '0.150000', cap: '0.010000', stopped: true },
      { step: 'contact.redeem:phone', price: '0.300000', cap: '0.010000', stopped: true },
    ])
    await expect(carryOut(0, 'contact')).rejects.toMatchObject(refused.refusals[0]!)
    const text = planText(refused)
    expect(text).toContain('a run would not begin:')
    expect(planText({ ...refused, planId: 'p1' })).toMatch(
      /\nplan p1: it cannot be carried out as it is; mend what is named above, then plan again\n$/,
    )
    expect(planText({ ...refused, begins: true, planId: 'p1' })).toContain('carries out exactly this')
    expect(text).toContain('no reason to buy, because the rows have them: profnet_url (7)')
    expect(text).toContain('stopped: the cap is 0.010000')
    expect(text).toContain('without what stops it: 3.150000 USD')
  })

  test('says by step how many lookups, at what price, low, expected and high', async () => {
    allow()
    const { steps, cost, uncapped, begins, wallet, limits } = await plan(0, 'full')
    expect({ begins, cost }).toMatchObject({ begins: true, cost: uncapped })
    expect(cost).toMatchObject({ low: '0.070000', high: '3.290000' })
    expect(parseUsd(cost.expected)).toBeGreaterThan(parseUsd(cost.low) * 5n)
    expect(parseUsd(cost.expected)).toBeLessThan(parseUsd(cost.high))
    const bySlot = Object.fromEntries(steps.map(({ step, lookups }) => [step, lookups]))
    expect(bySlot['person.profile']).toEqual({ low: 7, expected: 7, high: 7 })
    expect(bySlot['contact.redeem:phone']).toMatchObject({ low: 0, high: 7 })
    expect(steps.find(({ step }) => step === 'person.profile')?.cost).toEqual({
      low: '0.070000',
      expected: '0.070000',
      high: '0.070000',
    })
    expect(wallet).toEqual({ address: house.wallet, balance: '20.000000' })
    expect(limits.map(({ name, cap, stops }) => [name, cap, stops])).toEqual([
      ['run', '50.000000', false],
      ['day', '100.000000', false],
      ['month', null, false],
      ['connector', null, false],
      ['wallet', '20.000000', false],
    ])
  })

  test('stops at what budget, wallet and kill switch leave, and what is paid lies inside', async () => {
    allow()
    limitRun(1_000_000n)
    const capped = await plan(20, 'contact')
    expect(capped.cost).toMatchObject({ low: '0.750000', high: '0.900000' })
    expect(capped.uncapped).toMatchObject({ low: '3.150000', high: '3.150000' })
    expect(capped.limits.filter(({ stops }) => stops).map(({ name }) => name)).toEqual(['run'])
    expect(planText(capped)).toContain('stopped by run 1.000000')
    const paid = await carryOut(20, 'contact')
    expect(paid).toBeGreaterThanOrEqual(parseUsd(capped.cost.low))
    expect(paid).toBeLessThanOrEqual(parseUsd(capped.cost.high))

    await house.context.spendSwitch.stop('enough')
    const stopped = await plan(40, 'contact')
    await house.context.spendSwitch.resume()
    expect(stopped).toMatchObject({ begins: true, cost: { high: '0.000000' } })
    expect(planText(stopped)).toContain('spending is stopped: the rest is parked')
  })

  test('names every reason at once, and needs neither service nor chain to say them', async () => {
    const { chain, config } = house.context
    const before = { serviceUrl: config.serviceUrl, chainId: chain.chainId }
    try {
      Object.assign(config, { serviceUrl: 'http://127.0.0.1:1' })
      Object.assign(chain, { chainId: async () => 1 })
      const { refusals } = await plan(0, 'contact')
      expect(refusals.map(({ code }) => code)).toEqual(['above_cap', 'unreachable', 'wrong_chain'])
    } finally {
      Object.assign(config, { serviceUrl: before.serviceUrl })
      Object.assign(chain, { chainId: before.chainId })
    }
  })
})
