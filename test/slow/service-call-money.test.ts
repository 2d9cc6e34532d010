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

test('a plan of pages says which are free, and the most that the others cost', async () => {
  const plan = (...more: string[]) => call('company.search', software, '--plan', ...more)
  expect((await plan('--pages', '3')).stdout).toContain('none: name one with --max-usd')
  expect((await call('company.search', software, '--max-usd', '0.02')).status).toBe(0)
  const { stdout } = await plan('--pages', '3', '--max-usd', '0.02')
  expect(stdout).toContain('the ledger has page 1, which is free; pages 2, 3 would be bought')
  expect(stdout).toContain('at most 0.040000 USD (2 requests of at most 0.020000)')
  expect(stdout).toMatch(/path +confirmed \d{4}-\d\d-\d\d/)
  expect(stdout).not.toContain('refused')
  const dear = (await plan('--pages', '2', '--max-usd', '0.005')).stdout
  expect(dear).toContain('it would not be sent: its last price of 0.010000 USD is above the cap of 0.005000')
  expect((await plan('--max-usd', '0.005')).stdout).not.toContain('refused')
  expect(await desk.transfers()).toHaveLength(1)
})

test('a page behind the last row is not sent, where an answer in the ledger tells it', async () => {
  const first = await call('company.search', software, '--max-usd', '0.02')
  const { total_entries: total } = first.json<{ data: { pagination: { total_entries: number } } }>().data
    .pagination
  const last = Math.ceil(total / 25)
  const before = sandbox.stats().requests
  const behind = await call('company.search', { ...software, page: last + 1 }, '--max-usd', '0.02')
  expect([behind.status, behind.stderr]).toEqual([
    2,
    expect.stringContaining(`page is ${last + 1}, and its ${total} rows are ${last} pages of 25`),
  ])
  const plan = await call(
    'company.search',
    { ...software, page: last },
    '--pages',
    '3',
    '--max-usd',
    '0.02',
    '--plan',
  )
  expect(plan.stdout).toContain('cost      at most 0.020000 USD\n')
  expect(sandbox.stats().requests).toBe(before)
})

test('pages of an operation without pages are refused', async () => {
  const refused = await call('hiring.insights', { domain: 'ridge-bearings.example' }, '--pages', '3')
  expect([refused.status, refused.stderr]).toEqual([2, expect.stringContaining('leave --pages out')])
})

test('a challenge above --max-usd is refused by that name, and its price is remembered', async () => {
  const refused = await call('company.search', software, '--max-usd', '0')
  expect([refused.status, refused.stderr]).toEqual([
    3,
    expect.stringMatching(/above the cap of 0\.000000 by --max-usd.*nothing was paid.*with a higher cap/s),
  ])
  expect(refused.stderr).not.toContain('maxPricesUsd')
  const plan = await call('company.search', software, '--max-usd', '0.005', '--plan')
  expect(plan.stdout).toContain('its last price of 0.010000 USD is above the cap of 0.005000')
})

test('a payment in doubt is open until a time that reconcile names', async () => {
  sandbox.faults.set({ searchLimits: { page: 2 } })
  const refused = await call('company.search', { ...software, page: 3 }, '--max-usd', '0.02')
  expect(refused.stderr).toContain('in doubt')
  const reconciled = await desk.run(['reconcile'])
  expect(reconciled.stdout).toMatch(/1 still open: those on the chain cannot be used after 20\d\d-/)
  expect((await desk.run(['reconcile', '--json'])).json<{ resolved: object }>().resolved).toMatchObject({
    open: 1,
    openUntil: expect.stringMatching(/^20\d\d-/) as string,
  })
})
