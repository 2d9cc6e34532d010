import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { testSeed } from '../../../test/support/seed.ts'
import type { LookupKey } from '../keys.ts'
import { learnNames, lessonOf, type Lesson } from './taught-names.ts'

const hosts = ['profnet.com', 'profnet.example']
const url = (path: string) => `https://www.profnet.example/${path}`
const lesson = (key: string, answer: Record<string, unknown>) => lessonOf(key as LookupKey, answer, hosts)

describe('an answer teaches', () => {
  test('the URL asked, the URL answered and the ids of a person', () => {
    expect(
      lesson('contact.redeem|profnet.example/in/ada-l|phone', {
        profnet_url: url('in/Ada'),
        profnet_uid: '12',
        people_search_id: 'ps-1',
      }),
    ).toEqual({
      profile: 'profnet.com/in/ada',
      asked: 'profnet.com/in/ada-l',
      uid: 'uid:person:12',
      others: ['id:ps-1'],
    })
  })

  test('the number as a page of a company, and a domain that is its own', () => {
    const answer = { profnet_url: url('company/acme'), profnet_uid: 77, domain: 'www.acme.com' }
    expect(lesson('company.lookup|acme.com', { ...answer, unique_domain: 'acme.com' })).toEqual({
      profile: 'profnet.com/company/acme',
      asked: 'acme.com',
      uid: 'uid:company:77',
      others: ['profnet.com/company/77', 'acme.com'],
    })
    for (const own of [undefined, null, 'holding.com', 'gmail.com'])
      expect(lesson('company.profile|x', { ...answer, unique_domain: own })?.others).toEqual([
        'profnet.com/company/77',
      ])
    const mailbox = { ...answer, domain: 'gmail.com', unique_domain: 'gmail.com' }
    expect(lesson('company.profile|x', mailbox)?.others).toEqual(['profnet.com/company/77'])
  })

  test('the page and the id by which a company was asked for and answered', () => {
    const answer = { profnet_url: url('company/acme'), domain_search_id: 'ds-1' }
    expect(lesson('company.lookup|tiktok_url:tiktok.com/@acme', answer)).toEqual({
      profile: 'profnet.com/company/acme',
      asked: 'tiktok_url:tiktok.com/@acme',
      uid: undefined,
      others: ['domain_search_id:ds-1'],
    })
  })

  test('that a page belongs to nobody where two companies are answered for it', () => {
    const page = 'tiktok_url:tiktok.com/@acme'
    const of = (slug: string) =>
      lesson(`company.lookup|${page}`, { profnet_url: url(`company/${slug}`) }) as Lesson
    const names = learnNames(new Map(), [of('acme'), of('other')])
    expect(names.get(page)).toBeNull()
    expect(names.get('profnet.com/company/acme')).toBe('profnet.com/company/acme')
  })

  test('a page under an opaque id, but no page under the digits of a person, who may have chosen them', () => {
    const opaque = 'ACoAAB1x2y3Z4w5V6u7T8s9R0q'
    const others = (uid: string) =>
      lesson('person.profile|a', { profnet_url: url('in/a'), profnet_uid: uid })?.others
    expect(others(opaque)).toEqual([`profnet.com/in/${opaque}`])
    expect(others('4711')).toEqual([])
  })

  test.each([
    ['no URL', 'person.profile|a', { profnet_uid: '1' }],
    ['the URL of a company for a person', 'person.profile|a', { profnet_url: url('company/a') }],
    ['a logo', 'company.logo|acme.com', { profnet_url: url('company/a') }],
  ])('nothing with %s', (_, key, answer) => expect(lesson(key, answer)).toBeUndefined())

  test.each(['0', '000', '', ' ', 'a b', 'x\u0000', 'x'.repeat(600), '\ud800', {}, null, true])(
    'no id that is %j',
    (id) => {
      const told = lesson('person.profile|a', { profnet_url: url('in/a'), profnet_uid: id })
      expect(told).toMatchObject({ uid: undefined, others: [] })
    },
  )
})

