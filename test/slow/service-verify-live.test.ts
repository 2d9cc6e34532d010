import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { API_KEY } from '../../src/sandbox/accounts.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { createCatalogue } from '../../src/service/catalogue/catalogue.ts'
import type { Operation } from '../../src/domain/words.ts'
import { confirm } from '../../src/store/contract/operation-states.ts'
import { openDatabase } from '../../src/store/database/database.ts'
import { openDesk, type Desk } from '../support/cli.ts'

let sandbox: Sandbox
let desk: Desk

beforeAll(async () => {
  sandbox = await startSandbox()
})
afterAll(() => sandbox.stop())
beforeEach(async () => {
  sandbox.faults.reset()
  desk = await openDesk(sandbox)
})
afterEach(() => desk.close())

const ledger = () =>
  openDatabase({ dataDir: join(desk.stores.dataDir, 'data'), url: desk.stores.databaseUrl })

/** Confirms all other operations, so that a test buys what it is about. */
async function leaveUnconfirmed(...kept: Operation[]) {
  const database = await ledger()
  for (const { operation, method, path } of createCatalogue().all())
    if (!kept.includes(operation))
      await confirm(
        database.db,
        { operation, part: '', place: `${method.value} ${sandbox.serviceUrl}${path.value}` },
        new Date(),
      )
  await database.close()
}

async function requestsOf(operation: Operation) {
  const database = await ledger()
  const rows = await database.db
    .selectFrom('lookups')
    .select(['request', 'answer'])
    .where('operation', '=', operation)
    .execute()
  await database.close()
  return rows
}

const company = ['--company', 'ridge-bearings.example'] as const
const live = (...options: string[]) => liveUpTo('0.05', ...options)
const liveUpTo = (most: string, ...options: string[]) =>
  desk.run(['service', 'verify', '--live', ...company, ...options], { PAYDIRT_MAX_PRICE_USD: most })

test('buys one answer of each unconfirmed operation within its total, after showing the list', async () => {
  await leaveUnconfirmed('job.search', 'news.search', 'expansion.lookup', 'person.lookup')
  const most = ['--max-usd', '0.06'] as const
  const asked = await live(...most)
  expect(asked).toMatchObject({ status: 2, stderr: expect.stringContaining('with --yes') })
  expect(asked.stderr).toMatch(/^job\.search +price unknown, at most 0\.05/m)
  expect(asked.stderr).toMatch(
    /^person\.lookup +not asked: needs a person: none in the ledger; .*--person URL/m,
  )
  expect(asked.stderr).toMatch(/^never asked, .*: monitor\.create, /m)
  expect(asked.stderr).not.toMatch(/^monitor\.create/m)
  expect(await desk.transfers()).toEqual([])

  const bought = await live(...most, '--yes', '--json')
  expect(bought.stderr).toMatch(/^expansion\.lookup: not asked: it could cost more than is left/m)
  const paid = (await desk.transfers()).reduce((sum, { amountAtomic }) => sum + amountAtomic, 0n)
  expect(paid).toBeGreaterThan(0n)
  expect(paid).toBeLessThanOrEqual(60_000n)
})

test('takes persons and ids from answers, and buys the searches for them first', async () => {
  await leaveUnconfirmed(
    'people.search',
    'person.lookup',
    'contact.redeem',
    'company.search',
    'company.similar',
    'expansion.compare',
  )
  expect((await live()).stderr).toMatch(/^contact\.redeem +not asked: its price of 0\.150000 USD is above/m)
  const most = ['--max-usd', '1'] as const
  const asked = await liveUpTo('0.15', ...most)
  expect(asked.stderr).toMatch(/^person\.lookup +.* after people\.search: needs a person$/m)
  expect(asked.stderr).toMatch(
    /^expansion\.compare +.* after company\.similar: needs the ids of 2 companies$/m,
  )

  const bought = await liveUpTo('0.15', ...most, '--yes', '--json')
  const answered = bought.stderr.match(/^\S+: answered/gm)
  expect(answered).toHaveLength(6)
  const [search] = await requestsOf('people.search')
  const [row] = (search!.answer as { data: { peoples: { profnet_url: string }[] } }).data.peoples
  const [lookedUp] = await requestsOf('person.lookup')
  const { pathname } = new URL(row!.profnet_url)
  // Requests name the network's first host.
  const named = { profnet_url: `https://www.profnet.com${pathname}` }
  expect(lookedUp?.request).toEqual(named)
  // One type of contacts of that person, and no more.
  expect((await requestsOf('contact.redeem')).map(({ request }) => request)).toEqual([
    { ...named, people_contact_types: ['email-work'] },
  ])
  const [compared] = await requestsOf('expansion.compare')
  expect(new Set((compared!.request as { domain_search_ids: string[] }).domain_search_ids).size).toBe(2)

  const again = await live(...most, '--yes')
  expect(again).toMatchObject({ status: 2, stderr: expect.stringContaining('every operation is confirmed') })
})

test('names nobody who is suppressed, and takes the person that it is told', async () => {
  await leaveUnconfirmed('people.search', 'people.similar')
  await desk.run([
    'service',
    'call',
    'people.search',
    '--json',
    '{"domains":["ridge-bearings.example"],"per_page":1}',
    '--max-usd',
    '0.05',
  ])
  const [search] = await requestsOf('people.search')
  const [row] = (search!.answer as { data: { peoples: { profnet_url: string }[] } }).data.peoples
  expect((await live()).stderr).toMatch(/^people\.similar +price unknown, at most \S+ USD$/m)

  expect(await desk.run(['suppress', 'add', '--profile-url', row!.profnet_url])).toMatchObject({ status: 0 })
  expect((await live()).stderr).toMatch(/^people\.similar +not asked: needs a person: none in the ledger/m)
  const person = ['--person', 'https://www.profnet.com/in/ada-lovelace'] as const
  expect((await live(...person)).stderr).toMatch(/^people\.similar +price unknown, at most \S+ USD$/m)
  expect((await live('--person', 'https://other.example/in/ada')).stderr).toMatch(
    /^people\.similar +not asked: .*its host is not/m,
  )
})

test('says by API key that no monitor was found for the readings of one', async () => {
  await leaveUnconfirmed('monitor.list', 'monitor.read')
  const said = await desk.run(['service', 'verify', '--live', '--yes'], { PAYDIRT_API_KEY: API_KEY })
  expect(said.stderr).toMatch(/^monitor\.read +.* after monitor\.list: needs a monitor$/m)
  expect(said.stderr).toMatch(/^monitor\.list: answered/m)
  expect(said.stderr).toMatch(/^monitor\.read: left out: needs a monitor, and no answer has one$/m)
})

test('remembers the price that a refusal told, and names the cap and the setting', async () => {
  await leaveUnconfirmed('job.search')
  const first = await liveUpTo('0.005', '--yes')
  expect(first.stderr).toMatch(
    /^job\.search: parked: .* above its cap of 0\.005000\. To allow it, set in paydirt\.config\.ts: payment/m,
  )
  const second = await liveUpTo('0.005')
  expect(second.stderr).toMatch(
    /^job\.search +not asked: its price of 0\.0\d+ USD is above the cap of one request, 0\.005000: payment: \{ maxPricesUsd: \{ 'job\.search': '0\.0\d+' \} \}/m,
  )
  expect(await desk.transfers()).toEqual([])
})
