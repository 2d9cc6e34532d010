import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { testSeed } from '../../test/support/seed.ts'
import { canonicalDomain, canonicalProfileUrl } from './keys.ts'
import type { ObjectKind } from './words.ts'

describe('a plain address is read as the URL parser reads it', () => {
  const label = fc.oneof(
    fc.stringMatching(/^[a-z0-9-]{1,8}$/),
    fc.constantFrom(
      'profnet',
      'com',
      'example',
      'www',
      'de',
      'xn--mnchen-3ya',
      'xn--a',
      '1',
      '0x7f',
      'ab--c',
      'A',
      'a'.repeat(64),
    ),
  )
  const host = fc.oneof(
    fc.constantFrom(
      'profnet.com',
      'www.profnet.com',
      'de.profnet.example',
      'members.guild.example',
      'guild.example',
    ),
    fc.array(label, { minLength: 1, maxLength: 5 }).map((labels) => labels.join('.')),
  )
  const scheme = fc.constantFrom('', 'http://', 'https://', 'HTTPS://', '//', 'ftp://')
  const params = { seed: testSeed(), numRuns: 2_000 }
  // White space around it keeps an address from the short way.
  const around = (text: string) => ` ${text} `

  test('as a profile, under any hosts of the network', () => {
    const path = fc.constantFrom('company', 'in', 'pub', 'Company', 'jobs')
    const name = fc.oneof(
      fc.stringMatching(/^[a-z0-9-]{1,8}$/),
      fc.constantFrom(
        'acme',
        '',
        'Acme',
        'a'.repeat(201),
        'a.b',
        '%41',
        'xn--a',
        'acme/jobs',
        'acme?x=1',
        'acme#x',
      ),
    )
    const hosts = fc.constantFrom(['profnet.com', 'profnet.example'], ['guild.example', 'profnet.com'])
    const kinds = fc.constantFrom<ObjectKind>('company', 'person')
    const address = fc.tuple(scheme, host, path, name, fc.constantFrom('', '/', '//'))
    fc.assert(
      fc.property(address, hosts, kinds, ([scheme, host, path, name, end], hosts, kind) => {
        const text = `${scheme}${host}/${path}/${name}${end}`
        expect(canonicalProfileUrl(kind, text, hosts)).toEqual(canonicalProfileUrl(kind, around(text), hosts))
      }),
      params,
    )
  })

  test('as a domain', () => {
    const end = fc.constantFrom('', '/', '//', '/x', '?x', '#x', '.', ':443', '\\')
    fc.assert(
      fc.property(fc.tuple(scheme, host, end), (parts) => {
        const text = parts.join('')
        expect(canonicalDomain(text)).toEqual(canonicalDomain(around(text)))
      }),
      params,
    )
  })

  test('a longer one is refused, however plain it is', () => {
    const long = `${'a.'.repeat(1_020)}profnet.com/in/jane`
    const reason = 'it has more than 2048 characters'
    expect(canonicalProfileUrl('person', long)).toEqual({ ok: false, reason })
    expect(canonicalProfileUrl('person', around(long))).toEqual({ ok: false, reason })
    // As long as a pattern cannot be matched against it.
    expect(canonicalProfileUrl('person', 'a.'.repeat(10_000_000))).toEqual({ ok: false, reason })
  })
})
