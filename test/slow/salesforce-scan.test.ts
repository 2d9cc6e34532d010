import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ConfigError } from '../../src/domain/errors.ts'
import { parseSoql } from '../../src/sandbox/salesforce/soql-parse.ts'
import { select, soqlText } from '../../src/connectors/salesforce/api/soql.ts'
import { testSeed } from '../support/seed.ts'
import { openSalesforceBench, scanAll, type SalesforceBench } from '../integration/salesforce.fixture.ts'

let bench: SalesforceBench

beforeEach(async () => {
  bench = await openSalesforceBench()
})
afterEach(() => bench.stop())

describe('a scan of Salesforce', () => {
  test('hands out every record once through a tie larger than many pages', async () => {
    bench.org.store.seed('Contact', { count: 12_000, modstampMs: bench.clock.nowMs - 86_400_000 })
    const { ids } = await scanAll(bench.connect(), 'Contact')
    expect(ids).toHaveLength(12_060)
    expect(new Set(ids)).toEqual(new Set(bench.ids('Contact', 12_060)))
  })

  test('goes on behind the last stored page when it is broken off, three times in a tie', async () => {
    bench.org.store.seed('Contact', { count: 3_000, modstampMs: bench.clock.nowMs - 86_400_000 })
    const seen: string[] = []
    let after: string | undefined
    for (let life = 1; life <= 4; life++) {
      let pages = 0
      const connector = bench.connect({ pageSize: 300 })
      for await (const page of connector.scan('Contact', after === undefined ? {} : { after })) {
        // A page that was handed out and not stored comes again: life ends in the middle of the third one.
        if (life < 4 && ++pages === 3) break
        seen.push(...page.records.map(({ id }) => id))
        after = page.watermark
      }
      bench.clock.nowMs += 3_600_000
    }
    expect(seen).toHaveLength(3_060)
    expect(new Set(seen).size).toBe(3_060)
  })

  test('keeps its end when it goes on: what changed in between comes with the next increment', async () => {
    const connector = bench.connect({ pageSize: 20 })
    const first = await scanAll(connector, 'Contact', { limit: 20 })
    bench.clock.nowMs += 3_600_000
    bench.org.store.edit('Contact', first.ids[0] as string, { Title: 'Pilot' })
    const rest = await scanAll(connector, 'Contact', { after: first.watermark as string })
    expect(rest.ids).toHaveLength(40)
    expect(rest.ids).not.toContain(first.ids[0])
    const next = await scanAll(connector, 'Contact', { after: rest.watermark as string })
    expect(next.ids).toContain(first.ids[0])
  })

  test('leaves what changes meanwhile to the next increment, and reads then no more than the lookback', async () => {
    const connector = bench.connect({ pageSize: 20, lookbackMs: 60_000 })
    const [first = ''] = bench.ids('Contact', 1)
    let after: string | undefined
    const seen: string[] = []
    for await (const page of connector.scan('Contact', {})) {
      bench.clock.nowMs += 5_000
      bench.org.store.edit('Contact', first, { Title: `at ${bench.clock.nowMs}` })
      seen.push(...page.records.map(({ id }) => id))
      after = page.watermark
    }
    expect(seen.filter((id) => id === first)).toHaveLength(1)
    bench.clock.nowMs += 3_600_000
    const next = await scanAll(connector, 'Contact', { after: after as string })
    expect(next.ids).toEqual([first])
    expect((await scanAll(connector, 'Contact', { after: next.watermark as string })).ids).toEqual([first])
  })

  test('reaches back for a transaction that ends later under an earlier stamp', async () => {
    const connector = bench.connect()
    const [, late = ''] = bench.ids('Lead', 2)
    bench.org.store.edit('Lead', bench.ids('Lead', 1)[0] as string, { Title: 'now' })
    const { watermark } = await scanAll(connector, 'Lead')
    bench.org.store.stamp('Lead', late, bench.clock.nowMs - 9 * 60_000)
    expect((await scanAll(connector, 'Lead', { after: watermark as string })).ids).toContain(late)
  })

  test('does not read a large old load again every night', async () => {
    bench.org.store.seed('Lead', { count: 500, modstampMs: bench.clock.nowMs - 3 * 86_400_000 })
    const connector = bench.connect({ lookbackMs: 60_000 })
    const first = await scanAll(connector, 'Lead')
    bench.clock.nowMs += 86_400_000
    expect((await scanAll(connector, 'Lead', { after: first.watermark as string })).ids).toEqual([])
  })

  test('stops at a limit and goes on behind it', async () => {
    const connector = bench.connect({ pageSize: 25 })
    const first = await scanAll(connector, 'Contact', { limit: 30 })
    expect(first.ids).toHaveLength(30)
    const rest = await scanAll(connector, 'Contact', { after: first.watermark as string })
    expect(new Set([...first.ids, ...rest.ids]).size).toBe(60)
    expect(rest.ids).toHaveLength(30)
    expect((await scanAll(connector, 'Contact', { limit: 0 })).pages).toEqual([])
  })

  test('begins at a given time', async () => {
    const [id = ''] = bench.ids('Account', 1)
    bench.clock.nowMs += 60_000
    const since = new Date(bench.clock.nowMs)
    bench.org.store.edit('Account', id, { Phone: '1' })
    // The stamp is the whole second before the edit: a time within it still finds it.
    const found = await scanAll(bench.connect(), 'Account', { since: new Date(since.getTime() - 1_000) })
    expect(found.ids).toEqual([id])
  })

  test('identifies a contact by its own fields and by its account', async () => {
    const account = bench.org.store.add('Account', {
      fields: { Name: 'Norvik', Website: 'https://norvik.example' },
    })
    const added = bench.org.store.add('Contact', {
      fields: {
        LastName: 'Hara',
        FirstName: '',
        Email: 'a@norvik.example',
        MobilePhone: '+4930123',
        AccountId: account.id,
        Profnet_URL__c: 'https://profnet.com/in/hara',
      },
    })
    const { pages } = await scanAll(bench.connect(), 'Contact')
    expect(pages.flatMap(({ records }) => records).find(({ id }) => id === added.id)).toEqual({
      id: added.id,
      object: 'person',
      identity: {
        profileUrl: 'https://profnet.com/in/hara',
        email: 'a@norvik.example',
        phone: '+4930123',
        lastName: 'Hara',
        company: 'Norvik',
        domain: 'https://norvik.example',
      },
      values: {
        last_name: 'Hara',
        email: 'a@norvik.example',
        mobile_phone: '+4930123',
        profnet_url: 'https://profnet.com/in/hara',
      },
    })
  })

  test('leaves converted and deleted leads out', async () => {
    const [converted = '', deleted = ''] = bench.ids('Lead', 2)
    bench.org.store.convert(converted)
    bench.org.store.delete('Lead', deleted)
    const { ids } = await scanAll(bench.connect(), 'Lead')
    expect(ids).toHaveLength(18)
    expect(ids).not.toContain(converted)
    expect(ids).not.toContain(deleted)
  })

  test('goes on without an identifying field that goes away in mid scan', async () => {
    const connector = bench.connect({ pageSize: 20 })
    const seen: string[] = []
    for await (const { records } of connector.scan('Contact', {})) {
      seen.push(...records.map(({ id }) => id))
      bench.org.store.schema.Contact.fields.delete('mobilephone')
    }
    expect(new Set(seen).size).toBe(60)
    expect(seen).toHaveLength(60)
  })

  test('filters by blank, filled, equal and different, whatever stands in a value', async () => {
    const hostile = `O'Hara\\' OR Name != '"\n`
    const add = (fields: Record<string, string>): string =>
      bench.org.store.add('Lead', { fields: { LastName: 'Z', Company: 'Filter', ...fields } }).id
    const plain = add({ City: 'Lyon', NumberOfEmployees: '7' })
    const odd = add({ City: hostile })
    const connector = bench.connect()
    const ours = { property: 'Company', is: 'equal', value: 'Filter' } as const
    const ids = async (property: string, is: 'equal' | 'different', value: string) =>
      (await scanAll(connector, 'Lead', { filter: [ours, { property, is, value }] })).ids
    expect(await ids('City', 'equal', hostile)).toEqual([odd])
    expect(await ids('City', 'different', hostile)).toEqual([plain])
    expect(
      (await scanAll(connector, 'Lead', { filter: [ours, { property: 'Title', is: 'blank' }] })).ids,
    ).toEqual([plain, odd])
    expect(
      (await scanAll(connector, 'Lead', { filter: [ours, { property: 'Title', is: 'filled' }] })).ids,
    ).toEqual([])
    for (const [property, value] of [
      ['Citty', 'x'],
      ['Description', 'x'],
      ['NumberOfEmployees', '1 OR Id != null'],
      ['SystemModstamp', '2026-01-01 OR Id != null'],
    ] as const)
      await expect(ids(property, 'equal', value)).rejects.toThrow(ConfigError)
  })

  test('finds its own writes, until another hand changes the record', async () => {
    const connector = bench.connect()
    const ids = bench.ids('Contact', 3)
    const before = await scanAll(connector, 'Contact')
    await connector.write(
      'Contact',
      ids.map((id) => ({ id, patch: { job_title: { set: 'Pilot' }, country_code: { set: 'DE' } } })),
    )
    bench.clock.nowMs += 1_000
    bench.org.store.edit('Contact', ids[1] as string, { Title: 'King' })
    bench.clock.nowMs += 120_000
    bench.org.store.edit('Contact', ids[2] as string, { Email: 'new@norvik.example' })
    const after = await scanAll(connector, 'Contact', { after: before.watermark as string })
    expect(new Set(after.ids)).toEqual(new Set(ids))
    expect(after.pages.flatMap(({ ownWrites }) => [...(ownWrites ?? [])])).toEqual([ids[0]])
    // The values behind a stamp are read only where it can still be the last change.
    const reads = bench.requests(/POST .*composite\/sobjects\/Contact/)
    for (const id of ids) bench.org.store.edit('Contact', id, { Phone: '1' })
    expect((await scanAll(connector, 'Contact', { after: after.watermark as string })).ids).toHaveLength(3)
    expect(bench.requests(/POST .*composite\/sobjects\/Contact/)).toBe(reads)
  })
})

