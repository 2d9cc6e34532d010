import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { API_KEY, API_KEY_HEADER } from '../../src/sandbox/accounts.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openDesk, type Desk } from '../support/cli.ts'

let sandbox: Sandbox
let desk: Desk
beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())
beforeEach(async () => void (desk = await openDesk(sandbox)))
afterEach(async () => {
  sandbox.faults.reset()
  await desk.close()
})

const asked = (body: object) => ['--json', JSON.stringify(body)]
const requests = (name: string) => sandbox.stats().byEndpoint[name as never] ?? 0
const software = { industries: ['Software'] }

describe('a search by hand', () => {
  test('is paid once for all spellings, and its pages one by one', async () => {
    const before = requests('companies_search')
    const first = await desk.run([
      'service',
      'call',
      'company.search',
      ...asked({ industries: ['Software', 'Software'], domains: undefined }),
      '--max-usd',
      '0.02',
      '--pages',
      '2',
    ])
    expect([first.status, first.stderr]).toEqual([0, expect.stringContaining('page 2 has 25 of')])
    const again = await desk.run([
      'service',
      'call',
      'company.search',
      ...asked({ per_page: 25, industries: [' Software'] }),
      '--max-usd',
      '0.02',
    ])
    expect(again.stderr).toContain('the ledger has this answer: nothing is paid')
    expect(again.json<{ data: { companies: unknown[] } }>().data.companies).toHaveLength(25)
    expect(await desk.transfers()).toHaveLength(2)
    // A challenge is asked for once.
    expect(requests('companies_search') - before).toBeLessThanOrEqual(3)
  })

  test('stops after the page whose answer ignored a filter, and keeps its rows', async () => {
    sandbox.faults.set({ droppedFilters: [{ only: ['companies_search'], key: 'industries' }] })
    const call = [
      'service',
      'call',
      'company.search',
      ...asked(software),
      '--max-usd',
      '0.02',
      '--pages',
      '5',
    ]
    const stopped = await desk.run(call)
    expect([stopped.status, stopped.stderr]).toEqual([
      1,
      expect.stringContaining('the service ignored industries: its rows are those of a wider search'),
    ])
    expect(await desk.transfers()).toHaveLength(1)
    expect((await desk.run(call)).stderr).toContain('nothing is paid')
    expect(await desk.transfers()).toHaveLength(1)
  })

  test('ends at the last page from whichever it begins, and has one key by its own path', async () => {
    const call = (page: number, ...more: string[]) =>
      desk.run([
        'service',
        'call',
        'company.search',
        ...asked({ ...software, page }),
        '--max-usd',
        '0.02',
        ...more,
      ])
    const first = await call(1)
    const total = first.json<{ data: { pagination: { total_entries: number } } }>().data.pagination
    const last = Math.ceil(total.total_entries / 25)
    const end = await call(last, '--pages', '3')
    expect([end.status, end.stderr]).toEqual([0, expect.stringContaining(`page ${last} has`)])
    expect(end.stderr).not.toContain(`page ${last + 1}`)
    expect((await call(1, '--path', '/companies/search')).stderr).toContain('nothing is paid')
    expect(await desk.transfers()).toHaveLength(2)
  })

  test('is not sent with a page that the service has refused before', async () => {
    sandbox.faults.set({ searchLimits: { page: 2 } })
    const page = (number: number) =>
      desk.run([
        'service',
        'call',
        'company.search',
        ...asked({ ...software, page: number }),
        '--max-usd',
        '0.02',
      ])
    expect((await page(3)).stderr).toContain('41676')
    const before = requests('companies_search')
    const refused = await page(3)
    expect([refused.status, refused.stderr]).toEqual([
      2,
      expect.stringContaining('the service has 2 at most'),
    ])
    expect(requests('companies_search')).toBe(before)
    expect((await page(2)).status).toBe(0)
  })

  test('has an accepted name in its plan, and stops where that one is ignored', async () => {
    const sectors = { only: ['companies_search'], from: 'industries', to: 'sectors' }
    const call = (...more: string[]) =>
      desk.run(['service', 'call', 'company.search', ...asked(software), '--max-usd', '0.02', ...more])
    sandbox.faults.set({ renamedKeys: [sectors] })
    expect((await call()).status).toBe(1)
    expect((await desk.run(['service', 'accept', 'company.search', '--yes'])).status).toBe(0)
    expect((await call('--plan')).stdout).toContain('"sectors":["Software"]')
    // Back to the old name: the service ignores the accepted one.
    sandbox.faults.reset()
    const ignored = await call('--pages', '3')
    expect([ignored.status, ignored.stderr]).toEqual([
      1,
      expect.stringContaining('the service ignored sectors'),
    ])
    expect(await desk.transfers()).toHaveLength(2)
  })

  test('is not bought again by API key where it has cost more than the cap', async () => {
    const env = {
      PAYDIRT_API_KEY: API_KEY,
      PAYDIRT_API_KEY_HEADER: API_KEY_HEADER,
      PAYDIRT_WALLET_KEY: undefined,
    }
    const call = (page: number, maxUsd: string) =>
      desk.run(
        [
          'service',
          'call',
          'company.search',
          ...asked({ ...software, page }),
          '--max-usd',
          maxUsd,
          '--pages',
          '3',
        ],
        env,
      )
    const before = requests('companies_search')
    const dear = await call(1, '0.005')
    expect([dear.status, dear.stderr]).toEqual([
      1,
      expect.stringContaining(
        'has cost 1.000000 credits, which count as 0.010000 USD, above the cap of 0.005000',
      ),
    ])
    const next = await call(2, '0.005')
    expect([next.status, next.stdout]).toEqual([2, ''])
    expect(requests('companies_search') - before).toBe(1)
    // An answer that the ledger has costs nothing.
    expect((await call(1, '0.005')).stderr).toContain('nothing is paid')
    expect((await call(2, '0.01')).status).toBe(0)
  })

  test('says which word no answer has held when it finds nothing', async () => {
    const nothing = await desk.run([
      'service',
      'call',
      'people.search',
      ...asked({ departments: ['Astrology'] }),
      '--unchecked',
      '--max-usd',
      '0.02',
    ])
    expect([nothing.status, nothing.stderr]).toEqual([
      0,
      expect.stringMatching(/page 1 has 0 of 0 rows.*\n.*no answer has ever held the word "astrology"/i),
    ])
  })
})

