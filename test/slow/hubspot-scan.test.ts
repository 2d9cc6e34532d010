import { describe, expect, test } from 'vitest'
import type { ScanPage, Watermark } from '../../src/connectors/connector.ts'
import type { HubspotStandIn } from '../../src/sandbox/hubspot/index.ts'
import { sized } from '../support/full-size.ts'
import {
  noon,
  standIn,
  connect,
  ready,
  contacts,
  titled,
  thrown,
  closeAfterEach,
} from '../integration/hubspot.fixture.ts'

closeAfterEach()

// HubSpot's search ends at 10,000 results, so one stamp has more in the short form too.
const [older, ofOneStamp, younger] = [sized(7000, 400), sized(12_000, 10_200), sized(6000, 400)]
const all = older + ofOneStamp + younger

describe(`a scan of ${all} contacts, ${ofOneStamp} of them with one stamp`, () => {
  const oneStamp = noon - 3_600_000
  const world = async (): Promise<{ hubspot: HubspotStandIn; ids: string[] }> => {
    const hubspot = await standIn({ now: () => noon })
    hubspot.store.seed('contacts', { count: older, modifiedAtMs: (index) => noon - 7_200_000 + index })
    hubspot.store.seed('contacts', { count: ofOneStamp, modifiedAtMs: oneStamp })
    hubspot.store.seed('contacts', {
      count: younger,
      modifiedAtMs: (index) => noon - 1_800_000 + (index % 97),
    })
    return { hubspot, ids: [...hubspot.store.list('contacts')].map(({ id }) => id) }
  }
  const sorted = (ids: string[]): string[] => ids.sort((a, b) => Number(a) - Number(b))

  test.each([
    ['by list, the first time', {}],
    ['by search, since a time', { since: new Date(noon - 86_400_000) }],
  ])('visits each exactly once: %s', async (_, begin) => {
    const { hubspot, ids } = await world()
    const seen: string[] = []
    for await (const page of connect(hubspot, { now: () => noon }).scan('contacts', begin))
      seen.push(...page.records.map(({ id }) => id))
    expect(seen).toHaveLength(all)
    expect(sorted(seen)).toEqual(ids)
  })

  test.each([
    ['by list', {}],
    ['by search', { since: new Date(noon - 86_400_000) }],
  ])('visits each exactly once when it is broken off three times: %s', async (_, begin) => {
    const { hubspot, ids } = await world()
    const seen: string[] = []
    let after: Watermark | undefined
    let breaks = 0
    for (let walking = true; walking;) {
      walking = false
      // Another process: nothing is left of the one before but the last stored watermark.
      const connector = connect(hubspot, { now: () => noon + breaks * 60_000 })
      for await (const page of connector.scan('contacts', after === undefined ? begin : { after })) {
        // Broken off between reading a page and storing it: that page counts for nothing.
        if (breaks < 3 && seen.length >= 0.24 * all * (breaks + 1)) {
          breaks += 1
          walking = true
          break
        }
        seen.push(...page.records.map(({ id }) => id))
        after = page.watermark
      }
      await connector.close()
    }
    expect(breaks).toBe(3)
    expect(seen).toHaveLength(all)
    expect(sorted(seen)).toEqual(ids)
  })

  test('reads only the changed window the second time, and knows its own writes in it', async () => {
    const { hubspot } = await world()
    let nowMs = noon
    const connector = await ready(hubspot, { now: () => nowMs })
    let after: Watermark | undefined
    for await (const page of connector.scan('contacts', {})) after = page.watermark
    const ids = contacts(hubspot, 0).concat(
      [...hubspot.store.list('contacts')].slice(100, 350).map(({ id }) => id),
    )
    expect((await connector.write('contacts', titled(ids))).every(({ status }) => status === 'written')).toBe(
      true,
    )
    nowMs += 60_000
    const pages: ScanPage[] = []
    for await (const page of connector.scan('contacts', { after: after! })) pages.push(page)
    const changed = pages.flatMap((page) => page.records.map(({ id }) => id))
    const own = pages.flatMap((page) => [...page.ownWrites!])
    expect(sorted(own)).toEqual(sorted(ids))
    // The lookback reaches ten minutes behind the youngest change that the first scan saw: 29 minutes before noon.
    expect(changed.length).toBe(250 + younger)
  })
})

