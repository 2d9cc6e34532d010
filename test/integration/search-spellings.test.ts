import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { openCalls } from '../../src/app/service/call-session.ts'
import { assertAffordable, planCall } from '../../src/app/service/plan-call.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { sized } from '../support/full-size.ts'
import { openHouse } from '../support/house.ts'
import { differentSearches, searchedDepartments, spellingsOf } from '../support/search-spellings.ts'
import { testSeed } from '../support/seed.ts'

let sandbox: Sandbox
beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())

const count = sized(100, 6)
const each = sized(10, 4)

test(`${count * each} spellings of ${count} searches are ${count} payments`, async () => {
  const house = await openHouse(sandbox, {
    config: { payment: { maxPricesUsd: { 'people.search': '0.02' } } },
  })
  onTestFinished(() => house.close())
  const { context } = house
  const known = {
    words: () => searchedDepartments,
    limits: [],
    pageSize: undefined,
    lastPage: undefined,
  }
  const planned = differentSearches(count, testSeed()).flatMap((search, index) =>
    spellingsOf(search, each, testSeed() + index).map((body) => {
      const call = planCall(context.config, { operation: 'people.search', body: { ...body, page: 1 } }, known)
      assertAffordable(call)
      return call
    }),
  )
  const [first] = planned
  if (!first) throw new Error('nothing was planned')
  const calls = await openCalls(context, {
    first,
    signal: new AbortController().signal,
  })
  try {
    const bought = []
    for (const call of planned) bought.push(await calls.buy(call))
    expect(bought.map(({ state }) => state)).toEqual(planned.map(() => 'answered'))
    const ofLedger = bought.filter((end) => end.state === 'answered' && end.isKnown)
    expect(ofLedger).toHaveLength(planned.length - count)
  } finally {
    await calls.close()
  }
  expect(await house.transfers()).toHaveLength(count)
})
