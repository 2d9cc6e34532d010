import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { defaultNetworkHosts, type LookupKey } from '../../src/domain/keys.ts'
import type { Identity } from '../../src/domain/record.ts'
import { companyAnswer } from '../../src/sandbox/data/company.ts'
import { searchIdOf } from '../../src/sandbox/data/contact-answer.ts'
import { contactsOf } from '../../src/sandbox/data/contacts.ts'
import { employersAt, type Member } from '../../src/sandbox/data/directory.ts'
import { profileKey } from '../../src/sandbox/data/profile-url.ts'
import { learnFromKeptAnswers } from '../../src/store/names/learn-kept-answers.ts'
import { eraseSubject } from '../../src/store/subjects/erase-subject.ts'
import { findSubject } from '../../src/store/subjects/find-subject.ts'
import { createSuppressionLedger } from '../../src/store/subjects/suppressions.ts'
import { sized } from '../support/full-size.ts'
import { testSeed } from '../support/seed.ts'
import { database, now, useLedger } from '../integration/ledger.fixture.ts'
import { atUrl, byName, openEnricher, somebody } from '../integration/taught-names.fixture.ts'

// Answers teach names: whoever asks by any name of a subject meets the answer that was paid for under another.

useLedger()

describe('a person', () => {
  test('who is asked for by an earlier name is met under the current one, and the other way round', async () => {
    const { enrich, bought } = await openEnricher()
    const one = somebody()
    await enrich('person', atUrl(`in/formerly-${one.slug}`), 'full')
    const before = bought.length
    await enrich('person', atUrl(`in/${one.slug}`), 'full')
    await enrich('person', atUrl(`in/formerly-${one.slug}`), 'contact')
    await enrich('person', byName(one), 'profile')
    expect(bought).toHaveLength(before)
    expect(new Set(bought.map(({ fact }) => fact)).size).toBe(before)
  })

  test('whom a search found is met by the id of the search and by the profile', async () => {
    const { enrich, bought, lookups, run, connector } = await openEnricher()
    const one = somebody()
    await enrich('person', byName(one), 'contact')
    const key = `contact.redeem|id:${searchIdOf(one.slug)}|phone` as LookupKey
    const byId = { key, operation: 'contact.redeem' as const, request: {} }
    await lookups.want([byId], { id: run.id, connector, hot: false })
    expect(await lookups.get(key)).toMatchObject({ state: 'answered' })
    await enrich('person', atUrl(`in/${one.slug}`), 'contact')
    expect(bought.map(({ wanted }) => wanted.operation)).toEqual([
      'contact.lookup',
      'contact.redeem',
      'contact.redeem',
    ])
  })

  test('is suppressed and forgotten under all names', async () => {
    const { enrich } = await openEnricher()
    const one = somebody()
    await enrich('person', atUrl(`in/formerly-${one.slug}`), 'full')
    const profile = (slug: string) => [{ kind: 'profile_url' as const, value: `profnet.example/in/${slug}` }]
    const suppressions = createSuppressionLedger(database.db, { now, salt: async () => 'salt' })
    await suppressions.add(profile(one.slug))
    const asked = [profile(`formerly-${one.slug}`), profile(one.slug), profile('else')]
    expect(await suppressions.match(asked)).toEqual(new Set([0, 1]))

    const { db } = database
    const subject = await findSubject(db, profile(one.slug))
    expect(subject.lookups).toContain(`person.profile|profnet.com/in/formerly-${one.slug}`)
    expect(subject.lookups).toContain(`contact.redeem|profnet.com/in/${one.slug}|phone`)
    await eraseSubject(db, subject, { now, token: randomUUID })
    for (const [table, column] of [
      ['subject_names', 'name'],
      ['lookups', 'key'],
    ] as const) {
      const rows = await db.selectFrom(table).select(column).where(column, 'like', `%${one.slug}%`).execute()
      expect(rows).toEqual([])
    }
  })
})

describe('a company', () => {
  const isAlone = ({ employer }: Member) => employersAt(employer.domain).length === 1
  const isOneOfTwo = ({ employer }: Member) => employersAt(employer.domain).length === 2

  test('is one by profile, earlier name, number and domain, whatever is asked first', async () => {
    for (const first of [0, 1, 2, 3]) {
      const { enrich, bought } = await openEnricher()
      const { slug, domain } = somebody(isAlone).employer
      const url = (name: string) => atUrl(`company/${name}`)
      const number = String(companyAnswer(`https://www.profnet.example/company/${slug}`).data?.profnet_uid)
      const ways: Identity[] = [url(slug), url(`formerly-${slug}`), url(number), { domain }]
      await enrich('company', ways[first] as Identity, 'contact')
      expect(bought).toHaveLength(1)
      // The earlier name is known only where it was asked for.
      for (const way of first === 1 ? ways : ways.toSpliced(1, 1)) await enrich('company', way, 'contact')
      expect(bought).toHaveLength(1)
    }
  })

  test('that shares its domain with another is not taken for it', async () => {
    const { enrich, bought } = await openEnricher()
    const [main, holding] = employersAt(somebody(isOneOfTwo).employer.domain)
    await enrich('company', atUrl(`company/${holding?.slug}`), 'profile')
    const { facts } = await enrich('company', { domain: String(main?.domain) }, 'contact')
    expect(bought).toHaveLength(2)
    expect(facts.get(`company.lookup|${main?.domain}` as LookupKey)?.data).toMatchObject({
      profnet_name: main?.slug,
    })
  })

  test('is suppressed by its profile where only its domain is asked for, and its people are not', async () => {
    const { enrich } = await openEnricher()
    const { slug, domain } = somebody(isAlone).employer
    await enrich('company', { domain }, 'contact')
    const suppressions = createSuppressionLedger(database.db, { now, salt: async () => 'salt' })
    await suppressions.add([{ kind: 'profile_url', value: `profnet.com/company/${slug}` }])
    const asked = { kind: 'domain' as const, value: domain }
    expect(await suppressions.match([[{ ...asked, isCompany: true }], [asked]])).toEqual(new Set([0]))
    const subject = await findSubject(database.db, [
      { kind: 'profile_url', value: `profnet.com/company/${slug}` },
    ])
    expect(subject.lookups).toContain(`company.lookup|${domain}`)
  })
})

