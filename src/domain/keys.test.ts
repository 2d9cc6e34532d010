import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { testSeed } from '../../test/support/seed.ts'
import {
  canonicalDomain,
  canonicalProfileUrl,
  lookupKey,
  networkHostsOf,
  profileUrlOf,
  underAllHosts,
} from './keys.ts'
import type { ObjectKind } from './words.ts'

const valueOf = (kind: ObjectKind, raw: string) => {
  const canonical = canonicalProfileUrl(kind, raw)
  if (!canonical.ok) throw new Error(`${raw}: ${canonical.reason}`)
  return canonical.value
}

describe('a profile URL, however it is written', () => {
  test.each<[kind: ObjectKind, canonical: string, spellings: string[]]>([
    [
      'company',
      'profnet.com/company/acme-robotics',
      [
        'https://www.profnet.example/company/acme-robotics',
        'http://profnet.example/company/acme-robotics/',
        'HTTPS://WWW.PROFNET.EXAMPLE/Company/ACME-Robotics',
        'profnet.example/company/acme-robotics',
        '//www.profnet.example/company/acme-robotics',
        'www.profnet.example/company/acme-robotics?trk=abc&x=%20',
        'https://de.profnet.example/company/acme-robotics#people',
        'https://m.profnet.example/company/acme-robotics/about/',
        'https://mobile.profnet.example//company//acme-robotics//',
        '  https://uk.profnet.example/company/acme-robotics\t',
        '<https://www.profnet.example/company/acme-robotics>',
        'https://www.profnet.example/company/acme%2Drobotics',
        'https://www.profnet.example:443/company/acme-robotics/posts/?feedView=all',
        'https://www.profnet.com/company/acme-robotics',
        'https://touch.fr-ca.profnet.com/company/acme-robotics',
      ],
    ],
    [
      'company',
      'profnet.com/company/société-générale',
      [
        'https://www.profnet.example/company/soci%C3%A9t%C3%A9-g%C3%A9n%C3%A9rale/',
        'https://fr.profnet.example/company/société-générale',
        // The accents as marks of their own.
        'https://www.profnet.example/company/socie\u0301te\u0301-ge\u0301ne\u0301rale',
        'https://www.profnet.example/company/SOCI%c3%89T%c3%89-g%c3%a9n%c3%a9rale',
      ],
    ],
    [
      'company',
      'profnet.com/company/株式会社-青空',
      [
        'https://jp.profnet.example/company/株式会社-青空',
        'https://www.profnet.example/company/%E6%A0%AA%E5%BC%8F%E4%BC%9A%E7%A4%BE-%E9%9D%92%E7%A9%BA/',
      ],
    ],
    [
      'person',
      'profnet.com/in/ada-moreau-1815',
      [
        'https://www.profnet.example/in/ada-moreau-1815',
        'profnet.example/IN/Ada-Moreau-1815/?originalSubdomain=fr',
        'https://fr.profnet.example/in/ada-moreau-1815/details/experience/',
      ],
    ],
    [
      'person',
      'profnet.com/pub/jane-doe/1/2b/3c4',
      [
        'http://www.profnet.example/pub/jane-doe/1/2b/3c4',
        'https://profnet.example/PUB/Jane-Doe/1/2B/3C4/',
        'https://www.profnet.example/pub/jane-doe/1/2b/3c4/en?x=1',
      ],
    ],
    [
      'person',
      'profnet.com/in/ACoAAB1x2y3Z4w5V6u7T8s9R0q',
      ['https://www.profnet.example/in/ACoAAB1x2y3Z4w5V6u7T8s9R0q?mini=true'],
    ],
    // A network with a name of two letters is no country.
    [
      'company',
      'pn.example/company/acme',
      ['https://pn.example/company/acme', 'www.pn.example/company/acme'],
    ],
  ])('of a %s is one key: %s', (kind, canonical, spellings) => {
    for (const spelling of spellings)
      expect(canonicalProfileUrl(kind, spelling)).toEqual({ ok: true, value: canonical })
  })

  test('keeps different profiles apart', () => {
    const different = [
      'https://profnet.example/in/ACoAAB1x2y3Z4w5V6u7T8s9R0q',
      'https://profnet.example/in/ACoAAB1X2y3Z4w5V6u7T8s9R0q',
      'https://profnet.example/in/ada-moreau',
      'https://profnet.example/pub/ada-moreau',
      'https://profnet.example/pub/ada-moreau/1/2b/3c4',
      'https://profnet.example/pub/ada-moreau/1/2b/3c5',
      'https://other.example/in/ada-moreau',
      'https://notprofnet.com/in/ada-moreau',
      'https://profnet.com.other.example/in/ada-moreau',
    ]
    expect(new Set(different.map((url) => valueOf('person', url))).size).toBe(different.length)
  })

  test.each<[kind: ObjectKind, raw: string, reason: string]>([
    ['company', '', 'empty'],
    ['company', '   ', 'empty'],
    ['company', 'not a url', 'white space'],
    ['company', 'http://', 'not a URL'],
    ['company', 'acme', 'no host name'],
    ['company', 'n/a', 'no host name'],
    ['company', 'ftp://profnet.example/company/acme', 'scheme is ftp:'],
    ['company', 'mailto://x@profnet.example/company/acme', 'scheme is mailto:'],
    ['company', 'https://profnet.example/', 'no /company/'],
    ['company', 'https://profnet.example/company/', 'no name'],
    ['company', 'https://profnet.example/company/%20', 'no name'],
    ['company', 'https://profnet.example/in/ada', 'profile of a person'],
    ['company', 'https://profnet.example/school/mit', '/school/ page'],
    ['company', 'https://profnet.example/showcase/x', '/showcase/ page'],
    ['company', 'https://profnet.example/company/%E0%A4%A', 'percent-encoded'],
    // Sent as they are decoded, these would ask for another profile.
    ['person', 'https://profnet.example/in/ada%2Fmoreau', 'percent-encoded'],
    ['company', 'https://profnet.example/company/acme%3Fx', 'percent-encoded'],
    ['company', 'https://profnet.example/company/acme%23x', 'percent-encoded'],
    ['company', 'https:///company/acme', 'no host name'],
    ['person', 'https://profnet.example/company/acme', 'profile of a company'],
    ['person', 'https://profnet.example/jobs/view/12', '/jobs/ page'],
    ['person', 'https://profnet.example/pub/', 'no name'],
    ['person', 'https://[::1]/in/ada', 'no host name'],
  ])('of a %s that is %j is refused: %s', (kind, raw, reason) => {
    expect(canonicalProfileUrl(kind, raw)).toEqual({ ok: false, reason: expect.stringContaining(reason) })
  })
})

