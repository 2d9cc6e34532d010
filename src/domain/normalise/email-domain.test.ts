import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { testSeed } from '../../../test/support/seed.ts'
import { bareHost, canonicalUrl, registrableDomain } from './domain.ts'
import { canonicalEmail, companyDomainOf, isPersonalMailDomain } from './email.ts'

describe('an e-mail address', () => {
  test.each([
    ['Ada.Moreau@Acme.EXAMPLE', 'ada.moreau@acme.example'],
    [' mailto:ada@acme.example?subject=Hi ', 'ada@acme.example'],
    ['Ada Moreau <ada@acme.example>', 'ada@acme.example'],
    ['ada@münchen.example', 'ada@xn--mnchen-3ya.example'],
    ['ada@acme.example.', 'ada@acme.example'],
    // The provider alone decides what dots and tags mean.
    ['a.d.a+crm@gmail.com', 'a.d.a+crm@gmail.com'],
    ['ADA@xn--mnchen-3ya.example', 'ada@xn--mnchen-3ya.example'],
  ])('%j is %s', (raw, value) => {
    expect(canonicalEmail(raw)).toEqual({ ok: true, value })
    expect(canonicalEmail(value)).toEqual({ ok: true, value })
  })

  test.each([
    '',
    ' ',
    'ada',
    '@acme.example',
    '<ada@acme.example> and more',
    'ada@',
    'ada@acme',
    'ada @acme.example',
    'a@b@c.example',
    'ada@acme.example, bob@acme.example',
    'ada@[::1]',
    'ada@host:80.example',
    'ada@3.14',
    'ada@169.254.169.254',
    'a\u202eda@acme.example',
    `${'x'.repeat(242)}@acme.example`,
  ])('%j is none', (raw) => expect(canonicalEmail(raw).ok).toBe(false))

  test('of a company gives its domain, one of a provider gives none', () => {
    expect(companyDomainOf('ada@mail.acme.co.uk')).toBe('acme.co.uk')
    for (const provider of [
      'gmail.com',
      'GoogleMail.com',
      'yahoo.co.uk',
      'yahoo.fr',
      'outlook.com',
      'qq.com',
      'web.de',
      'hotmail.com.tr',
    ])
      expect([provider, isPersonalMailDomain(provider), companyDomainOf(`ada@${provider}`)]).toEqual([
        provider,
        true,
        undefined,
      ])
    for (const company of ['gmail.example', 'live.acme.com', 'yahoo-inc.com', 'free.com'])
      expect([company, isPersonalMailDomain(company)]).toEqual([company, false])
  })
})

describe('a domain', () => {
  test.each([
    ['https://www.Acme.co.uk/about?x=1', 'acme.co.uk'],
    ['shop.acme.co.uk', 'acme.co.uk'],
    ['acme.github.io', 'acme.github.io'],
    ['www.acme.github.io', 'acme.github.io'],
    ['//de.acme.example:8080/', 'acme.example'],
    ['münchen.example', 'xn--mnchen-3ya.example'],
    ['ＡＣＭＥ.com', 'acme.com'],
    ['acme.com.', 'acme.com'],
    ['city.kawasaki.jp', 'city.kawasaki.jp'],
  ])('%j is registered as %s', (raw, value) => {
    expect(registrableDomain(raw)).toEqual({ ok: true, value })
    expect(registrableDomain(value)).toEqual({ ok: true, value })
  })

  test.each(['', 'acme', 'co.uk', 'http://', '10.0.0.1', '[::1]', 'no domain', 'ada@acme.example', 'n/a'])(
    '%j is none',
    (raw) => expect(registrableDomain(raw).ok).toBe(false),
  )

  test('a host is the one that the URL parser reads, also where it is read without it', () => {
    const label = fc.string({ unit: fc.constantFrom(...'abzABZ019-'), minLength: 1, maxLength: 70 })
    const odd = fc.constantFrom('xn--mnchen-3ya', 'xn--a', 'XN--', '0x7f', '1', 'com', 'www', 'www2', '-', '')
    const host = fc.array(fc.oneof(label, odd), { minLength: 1, maxLength: 5 }).map((all) => all.join('.'))
    const end = fc.constantFrom('', '/', '/x?y', '?x', '#x', '.', '\\x', '/xn--')
    fc.assert(
      fc.property(host, end, fc.constantFrom('', 'https://', 'HTTP://', '//'), (name, rest, scheme) => {
        // A port of its own leaves it to the parser.
        const parsed = bareHost(`https://${name}:443/`)
        expect([name, bareHost(`${scheme}${name}${rest}`)]).toEqual([name, parsed])
      }),
      { numRuns: 500, seed: testSeed() },
    )
  })

  test('a host and an address drop insignificant parts', () => {
    expect(bareHost('HTTP://www.shop.acme.example:80/x')).toBe('shop.acme.example')
    expect(canonicalUrl('http://WWW.acme.example/De/?utm_source=a&b=2&a=1#top')).toBe(
      'acme.example/De?a=1&b=2',
    )
    expect(canonicalUrl('https://acme.example/De?a=1&b=2')).toBe('acme.example/De?a=1&b=2')
    expect(canonicalUrl('acme.example/?b=1&a=2&a=1')).toBe('acme.example?a=2&a=1&b=1')
    expect(canonicalUrl('<https://acme.example/De>')).toBe('acme.example/De')
    expect(canonicalUrl('//acme.example//a<b')).toBe('acme.example//a<b')
    expect(canonicalUrl('acme.example:8080/%zz/')).toBe('acme.example:8080/%zz')
    expect(canonicalUrl('no address')).toBeUndefined()
  })
})
