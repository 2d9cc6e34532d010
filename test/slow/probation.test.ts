import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parse } from 'csv-parse/sync'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { FileConfig } from '../../src/app/config/file.ts'
import { enrichCsv, openInput } from '../../src/app/runs/enrich-csv.ts'
import { member } from '../../src/sandbox/data/directory.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { observations } from '../../src/store/contract/answer-fields.ts'
import { operationStates, resumeOperation } from '../../src/store/contract/operation-states.ts'
import { seenPrices } from '../../src/store/contract/seen-prices.ts'
import { sized } from '../support/full-size.ts'
import { openDesk } from '../support/cli.ts'
import { openHouse, type House } from '../support/house.ts'
import { openEdge } from '../support/service-edge.ts'

// Operations whose path the service's description does not show: here the lookup of a company by its domain.

let sandbox: Sandbox
beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox?.stop())

const lookup = '/companies/lookup'
const domains = (from: number, count: number) =>
  [...new Set(Array.from({ length: 4 * count }, (_, at) => member(from + at).employer.domain))].slice(
    0,
    count,
  )
const profile = (name: string, at: number) => `https://www.profnet.com/company/${name}-${at}`
const csvOf = (profiles: string[], byDomain: string[]) =>
  ['profnet_url,domain', ...profiles.map((url) => `${url},`), ...byDomain.map((each) => `,${each}`)].join(
    '\n',
  )

async function enrich(
  house: House,
  csv: string,
  name: string,
  recipe = 'contact',
  object: 'company' | 'person' = 'company',
) {
  const folder = join(house.context.config.dataDir, '..', 'probation')
  await mkdir(folder, { recursive: true })
  const [input, out] = [join(folder, `${name}.csv`), join(folder, `${name}-out.csv`)]
  await writeFile(input, csv)
  const opened = await openInput(house.context.config, { input, object })
  const { signal } = new AbortController()
  const { end, summary } = await enrichCsv(house.context, opened, { out, signal, recipe, replace: true })
  const rows = parse(await readFile(out), { columns: true, bom: true }) as Record<string, string>[]
  return { end, summary, rows, states: rows.map(({ paydirt_status: status }) => status) }
}

async function behind(
  judge: Parameters<typeof openEdge>[1],
  work: (house: House, edge: Awaited<ReturnType<typeof openEdge>>) => Promise<void>,
  config: FileConfig = {},
) {
  const edge = await openEdge(sandbox.serviceUrl, judge)
  const house = await openHouse(sandbox, { env: { PAYDIRT_SERVICE_URL: edge.url }, config })
  try {
    await work(house, edge)
  } finally {
    await house.close()
    edge.close()
  }
}

const charges = async ({ context }: House) =>
  context.database.db.selectFrom('charges').select(['operation', 'state']).orderBy('operation').execute()