test('the answers of an older version teach their names once, page by page', async () => {
  const { enrich, bought } = await openEnricher()
  const one = somebody()
  await enrich('person', atUrl(`in/formerly-${one.slug}`), 'full')
  const before = bought.length
  const { db } = database
  const names = () => db.selectFrom('subject_names').select(['name', 'subject']).orderBy('name').execute()
  const known = await names()
  // As an older version leaves it.
  await db.deleteFrom('subject_names').execute()
  await db.deleteFrom('meta').where('key', '=', 'names_learned').execute()
  const hosts = defaultNetworkHosts
  expect(await learnFromKeptAnswers(db, { hosts, now })).toBeGreaterThan(0)
  const ofOne = (rows: typeof known) => rows.filter(({ subject }) => subject?.endsWith(`/${one.slug}`))
  expect(ofOne(await names())).toEqual(ofOne(known))
  await enrich('person', atUrl(`in/${one.slug}`), 'full')
  expect(bought).toHaveLength(before)
  expect(await learnFromKeptAnswers(db, { hosts, now })).toBe(0)
})

test('any sequence of recipes over any spellings buys each fact once', async () => {
  const way = fc.integer({ min: 0, max: 6 })
  const record = fc.record({
    who: fc.integer({ min: 0, max: 1 }),
    isCompany: fc.boolean(),
    way,
    recipe: fc.constantFrom('profile', 'contact', 'full'),
  })
  let inAll = 0
  await fc.assert(
    fc.asyncProperty(fc.array(record, { minLength: 2, maxLength: 6 }), async (records) => {
      const { enrich, bought } = await openEnricher()
      const two = [somebody(), somebody()]
      /** The names that an answer has told of: a subject that is asked for by another one cannot be known by it yet. */
      const told = new Set<string>()
      for (const { who, isCompany, way: spelling, recipe } of records) {
        const one = two[who] as Member
        const slug = isCompany ? one.employer.slug : one.slug
        const path = (name: string) => `${isCompany ? 'company' : 'in'}/${name}`
        const written = [
          `https://www.profnet.com/${path(slug)}`,
          `profnet.example/${path(slug)}/`,
          `HTTPS://DE.Profnet.Example/${path(slug.toUpperCase())}?trk=1`,
          `https://m.profnet.com//${path(slug)}/about`,
          `https://www.profnet.com/${path(`formerly-${slug}`)}`,
        ][spelling]
        const identity: Identity =
          written === undefined
            ? isCompany
              ? { domain: one.employer.domain }
              : spelling === 5
                ? byName(one)
                : { email: String(contactsOf(one.slug).emails[0]?.value) }
            : { profileUrl: written }
        const before = bought.length
        const { facts } = await enrich(isCompany ? 'company' : 'person', identity, recipe)
        for (const { fact, wanted } of bought.slice(before)) {
          const asked = `${wanted.operation} ${wanted.key.slice(wanted.key.indexOf('|') + 1)}`
          const isShared = employersAt(one.employer.domain).length > 1
          const isUntold = /formerly-/.test(asked) || (isShared && wanted.operation === 'company.lookup')
          // Once, but for the first question by a name that nobody had told of.
          const times = bought.filter((each) => each.fact === fact)
          if (times.length > 1) expect([fact, isUntold && !told.has(asked)]).toEqual([fact, true])
          told.add(asked)
        }
        // And no answer is another's.
        for (const [key, { data, operation }] of facts) {
          const url = data?.['profnet_url']
          if (typeof url !== 'string') continue
          if (operation === 'person.profile' || operation === 'contact.redeem')
            expect([key, profileKey('person', url)]).toEqual([key, `in/${one.slug}`])
          if (isCompany && operation === 'company.profile')
            expect([key, profileKey('company', url)]).toEqual([key, `company/${slug}`])
        }
      }
      inAll += bought.length
    }),
    { seed: testSeed(), numRuns: sized(40, 6) },
  )
  expect(inAll).toBeGreaterThan(0)
})