describe('for any slug', () => {
  const slug = fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 30 })
    .map((text) => text.trim().replace(/[\s/\\?#%]/gu, '-'))
    .filter((text) => text !== '' && !/^\.{1,2}$/.test(text) && text.isWellFormed())
  const kinds = fc.constantFrom<ObjectKind>('company', 'person')
  const segment = { company: 'company', person: 'in' }
  const params = { seed: testSeed(), numRuns: 500 }

  test('the URL sent to the service and the canonical form have the same key', () => {
    fc.assert(
      fc.property(kinds, slug, (kind, name) => {
        const once = canonicalProfileUrl(
          kind,
          `https://www.profnet.example/${segment[kind]}/${encodeURIComponent(name)}`,
        )
        fc.pre(once.ok)
        if (!once.ok) return
        expect(canonicalProfileUrl(kind, once.value)).toEqual(once)
        const url = profileUrlOf(once.value)
        expect(canonicalProfileUrl(kind, url)).toEqual(once)
        // As the endpoints ask: a fully formed URL with the segment in it.
        expect(new URL(url).href).toBe(url)
        expect(url).toContain(`/${segment[kind]}/`)
      }),
      params,
    )
  })

  test('every way to write it is one key', () => {
    const writing = fc.record({
      scheme: fc.constantFrom('https://', 'http://', 'HTTPS://', '//', ''),
      subdomain: fc.constantFrom('', 'www.', 'WWW.', 'de.', 'm.', 'mobile.', 'uk.', 'www.de.'),
      host: fc.constantFrom('profnet.example', 'Profnet.Example', 'PROFNET.COM', 'profnet.com'),
      encode: fc.constantFrom(
        encodeURIComponent,
        (text: string) => text,
        (text: string) => encodeURIComponent(text).replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
      ),
      upper: fc.boolean(),
      tail: fc.constantFrom('', '/', '//', '/about/', '?trk=1', '/?a=b', '#x', '/#x'),
      around: fc.constantFrom('', ' ', '\n'),
    })
    const name = fc.stringMatching(/^[a-zéøß0-9東京ж][a-zé0-9東京ж-]{0,20}$/)
    fc.assert(
      fc.property(
        kinds,
        name,
        writing,
        (kind, plain, { scheme, subdomain, host, encode, upper, tail, around }) => {
          // Not every letter comes back from its capital (ß): those are left as they are.
          const cased = upper && plain.toUpperCase().toLowerCase() === plain ? plain.toUpperCase() : plain
          const written = `${around}${scheme}${subdomain}${host}/${segment[kind]}/${encode(cased)}${tail}${around}`
          expect(valueOf(kind, written)).toBe(`profnet.com/${segment[kind]}/${plain}`)
        },
      ),
      params,
    )
  })

  test('reading never throws for any text', () => {
    fc.assert(
      fc.property(kinds, fc.string({ unit: 'binary', maxLength: 40 }), (kind, text) => {
        expect(typeof canonicalProfileUrl(kind, text).ok).toBe('boolean')
        expect(typeof canonicalDomain(text).ok).toBe('boolean')
      }),
      params,
    )
  })
})

describe('the hosts of a network', () => {
  const guild = ['guild.net', 'guild.example']
  const valueUnder = (url: string) => canonicalProfileUrl('person', url, guild)

  test('are those that are given, and the first one stands for all', () => {
    for (const url of ['https://de.guild.example/in/ada', 'guild.net/in/Ada/'])
      expect(valueUnder(url)).toEqual({ ok: true, value: 'guild.net/in/ada' })
    expect(valueUnder('https://www.profnet.com/in/ada')).toEqual({ ok: true, value: 'profnet.com/in/ada' })
    expect(underAllHosts('guild.example/in/ada', guild)).toEqual(['guild.net/in/ada', 'guild.example/in/ada'])
    for (const name of ['other.example/in/ada', 'acme.example', 'id:ps-1'])
      expect(underAllHosts(name, guild)).toEqual([name])
  })

  test('follow the word of the network where no others are given', () => {
    expect(networkHostsOf('profnet')).toEqual(['profnet.com', 'profnet.example'])
    expect(networkHostsOf('guild').slice(0, 2)).toEqual(['guild.com', 'guild.example'])
  })
})

describe('a domain', () => {
  test.each([
    ['acme.example', 'acme.example'],
    ['WWW.Acme.Example', 'acme.example'],
    ['https://www.acme.example/about?x=1', 'acme.example'],
    ['http://acme.example:8080', 'acme.example'],
    ['//shop.acme.example/', 'shop.acme.example'],
    [' münchen.example ', 'xn--mnchen-3ya.example'],
    // The rest has to be a domain too.
    ['www.example', 'www.example'],
  ])('%j is %s', (raw, value) => {
    expect(canonicalDomain(raw)).toEqual({ ok: true, value })
    expect(canonicalDomain(value)).toEqual({ ok: true, value })
  })

  test.each(['', ' ', 'acme', 'no domain', 'http://', '[::1]'])('%j is none', (raw) => {
    expect(canonicalDomain(raw).ok).toBe(false)
  })
})

test('a key names the operation, so that two operations on one profile are two lookups', () => {
  expect(lookupKey('company.profile', 'a/b')).not.toBe(lookupKey('company.logo', 'a/b'))
})

test('slashes are dropped in front of a domain, and nowhere else', () => {
  expect(canonicalDomain('//acme.example')).toEqual({ ok: true, value: 'acme.example' })
  expect(canonicalDomain('acme.example//x')).toEqual({ ok: true, value: 'acme.example' })
})

test('only an opaque id keeps its case', () => {
  const id = 'ACoAAbCdEfGhIjKlMnOpQrStUv'
  const pathOf = (slug: string) => canonicalProfileUrl('person', `https://profnet.example/in/${slug}`)
  expect(pathOf(id)).toMatchObject({ value: `profnet.com/in/${id}` })
  for (const name of [`x${id}`, `${id}.Y`, id.slice(0, 22), 'ACxAAbCdEfGhIjKlMnOpQrStUv'])
    expect(pathOf(name)).toMatchObject({ value: `profnet.com/in/${name.toLowerCase()}` })
})

test.each(['%00', '%1B%5B2J', '\u0000', '%C2%85'])(
  'a name with the control character %j is refused',
  (part) => {
    const refused = canonicalProfileUrl('company', `https://www.profnet.com/company/acme${part}`)
    expect(refused).toMatchObject({ ok: false })
  },
)

test('a URL of 100 kB is refused at once', () => {
  expect(canonicalProfileUrl('company', `https://www.profnet.com/company/${'a'.repeat(100_000)}`)).toEqual({
    ok: false,
    reason: 'it has more than 2048 characters',
  })
})