test('an assumed path that is not there stops its operation alone, after one request; a person lets it go on', async () => {
  let isThere = false
  await behind(
    ({ path }) => (path.endsWith(lookup) && !isThere ? { status: 404 } : undefined),
    async (house, edge) => {
      const csv = csvOf(
        [0, 1, 2, 3].map((at) => profile('probation-a', at)),
        domains(40, 6),
      )
      const { end, rows, states } = await enrich(house, csv, 'a')
      expect(end).toBe('parked')
      expect(states.map((state) => state === 'parked')).toEqual([
        ...Array(4).fill(false),
        ...Array(6).fill(true),
      ])
      expect(rows[9]?.['paydirt_reason']).toContain('company.lookup is stopped')
      expect(rows[9]?.['paydirt_reason']).toContain('answers 404')
      expect(rows[9]?.['paydirt_reason']).toContain('`paydirt service retry company.lookup`')
      expect(edge.count(lookup)).toBe(1)
      expect(await charges(house)).toEqual(
        Array.from({ length: 4 }, () => ({ operation: 'company.profile', state: 'settled' })),
      )
      expect(await operationStates(house.context.database.db)).toMatchObject([
        { operation: 'company.lookup', part: '', state: 'stopped', code: 'no_such_endpoint' },
      ])
      // Nothing that was answered is left out of what is known of the service.
      await (await house.context.openEngine()).observer.flush()
      const { db } = house.context.database
      const seen = await observations(db, 'company.profile')
      expect(seen).toContainEqual(expect.objectContaining({ path: '', type: 'object', answers: 4 }))
      expect(await seenPrices(db)).toMatchObject([
        { priceClass: expect.stringMatching(/profnet\/lookup$/), protocol: 'x402', amountAtomic: 10_000n },
      ])
      expect(await observations(db, 'company.lookup')).toEqual([])
      // Nothing changes by starting it again.
      expect((await enrich(house, csv, 'a')).end).toBe('parked')
      expect(edge.count(lookup)).toBe(1)

      isThere = true
      expect(await resumeOperation(house.context.database.db, 'company.lookup', new Date())).toBe(6)
      const again = await enrich(house, csv, 'a')
      expect(again.end).toBe('finished')
      expect(again.states.filter((state) => state === 'parked')).toEqual([])
      expect((await house.transfers()).length).toBe((await house.nonces()).length)
      expect(await operationStates(house.context.database.db)).toMatchObject([{ state: 'confirmed' }])
    },
  )
})

test.each([
  ['is no JSON', '<h1>Welcome</h1>'],
  ['has another form', '{"result":{"company_name":"Acme"}}'],
])(
  'of answers of which each %s one is paid for',
  async (_, body) => {
    await behind(
      ({ path }) => (path.endsWith(lookup) ? { status: 200, body, isAsked: true } : undefined),
      async (house, edge) => {
        const { end, states } = await enrich(house, csvOf([], domains(80, 12)), 'b')
        expect(end).toBe('parked')
        expect(states.toSorted()).toEqual([...Array(11).fill('parked'), 'rejected'])
        expect(await charges(house)).toEqual([{ operation: 'company.lookup', state: 'settled' }])
        expect(await house.transfers()).toHaveLength(1)
        // The challenge, and the payment.
        expect(edge.count(lookup)).toBe(2)
      },
    )
  },
  60_000,
)

test('until the first answer one request is under way, and other operations do not wait for it', async () => {
  let release = (): void => {}
  const released = new Promise<void>((resolve) => (release = resolve))
  let begin = (): void => {}
  const begun = new Promise<void>((resolve) => (begin = resolve))
  const seen = { paid: 0, beside: 0, profiles: 0, isOver: false }
  void released.then(() => (seen.isOver = true))
  await behind(
    ({ path, headers }) => {
      if (path.endsWith('/companies/profnet/lookup')) {
        // Those that come first wait, so that the payments of all of them come while the request is under way.
        if (seen.paid === 0) return { until: begun }
        if ((seen.profiles += 1) === 10) release()
      }
      if (!path.endsWith(lookup) || !('payment-signature' in headers || 'x-payment' in headers))
        return undefined
      if (!seen.isOver && seen.paid > 0) seen.beside += 1
      begin()
      return (seen.paid += 1) === 1 ? { until: released } : { afterMs: 50 }
    },
    async (house, edge) => {
      const profiles = Array.from({ length: 20 }, (_, at) => profile('probation-c', at))
      const { end } = await enrich(house, csvOf(profiles, domains(120, 20)), 'c')
      expect(end).toBe('finished')
      expect(seen.beside).toBe(0)
      expect(edge.mostAtOnce(lookup)).toBeGreaterThan(2)
      expect((await house.transfers()).length).toBe((await house.nonces()).length)
    },
  )
})

