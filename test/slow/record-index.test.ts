import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { indexAges } from '../../src/app/records/index-ages.ts'
import { indexRecords } from '../../src/app/records/index-records.ts'
import { forget } from '../../src/app/records/forget.ts'
import { openConnector } from '../../src/app/context/connectors.ts'
import type { Connector } from '../../src/connectors/connector.ts'
import { createRecordIndex } from '../../src/store/identities/record-index.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openCrmHouse, type CrmHouse } from '../integration/crm-house.ts'

let sandbox: Sandbox
let house: CrmHouse
let at = new Date('2026-11-20T12:00:00Z')

beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())
afterEach(() => house.close())

/** The connector as the command opens it: the command itself fills the index. */
const bare = () => openConnector(house.context.config, 'hubspot', undefined)
const signal = new AbortController().signal

/** A sync needs a clock that goes on. */
async function open(overrides: { now?: () => Date } = { now: () => at }) {
  at = new Date('2026-11-20T12:00:00Z')
  house = await openCrmHouse(sandbox, { overrides })
}

async function index(connector: Connector, options: { rebuild?: boolean; signal?: AbortSignal } = {}) {
  at = new Date(at.getTime() + 60_000)
  return indexRecords(house.context, connector, 'companies', { rebuild: false, signal, ...options })
}

async function entries(): Promise<string[]> {
  const { rows } = await sql<{ entry: string }>`
    select record_id || ' ' || kind || ' ' || value as entry from record_identities order by 1`.execute(
    house.context.database.db,
  )
  return rows.map(({ entry }) => entry)
}

test('a whole scan, what changed since, and a scan that drops what is gone', async () => {
  await open()
  const connector = await bare()
  const first = house.add('companies', { name: 'Acme, Inc.', domain: 'www.acme.example' })
  const second = house.add('companies', { name: 'Globex', domain: 'globex.example' })
  expect(await index(connector)).toMatchObject({ scan: 'whole', end: 'complete', records: 2, gone: 0 })
  const ofSecond = [
    `${second} domain globex.example`,
    `${second} name globex`,
    `${second} name_domain globex@globex.example`,
  ]
  expect(await entries()).toEqual(
    [
      `${first} domain acme.example`,
      `${first} name acme`,
      `${first} name_domain acme@acme.example`,
      ...ofSecond,
    ].sort(),
  )

  house.edit('companies', first, { domain: 'acme.co.example' })
  expect(await index(connector)).toMatchObject({ scan: 'changes', end: 'complete' })
  expect(await entries()).toContain(`${first} domain co.example`)
  expect(await entries()).not.toContain(`${first} domain acme.example`)

  house.hubspot.store.archive('companies', first)
  expect(await index(connector, { rebuild: true })).toMatchObject({ scan: 'whole', records: 1, gone: 1 })
  expect(await entries()).toEqual(ofSecond.sort())
  expect(await indexAges(house.context)).toMatchObject([
    { connector: 'hubspot', entity: 'companies', records: 1, isComplete: true, isUnderWay: false },
  ])
  await connector.close()
})

test('a scan that was broken off goes on behind its last page, and is not complete before its end', async () => {
  await open()
  const connector = await bare()
  for (let n = 0; n < 250; n += 1) house.add('companies', { name: `C ${n}`, domain: `c${n}.example` })
  const pages: number[] = []
  const breaking = new AbortController()
  const counting: Connector = {
    ...connector,
    async *scan(entity, options) {
      for await (const page of connector.scan(entity, options)) {
        pages.push(page.records.length)
        yield page
      }
    },
  }
  const stopping = indexRecords(house.context, counting, 'companies', {
    rebuild: false,
    signal: breaking.signal,
    onProgress: () => breaking.abort(),
  })
  expect(await stopping).toMatchObject({ end: 'interrupted' })
  expect(await indexAges(house.context)).toMatchObject([{ isComplete: false, isUnderWay: true }])
  expect(await index(counting)).toMatchObject({ scan: 'whole', end: 'complete', records: 250 })
  expect(pages.reduce((sum, count) => sum + count, 0)).toBe(250)
  await connector.close()
})

test('every scan, reading and write of a sync fills it, also for a record that nothing is bought for', async () => {
  await open({})
  const idle = house.add('companies', { name: 'No profile', domain: 'idle.example' })
  const asked = house.add('companies', { name: 'Asked', profnet_url: 'https://www.profnet.com/company/acme' })
  await house.sync('companies')
  const found = await entries()
  expect(found).toContain(`${idle} domain idle.example`)
  expect(found).toContain(`${asked} profile company/acme`)
  // The answer's domain was written into the record.
  expect(found.filter((entry) => entry.startsWith(`${asked} domain `))).toHaveLength(1)
})

