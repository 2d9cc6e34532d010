import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { testSeed } from '../../../../test/support/seed.ts'
import type { RecordIdentity } from '../../../domain/subjects/record-identities.ts'
import { hubspotMapping } from '../mapping.ts'
import { searchBodies, type SearchBody } from './search-bodies.ts'
import { probesOf, type Probe } from './spellings.ts'

const valuesOf = (bodies: readonly SearchBody[]): string[] =>
  bodies.flatMap(({ filterGroups }) =>
    filterGroups.flatMap(({ filters: [{ propertyName, values }] }) =>
      values.map((value) => `${propertyName} ${value}`),
    ),
  )

describe('searches by many values', () => {
  test('keep to the limits of a body, hold each value once, and leave out none of rank 1', () => {
    const probe = fc.record({
      property: fc.constantFrom(
        'domain',
        'website',
        'name',
        'phone',
        'mobilephone',
        'profnet_url',
        'work_email',
      ),
      value: fc.string({ unit: 'grapheme', maxLength: 300 }),
      rank: fc.constantFrom(1, 2, 3),
    })
    const options = { maxLength: 400, selector: ({ property, value }: Probe) => `${property} ${value}` }
    fc.assert(
      fc.property(fc.uniqueArray(probe, options), fc.nat(8), (given, calls) => {
        const probes = given.toSorted((a, b) => a.rank - b.rank)
        const bodies = searchBodies(probes, calls)
        for (const body of bodies) {
          expect(JSON.stringify({ ...body, after: '9800' }).length).toBeLessThanOrEqual(3000)
          expect(body.filterGroups.length).toBeLessThanOrEqual(5)
          expect(body.filterGroups.length).toBeGreaterThan(0)
        }
        const sent = valuesOf(bodies)
        expect(new Set(sent).size).toBe(sent.length)
        const first = probes.filter(({ rank }) => rank === 1)
        expect(sent).toEqual(
          expect.arrayContaining(first.map(({ property, value }) => `${property} ${value}`)),
        )
        const needed = searchBodies(first, 0).length
        expect(bodies.length).toBeLessThanOrEqual(Math.max(needed, calls))
      }),
      { seed: testSeed(), numRuns: 60 },
    )
  })

  test('name the common spellings first, in lower case', () => {
    const { companies } = hubspotMapping.entities
    const identities: RecordIdentity[] = [
      { kind: 'domain', value: 'norvik.com' },
      { kind: 'profile', value: 'company/norvik' },
      { kind: 'name_domain', value: 'norvik@norvik.com' },
    ]
    const probes = probesOf(identities, companies!)
    expect(probes.filter(({ rank }) => rank === 1)).toEqual([
      { property: 'domain', value: 'norvik.com', rank: 1 },
      { property: 'profnet_url', value: 'https://www.profnet.com/company/norvik', rank: 1 },
    ])
    expect(probes.filter(({ rank, property }) => rank === 2 && property === 'website')).toEqual([
      { property: 'website', value: 'https://norvik.com', rank: 2 },
      { property: 'website', value: 'https://www.norvik.com', rank: 2 },
    ])
    expect(probes.every(({ value }) => value === value.toLowerCase())).toBe(true)
  })
})