describe('records of a stopped operation', () => {
  test('are written with what is known, and parked where nothing is', async () => {
    await behind(
      ({ path }) => (path.includes('/redeem/') ? { status: 403 } : undefined),
      async (house) => {
        const people = Array.from({ length: 6 }, (_, at) => member(300 + at)).filter(
          ({ unknown }) => !unknown,
        )
        const csv = [
          'profnet_url,email',
          ...people.map(({ slug }) => `https://www.profnet.com/in/${slug},`),
          ',ada@acme.example',
        ].join('\n')
        const { end, rows, states } = await enrich(house, csv, 'd', 'full', 'person')
        expect(end).toBe('parked')
        expect(states).toEqual([...people.map(() => 'written'), 'parked'])
        for (const row of rows.slice(0, people.length)) {
          expect(row['full_name']).not.toBe('')
          expect(row['paydirt_reason']).toContain('contact.redeem is stopped')
        }
        expect(rows.at(-1)?.['paydirt_reason']).toContain('contact.lookup is stopped')
        // Nothing that no record waits for is bought when the operation goes on.
        expect(await resumeOperation(house.context.database.db, 'contact.redeem', new Date())).toBe(0)
        expect(await resumeOperation(house.context.database.db, 'contact.lookup', new Date())).toBe(1)
      },
      { payment: { maxPricesUsd: { 'contact.redeem:email-work': '0.15', 'contact.redeem:phone': '0.30' } } },
    )
  })

  test('are none where every record has a profile: all assumed paths may be missing', async () => {
    const count = sized(500, 10)
    const csv = csvOf(
      Array.from({ length: count }, (_, at) => profile('probation-e', at)),
      [],
    )
    const numbers = async (house: House) => {
      const { end, summary, states } = await enrich(house, csv, 'e', 'contact')
      return { end, tasks: summary.tasks, spend: summary.spend, states }
    }
    const plain = await openHouse(sandbox)
    const expected = await numbers(plain).finally(() => plain.close())
    expect(expected.end).toBe('finished')
    const shown = ['/companies/profnet/lookup', '/people/profnet/lookup']
    await behind(
      ({ path }) => (shown.some((each) => path.endsWith(each)) ? undefined : { status: 404 }),
      async (house) => expect(await numbers(house)).toEqual(expected),
    )
  })
})

test('killed while the only request is under way: the same payment is finished, and one answer confirms the operation', async () => {
  let release = (): void => {}
  let arrived = (): void => {}
  const released = new Promise<void>((resolve) => (release = resolve))
  const first = new Promise<void>((resolve) => (arrived = resolve))
  const proofs: unknown[] = []
  let isOver = false
  const edge = await openEdge(sandbox.serviceUrl, ({ path, headers }) => {
    const proof = headers['payment-signature'] ?? headers['x-payment']
    if (!path.endsWith(lookup) || proof === undefined) return undefined
    if (isOver) return undefined
    arrived()
    // The request of the process that is killed is lost on its way.
    return proofs.push(proof) === 1 ? { until: new Promise(() => {}) } : { until: released }
  })
  const desk = await openDesk(sandbox)
  try {
    await desk.write('in.csv', csvOf([], domains(160, 8)))
    const command = [
      'csv',
      'in.csv',
      '--object',
      'company',
      '--recipe',
      'contact',
      '--out',
      'out.csv',
      '--json',
    ]
    const env = { PAYDIRT_SERVICE_URL: edge.url }
    const killed = desk.start(command, env)
    await Promise.race([first, killed.ended.then((ended) => expect.unreachable(ended.stderr))])
    killed.kill('SIGKILL')
    await killed.ended
    const arrivedAgain = new Promise<void>((resolve) => (arrived = resolve))
    const second = desk.start(command, env)
    await Promise.race([arrivedAgain, second.ended.then((ended) => expect.unreachable(ended.stderr))])
    // Only the payment that was under way: the same bytes, and no other lookup beside it.
    await pause(300)
    expect([new Set(proofs).size, proofs.length]).toEqual([1, 2])
    isOver = true
    release()
    expect(await second.ended).toMatchObject({ status: 0 })
    const transfers = await sandbox.transfersFrom(desk.wallet)
    expect(transfers).toHaveLength(8)
  } finally {
    release()
    await desk.close()
    edge.close()
  }
})