describe('increments', () => {
  test('find what changed while the last scan went on, and what the index did not show then', async () => {
    let nowMs = noon
    const hubspot = await standIn({ now: () => nowMs })
    contacts(hubspot, 450)
    const [first = '', second = '', late = ''] = [...hubspot.store.list('contacts')].map(({ id }) => id)
    // The youngest stamp that the first scan sees: the increment begins ten minutes before it.
    const young = [...hubspot.store.list('contacts')][20]!.id
    hubspot.store.stamp('contacts', young, noon - 1000)
    const connector = connect(hubspot, { now: () => nowMs })
    const seen: string[] = []
    let after: Watermark | undefined
    for await (const page of connector.scan('contacts', {})) {
      seen.push(...page.records.map(({ id }) => id))
      after = page.watermark
      nowMs += 1000
      // The first two stand on the first page: they change behind the scan's back.
      if (seen.length === 100) hubspot.store.edit('contacts', first, { jobtitle: 'Changed' })
      if (seen.length === 200) hubspot.store.edit('contacts', second, { jobtitle: 'Changed' })
    }
    expect(new Set(seen).size).toBe(450)
    hubspot.faults.indexLagMs = 20_000
    hubspot.store.edit('contacts', late, { jobtitle: 'Changed' })
    nowMs += 1000
    const increment = async (): Promise<string[]> => {
      const ids: string[] = []
      for await (const page of connector.scan('contacts', { after: after! })) {
        ids.push(...page.records.map(({ id }) => id))
        after = page.watermark
      }
      return ids
    }
    expect(await increment()).toEqual([first, second, young])
    nowMs += 60_000
    expect(await increment()).toContain(late)
    // With nothing new the window does not move back, nor past what could still come.
    const stands = after
    nowMs += 60_000
    await increment()
    expect(after).toBe(stands)
  })

  test('leave what changes ahead of the scan to the next window, so that each change is seen once', async () => {
    let nowMs = noon
    const hubspot = await standIn({ now: () => nowMs })
    const ids = contacts(hubspot, 450)
    const connector = connect(hubspot, { now: () => nowMs, lookbackMs: 0 })
    const seen: string[] = []
    let after: Watermark | undefined
    for await (const page of connector.scan('contacts', { since: new Date(0) })) {
      seen.push(...page.records.map(({ id }) => id))
      after = page.watermark
      nowMs += 1000
      if (seen.length === 200) hubspot.store.edit('contacts', ids[440]!, { jobtitle: 'Changed' })
    }
    expect(seen).toEqual(ids.filter((_, at) => at !== 440))
    const next: string[] = []
    for await (const page of connector.scan('contacts', { after: after! }))
      next.push(...page.records.map(({ id }) => id))
    expect(next).toContain(ids[440])
  })

  test('hand out what meets the filter, and count only that against the limit', async () => {
    const hubspot = await standIn({ now: () => noon })
    const ids = contacts(hubspot, 300)
    const wanted = ids.filter((_, at) => at % 10 === 0)
    for (const id of ids) hubspot.store.edit('contacts', id, { jobtitle: '', lifecyclestage: 'lead' })
    for (const id of wanted) hubspot.store.edit('contacts', id, { lifecyclestage: 'customer' })
    const connector = connect(hubspot, { now: () => noon })
    const filter = [
      { property: 'lifecyclestage', is: 'equal', value: 'Customer' },
      { property: 'jobtitle', is: 'blank' },
    ] as const
    for (const begin of [{}, { since: new Date(0) }]) {
      const found: string[] = []
      for await (const page of connector.scan('contacts', { ...begin, filter, limit: 12 }))
        found.push(...page.records.map(({ id }) => id))
      expect(found).toEqual(wanted.slice(0, 12))
    }
    const unknown = connector.scan('contacts', { filter: [{ property: 'lifecyclestages', is: 'filled' }] })
    expect(await thrown(unknown[Symbol.asyncIterator]().next())).toMatchObject({
      code: 'bad_filter',
      message: expect.stringContaining('near: lifecyclestage'),
    })
  })
})

describe('reading', () => {
  test('does not take a record that could not be read for one that is gone', async () => {
    const hubspot = await standIn()
    const ids = contacts(hubspot, 2)
    const connector = connect(hubspot)
    const failed = { status: 'error', category: 'INTERNAL_ERROR', message: 'x', context: { ids: [ids[1]] } }
    hubspot.faults.inject({
      kind: 'answer',
      status: 207,
      path: /batch\/read/,
      body: { status: 'COMPLETE', results: [], numErrors: 1, errors: [failed] },
    })
    expect(await thrown(connector.read('contacts', ids))).toMatchObject({ code: 'hubspot_read_failed' })
    hubspot.store.archive('contacts', ids[0]!)
    const read = await connector.read('contacts', [...ids, 'someone@norvik.com'])
    expect([...read.values()].map(({ state }) => state)).toEqual(['gone', 'present', 'gone'])
  })

  test('of associations answers the companies of contacts, the primary one marked', async () => {
    const hubspot = await standIn({ companies: 3 })
    const [first = '', second = ''] = contacts(hubspot, 8)
    const [company = '', other = ''] = [...hubspot.store.list('companies')].map(({ id }) => id)
    const loner = hubspot.store.add('contacts', { properties: { lastname: 'Meyer' } }).id
    const plain = hubspot.store.add('contacts', { properties: { lastname: 'Rossi' } }).id
    hubspot.store.associate(plain, company)
    hubspot.store.associate(plain, other)
    const found = await connect(hubspot).associations('contacts', 'companies', [loner, plain, first, second])
    expect([...found.keys()]).toEqual([loner, plain, first, second])
    expect(found.get(loner)).toEqual([])
    expect(found.get(plain)).toEqual([
      { id: company, primary: true },
      { id: other, primary: false },
    ])
    const back = await connect(hubspot).associations('companies', 'contacts', [company])
    expect(back.get(company)!.map(({ id }) => id)).toContain(plain)
  })
})
