import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { costText } from '../../src/app/service/call-result.ts'
import { openCalls } from '../../src/app/service/call-session.ts'
import { planCall } from '../../src/app/service/plan-call.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openDesk, type Desk } from '../support/cli.ts'
import { openHouse } from '../support/house.ts'

let sandbox: Sandbox
let desk: Desk
beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())
beforeEach(async () => void (desk = await openDesk(sandbox)))
afterEach(async () => {
  sandbox.faults.reset()
  await desk.close()
})

const nothingKnown = { words: () => [], limits: [], pageSize: undefined, lastPage: undefined }
const call = (operation: string, body: object, ...more: string[]) =>
  desk.run(['service', 'call', operation, '--json', JSON.stringify(body), ...more])
const software = { industries: ['Software'] }

test('a call that is interrupted waits for the request that was sent, and says what it has paid', async () => {
  const house = await openHouse(sandbox, {
    config: { payment: { maxPricesUsd: { 'company.search': '0.02' } } },
  })
  onTestFinished(() => house.close())
  const planned = planCall(
    house.context.config,
    { operation: 'company.search', body: software },
    nothingKnown,
  )
  const interrupt = new AbortController()
  const requests = () => sandbox.stats().byEndpoint['companies_search' as never] ?? 0
  const before = requests()
  sandbox.faults.set({ latency: { minMs: 400, maxMs: 400 } })
  const calls = await openCalls(house.context, { first: planned, signal: interrupt.signal })
  const buying = calls.buy(planned)
  while (requests() === before) await new Promise((resolve) => setTimeout(resolve, 5))
  interrupt.abort()
  const end = await buying
  await calls.close()
  expect([end.state, costText(end, false)]).toEqual(['answered', '0.010000 USD paid'])
  expect(await house.transfers()).toHaveLength(1)
})

test('a call says what it has paid itself, and not what an earlier one has', async () => {
  sandbox.faults.set({ renamedKeys: [{ only: ['news_search'], from: 'domains', to: 'company_domains' }] })
  const news = () => call('news.search', { domains: ['ridge-bearings.example'] }, '--max-usd', '0.02')
  expect((await news()).stderr).toContain('(0.010000 USD paid)')
  expect((await desk.run(['service', 'accept', 'news.search', '--yes'])).status).toBe(0)
  expect((await news()).stderr).toContain('(0.010000 USD paid)')
  expect(await desk.transfers()).toHaveLength(2)
})

test('an answer of the ledger is given whatever is known of the price', async () => {
  expect((await call('company.search', software, '--max-usd', '0.02')).status).toBe(0)
  const again = await call('company.search', software)
  expect([again.status, again.stderr]).toEqual([0, expect.stringContaining('nothing is paid')])
  const next = await call('company.search', { ...software, page: 2 })
  expect([next.status, next.stderr]).toEqual([2, expect.stringContaining('--max-usd')])
})