/** `p1` is short for a profile. */
const long = (name: string) => (/[:./]/.test(name) ? name : `x/in/${name}`)
const short = (name: string) => name.replace(/^x\/in\//, '')
const of = (profile: string, more: Partial<Lesson> = {}): Lesson => ({
  others: [],
  ...more,
  profile: long(profile),
  asked: more.asked === undefined ? undefined : long(more.asked),
})
type Names = Map<string, string | null>
const shortened = (names: Names): Names =>
  new Map([...names].map(([name, subject]) => [short(name), subject === null ? null : short(subject)]))
const learned = (...lessons: Lesson[]) => shortened(learnNames(new Map(), lessons))
/** Returns the names that are known after one answer more. */
const further = (before: Names, lesson: Lesson) => {
  const known = new Map([...before].map(([name, to]) => [long(name), to === null ? null : long(to)]))
  return shortened(new Map([...known, ...learnNames(known, [lesson])]))
}

describe('two subjects are never joined', () => {
  test('by a name that two answers give to different profiles with other numbers', () => {
    const names = learned(of('p1', { asked: 'old', uid: 'uid:1' }), of('p2', { asked: 'old', uid: 'uid:2' }))
    expect([names.get('old'), names.get('p1'), names.get('p2')]).toEqual([null, 'p1', 'p2'])
  })

  test('by a number or an id that two profiles bear, when neither was asked for by the name of the other', () => {
    const names = learned(
      of('p1', { uid: 'uid:7', others: ['id:1'] }),
      of('p2', { uid: 'uid:7', others: ['id:1'] }),
    )
    expect([names.get('uid:7'), names.get('id:1'), names.get('p2')]).toEqual([null, null, 'p2'])
    // And it stays so, whoever answers later.
    expect(further(names, of('p1', { uid: 'uid:7', others: ['id:1'] }))).toEqual(names)
  })

  test('by a domain that two companies call their own, or that the service answers with two', () => {
    expect(learned(of('c1', { others: ['a.com'] }), of('c2', { others: ['a.com'] })).get('a.com')).toBeNull()
    expect(learned(of('c1', { others: ['a.com'] }), of('c2', { asked: 'a.com' })).get('a.com')).toBeNull()
  })

  test('when a profile was passed on: its names go to nobody', () => {
    const names = learned(of('p', { uid: 'uid:1', asked: 'q', others: ['id:1'] }), of('p', { uid: 'uid:2' }))
    expect(Object.fromEntries(names)).toEqual({
      p: 'p',
      q: null,
      'uid:1': null,
      'id:1': null,
      'uid:2': 'p',
    })
  })

  test('when a profile was passed on whose number another profile bears by now', () => {
    const renamed = [of('p', { uid: 'uid:1', others: ['id:1', 'a.com'] }), of('new', { uid: 'uid:1' })]
    const names = learned(...renamed, of('p', { uid: 'uid:2' }))
    expect([names.get('id:1'), names.get('a.com'), names.get('new')]).toEqual([null, null, 'new'])
    // The number of the new profile is remembered too.
    const again = further(further(names, of('new', { others: ['id:3'] })), of('new', { uid: 'uid:9' }))
    expect(again.get('id:3')).toBeNull()
  })

  test('when a name of another subject is taken by a new one, and that subject keeps its other names', () => {
    const first = learned(of('p', { asked: 'q', uid: 'uid:1' }))
    const then = further(first, of('q', { uid: 'uid:2' }))
    expect(Object.fromEntries(then)).toEqual({ p: 'p', q: 'q', 'uid:1': 'p', 'uid:2': 'q' })
  })
})

describe('one subject stays one', () => {
  test('when it was renamed, and is asked for by its name before', () => {
    const before = learned(of('p1', { uid: 'uid:1', others: ['id:1'] }))
    const after = further(before, of('p2', { asked: 'p1', uid: 'uid:1', others: ['id:1'] }))
    expect(new Set(after.values())).toEqual(new Set(['p2']))
  })

  test('when a search names it by another URL than its profile does', () => {
    const names = learned(of('match', { others: ['id:1'] }), of('p', { asked: 'match', uid: 'uid:1' }))
    expect(names).toEqual(new Map(['match', 'id:1', 'p', 'uid:1'].map((name) => [name, 'p'])))
  })

  test('and does not grow without end', () => {
    const names = learned(...Array.from({ length: 500 }, (_, at) => of('p', { others: [`id:${at}`] })))
    expect(names.size).toBeLessThan(80)
  })
})

test('with truthful answers in any order, all names of one subject are its own', () => {
  // Each of five people has a number, three URLs of which the last one is answered, and two ids of searches.
  const person = fc.integer({ min: 0, max: 4 })
  const told = fc.record({
    who: person,
    asked: fc.option(fc.integer({ min: 0, max: 2 })),
    tellsNumber: fc.boolean(),
    id: fc.option(fc.integer({ min: 0, max: 1 })),
    shared: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.array(told, { maxLength: 25 }), (answers) => {
      const lessons = answers.map(({ who, asked, tellsNumber, id, shared }) =>
        of(`${who}/in/url2`, {
          asked: asked === null ? undefined : `${who}/in/url${asked}`,
          uid: tellsNumber ? `uid:${who}` : undefined,
          others: [...(id === null ? [] : [`id:${who}-${id}`]), ...(shared ? ['shared.com'] : [])],
        }),
      )
      let names = new Map<string, string | null>()
      for (const each of lessons) names = new Map([...names, ...learnNames(names, [each])])
      expect(learnNames(new Map(), lessons)).toEqual(names)
      const whose = (name: string) => /^(?:uid:|id:)?(\d)/.exec(name)?.[1]
      for (const [name, subject] of names)
        if (subject !== null && name !== 'shared.com') expect(whose(name)).toBe(whose(subject))
      // Nothing that was told is lost: no answer disagreed with another but about what is shared.
      for (const { profile, asked, uid, others } of lessons)
        for (const name of [profile, asked, uid, ...others])
          if (name !== undefined && name !== 'shared.com') expect(names.get(name)).toBe(profile)
      const sharers = new Set(answers.flatMap(({ shared, who }) => (shared ? [who] : [])))
      if (sharers.size > 1) expect(names.get('shared.com')).toBeNull()
    }),
    { seed: testSeed(), numRuns: 500 },
  )
})
