import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { testSeed } from '../../../test/support/seed.ts'
import { fieldNames } from '../fields.ts'
import type { FieldValue } from '../record.ts'
import { objectKinds } from '../words.ts'
import { checkValue } from './check-value.ts'
import { kindOf, mayBeCut, type ValueKind } from './kinds.ts'

describe('a value of its kind is taken', () => {
  test.each<[ValueKind, FieldValue, FieldValue]>([
    ['url', ' https://acme.example/a?b=c#d ', 'https://acme.example/a?b=c#d'],
    ['url', 'acme.example', 'acme.example'],
    ['url', 'acme.example:8080/x', 'acme.example:8080/x'],
    ['url', 'https://bücher.example/ä', 'https://bücher.example/ä'],
    ['company_profile', 'https://profnet.example/company/acme', 'https://profnet.example/company/acme'],
    ['person_profile', 'https://profnet.example/in/ada', 'https://profnet.example/in/ada'],
    ['domain', 'Acme.example', 'Acme.example'],
    ['domain', 'bücher.example', 'bücher.example'],
    ['domain', 'https://www.acme.example/about', 'acme.example'],
    ['email', 'Ada@Acme.example', 'ada@acme.example'],
    ['email', 'ada@3.14.example', 'ada@3.14.example'],
    ['email', `${'x'.repeat(241)}@acme.example`, `${'x'.repeat(241)}@acme.example`],
    ['url', 'https://3.14.example', 'https://3.14.example'],
    ['url', 'https://acme.example/%2e?a=%20', 'https://acme.example/%2e?a=%20'],
    ['phone', '+49 30 901820 ext. 12', '+4930901820 ext. 12'],
    ['country', 'fr', 'FR'],
    ['country', 'Germany', 'DE'],
    ['year', 1998, 1998],
    ['year', '1998', 1998],
    ['count', 0, 0],
    ['count', -0, 0],
    ['count', '12,000', 12_000],
    ['count', '1.234.567', 1_234_567],
    ['change', -12, -12],
    ['score', 41.25, 41.25],
    ['score', '-0.5', -0.5],
    ['date', '2026-11-22T23:30:00-05:00', '2026-11-23'],
    ['datetime', '2026-11-22', '2026-11-22T00:00:00.000Z'],
    ['flag', 'No', false],
    ['flag', true, true],
    ['label', ' Acme ', 'Acme'],
    ['text', 'one\n\ttwo', 'one\n\ttwo'],
  ])('%s %j', (kind, raw, value) => {
    expect(checkValue(kind, raw)).toEqual({ ok: true, value })
    expect(checkValue(kind, value)).toEqual({ ok: true, value })
  })
})

describe('a value of another kind is refused', () => {
  test.each<[ValueKind, FieldValue]>([
    ['url', 'javascript:alert(4)'],
    ['url', 'JavaScript://acme.example/%0aalert(4)'],
    ['url', 'data:text/html,<script>'],
    ['url', 'ftp://acme.example'],
    ['url', 'file:///etc/passwd'],
    ['url', 'mailto:ada@acme.example'],
    ['url', 'https://acme.example@evil.example'],
    ['url', 'https://acme.example/"><script>'],
    ['url', 'https://acme.example/\u0000'],
    ['url', 'https:///acme.example'],
    ['url', 'https://localhost'],
    ['url', 'Acme Inc'],
    ['url', '0'],
    ['url', `https://acme.example/${'a'.repeat(3_000)}`],
    ['url', '3.14'],
    ['url', '1.000'],
    ['url', '３．１４'],
    ['url', 'n.a'],
    ['url', 'https://127.0.0.1'],
    ['url', 'http://169.254.169.254/latest'],
    ['url', 'http://0x7f.1/'],
    ['url', 'https://[::1]/'],
    ['url', 'https://acme%2eexample/'],
    ['url', 'https://acme.example/\u202egnp.exe'],
    ['url', 'https://ac\u200bme.example'],
    ['company_profile', 'https://3.14/company/acme'],
    ['company_profile', 'https://profnet.example/company/ac\u202eme'],
    ['company_profile', 'https://profnet.example/in/ada'],
    ['company_profile', 'javascript://profnet.example/company/acme'],
    ['company_profile', 'https://profnet.example/company/%00'],
    ['person_profile', 'https://profnet.example/company/acme'],
    ['domain', 'evil.example"><script>'],
    ['domain', 'co.uk'],
    ['domain', '127.0.0.1'],
    ['domain', 'n/a'],
    ['domain', 'ac\u200bme.example'],
    ['email', 'ada'],
    ['email', 'ada@acme'],
    ['email', 'ada@3.14'],
    ['email', 'ada@127.0.0.1'],
    ['email', 'ada@n.a'],
    ['email', 'ada@acme%2eexample'],
    ['email', 'a\u202egpj@acme.example'],
    ['email', 'ada@acme.exam\u200bple'],
    ['email', `${'x'.repeat(242)}@acme.example`],
    ['phone', '12'],
    ['country', 'Atlantis'],
    ['country', 'n/a'],
    ['year', -1e300],
    ['year', 1998.5],
    ['year', 12],
    ['year', 20_260],
    ['year', 'circa 1998'],
    ['year', true],
    ['count', -1],
    ['count', 1e30],
    ['count', 12.5],
    ['count', '1.000'],
    ['count', 'many'],
    ['change', 1.5],
    ['score', 'high'],
    ['date', '03/04/2026'],
    ['date', '2026-02-30'],
    ['datetime', 'yesterday'],
    ['flag', 'perhaps'],
    ['label', 'a\u0000b'],
    ['label', 'a\ud800b'],
    ['label', '\u001b[31mred'],
    ['label', 'a'.repeat(1_001)],
    ['text', 'a'.repeat(200_001)],
  ])('%s %j', (kind, raw) => {
    const refused = checkValue(kind, raw)
    expect(refused).toEqual({ ok: false, reason: expect.stringMatching(/./) })
    if (String(raw).length > 2) expect(refused.ok === false && refused.reason).not.toContain(String(raw))
  })
})

test('a checked value passes the check again as it is', () => {
  const kinds = new Set(
    objectKinds.flatMap((object) => fieldNames(object).map((name) => kindOf(object, name))),
  )
  const raw = fc.oneof(
    fc.webUrl(),
    fc.domain(),
    fc.emailAddress(),
    fc.string({ unit: 'binary' }),
    fc.integer(),
    fc.double(),
  )
  const isStable = (kind: ValueKind, value: FieldValue) => {
    const once = checkValue(kind, value)
    if (once.ok) expect(checkValue(kind, once.value)).toEqual(once)
  }
  const property = fc.property(fc.constantFrom(...kinds), raw, isStable)
  expect(() => fc.assert(property, { seed: testSeed(), numRuns: 500 })).not.toThrow()
})

test('every field whose name says what it is has that kind', () => {
  const telling = /url|website|domain|email|phone|country_code|logo|year|employees|followers$/
  const loose = objectKinds.flatMap((object) =>
    fieldNames(object).filter((name) => telling.test(name) && mayBeCut(kindOf(object, name))),
  )
  expect(loose).toEqual([])
})