test('no text in a query can be anything but that text', () => {
  const text = fc.string({ unit: fc.constantFrom(...`'"\\%_()=\n\r\t\b\f nO;-`, 'ü', '😀') })
  fc.assert(
    fc.property(text, (value) => {
      const soql = select({
        fields: ['Id'],
        from: 'Lead',
        where: [`City = ${soqlText(value)}`, 'Id != null'],
      })
      expect(parseSoql(soql).where).toMatchObject({
        kind: 'and',
        parts: [{ field: 'City', operator: '=', value: { kind: 'text', value } }, { field: 'Id' }],
      })
    }),
    { seed: testSeed() },
  )
})

describe('a first scan of a large org', () => {
  const options = { pageSize: 500, bulkScanThreshold: 2_000 }
  const pages = /GET .*\/query(\?|$)/
  const jobs = /POST .*\/jobs\/query$/

  test('reads what is left after a page by one bulk query, every record once', async () => {
    bench.org.store.seed('Contact', { count: 6_000, modstampMs: bench.clock.nowMs - 86_400_000 })
    bench.org.store.seed('Contact', { count: 1_000 })
    const { ids, pages: handed } = await scanAll(bench.connect(options), 'Contact')
    expect(ids).toHaveLength(7_060)
    expect(new Set(ids)).toEqual(new Set(bench.ids('Contact', 7_060)))
    expect(handed.length).toBeGreaterThan(10)
    expect(bench.requests(jobs)).toBe(1)
    // A page, the count, and the page that finds nothing more; fourteen pages otherwise.
    expect(bench.requests(pages)).toBe(3)
    const again = await scanAll(bench.connect(options), 'Contact', { after: handed.at(-1)?.watermark ?? '' })
    expect(again.ids.length).toBeLessThan(7_060)
  })

  test('gives the same records, with the same identity, as pages do', async () => {
    await bench.stop()
    bench = await openSalesforceBench({ contacts: 2_500, personAccounts: true })
    bench.org.store.addPerson({ FirstName: 'Ida', LastName: 'Holm', MailingCity: 'Bergen' })
    const byBulk = await scanAll(bench.connect({ ...options, pageSize: 200 }), 'Contact')
    const byPages = await scanAll(bench.connect({ pageSize: 2_000 }), 'Contact')
    const all = (scanned: typeof byBulk) => scanned.pages.flatMap(({ records }) => records)
    expect(bench.requests(jobs)).toBe(1)
    expect(all(byBulk)).toEqual(all(byPages))
  })

  test('goes on behind the last stored page when it is broken off within the job', async () => {
    bench.org.store.seed('Contact', { count: 6_000, modstampMs: bench.clock.nowMs - 86_400_000 })
    const seen: string[] = []
    let after: string | undefined
    for (let life = 1; life <= 3; life++) {
      let handed = 0
      for await (const page of bench.connect(options).scan('Contact', after === undefined ? {} : { after })) {
        if (life < 3 && ++handed === 4) break
        seen.push(...page.records.map(({ id }) => id))
        after = page.watermark
      }
    }
    expect(seen).toHaveLength(6_060)
    expect(new Set(seen).size).toBe(6_060)
  })

  test('reads pages where the job fails', async () => {
    bench.org.store.seed('Contact', { count: 4_000 })
    bench.org.faults.inject({ kind: 'answer', status: 503, times: 20, method: 'GET', path: /jobs\/query/ })
    const { ids } = await scanAll(bench.connect(options), 'Contact')
    expect(new Set(ids).size).toBe(4_060)
    expect(ids).toHaveLength(4_060)
  })
})
