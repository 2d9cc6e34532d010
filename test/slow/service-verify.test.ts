import { mkdtemp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { stopOperation } from '../../src/store/contract/operation-states.ts'
import { openDatabase } from '../../src/store/database/database.ts'
import { openDesk, paydirt, type Desk } from '../support/cli.ts'

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

const jobs = { domains: ['ridge-bearings.example', 'delta-analytics.example'] }
const callOf = (operation: string, body: object) =>
  ['service', 'call', operation, '--json', JSON.stringify(body), '--max-usd', '0.05'] as const
const call = (operation: string, body: object) => desk.run(callOf(operation, body))
const verify = (...options: string[]) => desk.run(['service', 'verify', ...options])

/** Runs a command on the same ledger with other settings: a file that was loaded is not loaded again in this process. */
async function runWith(config: object, args: readonly string[]) {
  const cwd = await mkdtemp(join(desk.stores.dataDir, 'mended-'))
  const file = { pacing: { startPerSecond: 300 }, ...config }
  await writeFile(join(cwd, 'paydirt.config.mjs'), `export default ${JSON.stringify(file)}\n`)
  const { stores, walletKey } = desk
  return paydirt(args, { stores, walletKey, sandbox, cwd })
}

interface Verification {
  ok: boolean
  operations: { operation: string; answers: number; drift: { name: string }[] }[]
  fix: object | null
}

describe('paydirt service verify', () => {
  test('names a total with another name, and the settings of --fix mend it without another purchase', async () => {
    sandbox.faults.set({
      renamedFields: [{ only: ['jobs_search'], place: 'data.pagination.total_entries', to: 'total_rows' }],
    })
    expect(await call('job.search', jobs)).toMatchObject({ status: 1 })
    const said = await verify('--fix')
    expect(said).toMatchObject({ status: 1 })
    expect(said.stdout).toMatch(/^ {2}drift +data\.pagination\.total_entries: answers are without it/m)
    expect(said.stdout).toContain("'job.search': { fields: { total: 'data.pagination.total_rows' } },")
    const { fix, ok } = (await verify('--json')).json<Verification>()
    expect(ok).toBe(false)

    expect((await runWith(fix!, ['service', 'verify', '--json'])).json<Verification>()).toMatchObject({
      ok: true,
      fix: null,
    })
    const again = await runWith(fix!, callOf('job.search', jobs))
    expect(again).toMatchObject({ status: 0, stderr: expect.stringContaining('nothing is paid') })
    expect(await desk.transfers()).toHaveLength(1)
    const shown = (await runWith(fix!, ['service', 'show', 'job.search', '--json'])).stdout
    expect(shown).toContain('"name":"data.pagination.total_rows"')
  })

  test.each([
    ['result', { rows: 'result.jobs', total: 'result.pagination.total_entries' }],
    ['flat', { rows: 'data', total: 'pagination.total_entries' }],
  ] as const)('finds rows and total in an answer of another form (%s)', async (shape, fields) => {
    sandbox.faults.set({ envelope: { only: ['jobs_search'], shape } })
    await call('job.search', jobs)
    const found = (await verify('--json')).json<Verification>()
    expect(found.fix).toEqual({ service: { operations: { 'job.search': { fields } } } })
    const mended = await runWith(found.fix!, ['service', 'verify', '--json'])
    expect(mended.json<Verification>().operations[0]?.drift).toEqual([])
  })

  test('sets rows that are the answer itself, and pages are read with it', async () => {
    sandbox.faults.set({ envelope: { only: ['jobs_search'], shape: 'bare' } })
    await call('job.search', jobs)
    const said = await verify('--fix')
    expect(said.stdout).toContain("'job.search': { fields: { rows: '$' } },")
    const { fix } = (await verify('--json')).json<Verification>()
    const mended = await runWith(fix!, ['service', 'verify', '--json'])
    expect(mended.json<Verification>().operations[0]?.drift).toEqual([])
    await runWith(fix!, ['service', 'retry', 'job.search'])
    const bought = await runWith(fix!, callOf('job.search', { domains: jobs.domains.slice(1) }))
    expect(bought).toMatchObject({ status: 0 })
    expect(bought.json<object[]>().length).toBeGreaterThan(0)
    // An answer of before, with its envelope, is drift for the settings of now.
    sandbox.faults.reset()
    expect(await runWith(fix!, callOf('job.search', { domains: jobs.domains.slice(0, 1) }))).toMatchObject({
      status: 1,
    })
  })

  test('names a new word of a closed list, and has nothing to mend', async () => {
    sandbox.faults.set({ unknownWord: { next: 1 } })
    await call('expansion.search', { froms: ['DE'] })
    const said = await verify('--fix')
    expect(said).toMatchObject({ status: 1 })
    expect(said.stdout).toContain('momentum: a closed list has new words: "sideways"')
    expect(said.stdout).toContain('no setting mends this')
  })

  test('saves names and types, and no value', async () => {
    const bought = (await call('job.search', jobs)).json<object>()
    expect(await verify('--save', 'shape.json')).toMatchObject({ status: 0 })
    const saved = await desk.read('shape.json')
    expect(JSON.parse(saved)).toMatchObject({
      'job.search': expect.arrayContaining(['data.jobs: array', 'data.jobs[].functions[]: string']),
    })
    for (const value of valuesOf(bought)) expect(saved).not.toContain(value)
  })

  test('of an empty ledger has nothing to compare', async () => {
    expect(await verify()).toMatchObject({
      status: 0,
      stdout: 'the ledger holds no answer of the service yet\n',
    })
  })
})

describe('paydirt service list', () => {
  test('has the date of an answer, also of an operation whose address is shown', async () => {
    await call('company.profile', { profnet_url: 'https://www.profnet.com/company/acme' })
    const words = (await desk.run(['service', 'show', 'expansion.search'])).stdout
    expect(words).toMatch(/momentum: one of advancing, steady, pulling_back/)
    expect(words).toMatch(/stages: words that answers have held or service\.vocabularies\.stages names/)
    const shown = (await desk.run(['service', 'show', 'company.profile'])).stdout
    expect(shown).toMatch(/^confirmed since /m)
    expect(shown).toMatch(/POST \/companies\/profnet\/lookup +confirmed \S+ \(published: shown 4\.1\)/)
  })
})

describe('paydirt service accept', () => {
  test('sends a key under its new name once it is accepted, and buys the search anew', async () => {
    sandbox.faults.set({
      renamedKeys: [{ only: ['jobs_search'], from: 'domains', to: 'company_domains', isFollowed: true }],
    })
    expect(await call('job.search', jobs)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('paydirt service accept job.search'),
    })
    const asked = await desk.run(['service', 'accept', 'job.search'])
    expect(asked).toMatchObject({ status: 2, stdout: '' })
    expect(asked.stderr).toContain('domains: sent as domains, now company_domains')
    const { fix } = (await verify('--json')).json<Verification>()
    expect(fix).toEqual({
      service: { operations: { 'job.search': { rename: { domains: 'company_domains' } } } },
    })

    expect((await desk.run(['service', 'accept', 'job.search', '--yes', '--json'])).json()).toEqual({
      operation: 'job.search',
      accepted: [{ field: 'domains', wireName: 'company_domains' }],
      expired: 1,
    })
    expect(await call('job.search', jobs)).toMatchObject({ status: 0 })
    expect(await desk.transfers()).toHaveLength(2)
    expect(await verify()).toMatchObject({ status: 0 })
    expect((await desk.run(['service', 'accept', 'job.search'])).stdout).toBe(
      'no answer has renamed a key of job.search\n',
    )
  })
})