test('a record that cannot be enriched is in the CRM all the same: it stays in the index', async () => {
  await open()
  const connector = await bare()
  const id = house.add('companies', { name: 'Acme', domain: 'acme.example' })
  const broken: Connector = {
    ...connector,
    async *scan(entity, options) {
      for await (const page of connector.scan(entity, options))
        yield {
          ...page,
          records: page.records.map((record) => ({
            ...record,
            unreadable: 'city is empty',
          })),
        }
    },
  }
  await index(broken)
  expect(await entries()).toContain(`${id} domain acme.example`)
  await house.context.recordIndex.add('hubspot', 'companies', [
    { id, object: 'company', identity: { profileUrl: 'https://www.profnet.com/company/acme' } },
  ])
  expect(await index(broken, { rebuild: true })).toMatchObject({ end: 'complete', gone: 0 })
  expect(await entries()).toEqual(
    expect.arrayContaining([`${id} domain acme.example`, `${id} profile company/acme`]),
  )
  await connector.close()
})

test('a value that the database cannot hold is left out, and stops no other', async () => {
  await open()
  const named = (id: string, email: string) => ({ id, object: 'person' as const, identity: { email } })
  await house.context.recordIndex.keep('hubspot', 'contacts', [
    named('1', 'a\u0000@b.example'),
    named('2', 'a\ud800@b.example'),
    named('3', 'a@b.example'),
  ])
  expect(await entries()).toEqual(['3 email a@b.example'])
})

test('nothing is kept of a suppressed subject', async () => {
  await open()
  const url = 'https://www.profnet.com/company/acme'
  const id = house.add('companies', { name: 'Acme', profnet_url: url, domain: 'acme.example' })
  const connector = await bare()
  await index(connector)
  expect(await entries()).not.toEqual([])
  await house.context.suppressions.add([{ kind: 'domain', value: 'acme.example', isCompany: true }])
  await index(connector, { rebuild: true })
  expect(await entries()).toEqual([])
  expect(id).not.toBe('')
  await connector.close()
})

test('a subject that is forgotten while its record is stored does not come back into the index', async () => {
  await open()
  const { context } = house
  const { db } = context.database
  const subject = { kind: 'domain' as const, value: 'gone.example', isCompany: true as const }
  let isForgotten = false
  // The question is answered, and then, before the entries are stored, the subject is forgotten.
  const index = createRecordIndex(db, {
    now: () => at,
    hosts: context.config.networkHosts,
    async suppressed(subjects, options) {
      const before = await context.suppressions.match(subjects, options)
      if (!isForgotten) await forget(context, [subject], { suppress: true })
      isForgotten = true
      return before
    },
  })
  const record = (id: string, domain: string) => ({ id, object: 'company' as const, identity: { domain } })
  await index.keep('hubspot', 'companies', [record('1', 'gone.example'), record('2', 'stays.example')])
  expect(await entries()).toEqual(['2 domain stays.example'])
})

test('a record that is read again as it was writes nothing, and one that has changed does', async () => {
  await open()
  const { db } = house.context.database
  const kept = createRecordIndex(db, { now: () => at, hosts: [], suppressed: async () => new Set() })
  const record = (domain: string | undefined) => ({
    id: '7',
    object: 'company' as const,
    identity: { company: 'Acme', ...(domain === undefined ? {} : { domain }) },
    values: { company_name: 'Acme' },
  })
  /** The transaction that wrote each entry. */
  const writers = async () =>
    (
      await sql<{ entry: string }>`
        select kind || ' ' || value || ' ' || xmin as entry from record_identities order by 1`.execute(db)
    ).rows.map(({ entry }) => entry)
  const keep = (domain: string | undefined) => kept.keep('hubspot', 'companies', [record(domain)])

  await keep('acme.example')
  const first = await writers()
  expect(first.length).toBeGreaterThan(1)
  await keep('acme.example')
  await kept.add('hubspot', 'companies', [record(undefined)])
  expect(await writers()).toEqual(first)

  at = new Date(at.getTime() + 2 * 86_400_000)
  await keep('acme.example')
  const later = await writers()
  expect(later).toHaveLength(first.length)
  expect(later).not.toEqual(first)

  await keep(undefined)
  expect((await entries()).filter((entry) => entry.includes('acme.example'))).toEqual([])
  await keep('other.example')
  expect((await entries()).join()).toContain('other.example')
})
