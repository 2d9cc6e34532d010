import { expect, test } from 'vitest'
import type { CurrentRecord } from '../domain/field-policy/current-record.ts'
import type { Identity } from '../domain/record.ts'
import type { Connector } from './connector.ts'
import { gated } from './gate.ts'

const poison: [string, Identity][] = [
  ['company', { company: 'Acme\u0000' }],
  ['company', { company: '\ud800' }],
  ['company', { company: 'a'.repeat(1_001) }],
  ['profile URL', { profileUrl: `https://profnet.example/company/${'a'.repeat(3_000)}` }],
  ['domain', { domain: '\u001b[31m' }],
  ['e-mail', { email: `${'a'.repeat(100_000)}@acme.example` }],
  ['phone', { phone: '1'.repeat(251) }],
  ['first name', { firstName: 'A\u0007' }],
  ['last name', { lastName: '\udc00' }],
]

function source(identities: readonly Identity[], current: readonly CurrentRecord[] = []): Connector {
  return gated({
    async *scan() {
      const records = identities.map((identity, at) => ({
        id: String(at),
        object: 'company' as const,
        identity,
      }))
      yield { records, watermark: 'w', ownWrites: new Set(['1']) }
    },
    read: async () => new Map(current.map((record, at) => [String(at), record])),
  } as unknown as Connector)
}

test('a scan returns a bad record as unreadable, without its identity, between its neighbours', async () => {
  const good: Identity = { company: 'Acme\t& Söhne\n', domain: 'acme.example' }
  const pages = source([good, ...poison.map(([, identity]) => identity), good]).scan('companies', {})
  for await (const { records, watermark, ownWrites } of pages) {
    expect({ watermark, ownWrites }).toEqual({ watermark: 'w', ownWrites: new Set(['1']) })
    expect(records[0]).toEqual({ id: '0', object: 'company', identity: good })
    expect(records.at(-1)).toMatchObject({ identity: good })
    for (const [at, [field]] of poison.entries())
      expect(records[at + 1]).toEqual({
        id: String(at + 1),
        object: 'company',
        identity: {},
        unreadable: expect.stringMatching(`^the ${field} cannot be read: `),
      })
  }
})

test.each<[string, Partial<Extract<CurrentRecord, { state: 'present' }>>]>([
  ['the field about', { values: { about: 'a\u0000' } }],
  ['the field about', { raw: { about: '\ud800' } }],
  ['the field source', { own: { source: '\u0000' } }],
  ['the e-mail', { identity: { email: 'a\u0000@acme.example' } }],
])('a read returns a record as unreadable for %s', async (field, more) => {
  const good: CurrentRecord = { state: 'present', values: { about: 'one\r\n\ttwo', employees: 7 } }
  const read = await source([], [good, { ...good, ...more }, { state: 'gone' }]).read('contacts', [])
  expect([...read.values()]).toEqual([
    good,
    { state: 'unreadable', reason: expect.stringMatching(`^${field} cannot be read: `) },
    { state: 'gone' },
  ])
})