describe('an answer to another name of a key', () => {
  const renamedTo = (name: string) => ({
    service: { operations: { 'job.search': { rename: { domains: name } } } },
  })
  const buy = (config: object) => runWith(config, callOf('job.search', jobs))

  test('that ignored it is bought anew under the name of --fix, once', async () => {
    sandbox.faults.set({
      renamedKeys: [{ only: ['jobs_search'], from: 'domains', to: 'company_domains', isFollowed: false }],
    })
    expect(await call('job.search', jobs)).toMatchObject({ status: 1 })
    const { fix } = (await verify('--json')).json<Verification>()
    expect(fix).toEqual(renamedTo('company_domains'))
    expect(await buy(fix!)).toMatchObject({ status: 0 })
    expect(await desk.transfers()).toHaveLength(2)
    expect(await buy(fix!)).toMatchObject({ status: 0, stderr: expect.stringContaining('nothing is paid') })
    expect(await desk.transfers()).toHaveLength(2)
  })

  test('under a wrong name is bought anew without it, and not again while the name stays', async () => {
    expect(await buy(renamedTo('nonsense'))).toMatchObject({ status: 1 })
    expect(await buy(renamedTo('nonsense'))).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('nothing is paid'),
    })
    expect(await desk.transfers()).toHaveLength(1)
    expect(await call('job.search', jobs)).toMatchObject({ status: 0 })
    expect(await desk.transfers()).toHaveLength(2)
  })
})

describe('paydirt service retry', () => {
  test('lifts the stop of one operation, and doctor names it until then', async () => {
    await verify()
    const database = await openDatabase({
      dataDir: join(desk.stores.dataDir, 'data'),
      url: desk.stores.databaseUrl,
    })
    const place = {
      operation: 'job.search',
      part: '',
      place: `POST ${sandbox.serviceUrl}/jobs/search`,
    } as const
    const reason = 'job.search is stopped: its address answers 404'
    await stopOperation(database.db, place, { code: 'no_such_endpoint', reason }, new Date())
    await database.close()

    expect((await desk.run(['doctor'])).stdout).toContain('`paydirt service retry job.search`')
    expect((await desk.run(['service', 'list'])).stdout).toContain(`stopped  ${reason}`)
    expect((await desk.run(['service', 'show', 'job.search'])).stdout).toContain('no such address (404)')
    expect(await verify()).toMatchObject({ status: 1 })
    expect((await desk.run(['service', 'retry', 'job.search', '--json'])).json()).toEqual({
      operation: 'job.search',
      resumed: true,
      lookups: 0,
    })
    expect((await desk.run(['service', 'retry', 'job.search'])).stdout).toBe('job.search is not stopped\n')
    expect(await verify()).toMatchObject({ status: 0 })
  })

  test('refuses an operation that does not exist, with the near name', async () => {
    for (const command of ['retry', 'accept', 'show'])
      expect(await desk.run(['service', command, 'job.serch'])).toMatchObject({
        status: 2,
        stderr: expect.stringContaining('near: job.search'),
      })
  })
})

/** The texts and long numbers of an answer. */
function valuesOf(value: unknown): string[] {
  if (typeof value === 'string')
    return value.length > 3 && !/^(string|number|array|object)$/.test(value) ? [value] : []
  if (typeof value === 'number') return value > 999 ? [String(value)] : []
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(valuesOf) : []
}