test.each<[string, string, string[], RegExp]>([
  ['a key with a typing error', 'job.search', asked({ functoins: ['sales'] }), /functoins .*near: functions/],
  ['a word outside a closed list', 'people.search', asked({ people_contact_types: ['mail'] }), /email-work/],
  [
    'a word that only answers have',
    'expansion.lookup',
    asked({ momentum: ['retreating'] }),
    /no filter takes it/,
  ],
  ['a word that no answer has held', 'expansion.lookup', asked({ stages: ['Scalling'] }), /--unchecked/],
  ['everything', 'company.search', asked({}), /--all/],
  ['two references', 'company.similar', asked({ domain: 'a.example', domain_search_id: 'x' }), /one of them/],
  ['a page above the limit', 'company.search', asked({ ...software, per_page: 26 }), /at most 25/],
  ['another form of date', 'job.search', asked({ created_at: { from: '1.2.2026' } }), /YYYY-MM-DD/],
  ['a wrong type', 'company.search', asked({ industries: 'Software' }), /list of texts/],
  ['an empty list', 'company.search', asked({ industries: [] }), /empty/],
  ['no JSON', 'company.search', ['--json', '{"industries": [}'], /--json is not JSON: line 1, column 17/],
  ['a list', 'company.search', ['--json', '[]'], /no JSON object/],
  ['no such file', 'company.search', ['--json', '@gone.json'], /gone\.json cannot be read: ENOENT/],
  ['no name of a file', 'company.search', ['--json', '@'], /--json @ names no file/],
  [
    'two keys with typing errors',
    'job.search',
    asked({ functoins: ['x'], domans: ['y'] }),
    /functions.*domains/,
  ],
  ['an unknown operation', 'compny.search', [], /near: company\.search/],
  ['a body above 1 MB', 'company.search', asked({ industries: ['x'.repeat(1_050_000)] }), /1 MB/],
  ['a wrong amount', 'company.search', [...asked(software), '--max-usd', 'two'], /"two" is not an amount/],
  ['an action without --yes', 'monitor.delete', asked({ monitor_id: 'm1' }), /--yes/],
  ['an id that climbs out of the path', 'company.logo', asked({ domain: '..' }), /domain/],
  ['a workspace without a key', 'monitor.list', [], /PAYDIRT_API_KEY/],
  ['another host', 'company.search', [...asked(software), '--path', '@evil.example/x'], /is no path/],
  ['an action as a reading', 'company.search', ['--path', '/monitors'], /path of monitor\.create/],
  ['an unknown price without a cap', 'company.search', asked(software), /--max-usd/],
])('%s is refused in one line, and nothing is sent or reserved', async (_, operation, args, said) => {
  const before = sandbox.stats().requests
  const refused = await desk.run([
    'service',
    'call',
    operation,
    ...args,
    ...(args.includes('--max-usd') || said.source === '--max-usd' ? [] : ['--max-usd', '0.02']),
  ])
  expect([refused.status, refused.stdout]).toEqual([2, ''])
  expect(refused.stderr).toMatch(said)
  expect(refused.stderr.trim().split('\n')).toHaveLength(1)
  expect(sandbox.stats().requests).toBe(before)
  expect((await desk.run(['spend', '--json'])).stdout).not.toContain('"charges":1')
})

test('a request in a file may begin with the mark of an editor', async () => {
  await desk.write('bom.json', `\uFEFF${JSON.stringify(software)}`)
  const plan = await desk.run(['service', 'call', 'company.search', '--json', '@bom.json', '--plan'])
  expect([plan.status, plan.stdout]).toEqual([0, expect.stringContaining('"industries":["Software"]')])
})

test('a plan of a call names request, key, price and cap, and sends nothing', async () => {
  const before = sandbox.stats().requests
  const plan = await desk.run(['service', 'call', 'company.search', ...asked(software), '--plan'])
  expect(plan.stdout).toMatch(/POST http.*\/companies\/search/)
  expect(plan.stdout).toMatch(/key +company\.search\|v1:[0-9a-f]{64}\|1/)
  expect(plan.stdout).toContain('unknown until the service tells it')
  expect(plan.stdout).not.toContain('an assumption')
  // By API key the call asks for the plan's limits, which a plan of a call does not.
  const byKey = (body: object) =>
    desk.run(['service', 'call', 'company.search', ...asked(body), '--plan'], {
      PAYDIRT_API_KEY: API_KEY,
      PAYDIRT_API_KEY_HEADER: API_KEY_HEADER,
    })
  expect((await byKey(software)).stdout).toMatch(/page +of 25 rows, an assumption: .*max_search_per_page/)
  expect((await byKey({ ...software, per_page: 10 })).stdout).not.toContain('an assumption')
  expect(sandbox.stats().requests).toBe(before)
})
