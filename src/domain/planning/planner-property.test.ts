import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { testSeed } from '../../../test/support/seed.ts'
import { contactTypes } from '../contact-types.ts'
import { explainStep } from './explain.ts'
import { boughtFieldNames } from '../fields.ts'
import type { LookupKey } from '../keys.ts'
import {
  nextStep,
  priceOf,
  slotOf,
  spentOn,
  type Facts,
  type FactSlot,
  type PlanContext,
  type PlannedRecord,
} from './planner.ts'
import { builtInRecipes, type Recipe } from './recipes.ts'
import type { Fact, Identity } from '../record.ts'
import { objectKinds, operations } from '../words.ts'

const data = fc.record(
  {
    name: fc.constantFrom('Ada', ''),
    title: fc.constantFrom('CTO', null),
    company_name: fc.constantFrom('Acme', null),
    domain: fc.constantFrom('acme.example', 'no domain', null),
    profnet_url: fc.constantFrom(
      'https://profnet.example/in/ada',
      'https://profnet.example/company/acme',
      'x',
      null,
    ),
    people_search_id: fc.constantFrom('77', null),
    other_matches: fc.constantFrom(1, null),
    company: fc.constantFrom(
      { company_name: 'Acme', profnet_url: 'https://profnet.example/company/acme' },
      null,
    ),
    emails: fc.constantFrom([{ value: 'a@b.example', type: null, status: 'Verified' }], [], null),
    phones: fc.constantFrom([{ value: '+33612345678', type: 'mobile', status: null }], [], null),
    jobs: fc.constantFrom([{}], [], null),
    url: fc.constantFrom('https://logo/x', 7),
  },
  { requiredKeys: [] },
)
const fact: fc.Arbitrary<Fact> = fc.record({
  outcome: fc.constantFrom('found', 'found', 'found', 'not_found', 'unreadable', 'failed'),
  data: fc.option(data as fc.Arbitrary<Record<string, unknown>>, { freq: 8 }),
})
const identity = fc.record(
  {
    profileUrl: fc.constantFrom(
      'https://profnet.example/in/ada',
      'https://profnet.example/company/acme',
      'broken',
    ),
    email: fc.constantFrom('ada@acme.example', 'ada@gmail.com', 'n/a'),
    phone: fc.constantFrom('+33612345678', '12'),
    firstName: fc.constant('Ada'),
    lastName: fc.constant('Moreau'),
    domain: fc.constantFrom('acme.example', 'gmail.com'),
    company: fc.constant('Acme'),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<Identity>
const price = fc.constantFrom(undefined, 0n, 10_000n, 150_000n)
const ceiling = fc.constantFrom(undefined, 0n, 10_000n, 170_000n)
const cases = fc
  .record({
    object: fc.constantFrom(...objectKinds),
    identity,
    named: fc.constantFrom(undefined, 'profile', 'contact', 'full'),
    steps: fc.subarray([...operations]),
    ceiling,
    stopWhen: fc.constantFrom(undefined, ['email'], ['domain']),
    similarity: fc.boolean(),
    answers: fc.infiniteStream(fact),
    prices: fc.infiniteStream(price),
  })
  .map(({ object, named, steps, ceiling: most, stopWhen, similarity, ...rest }) => {
    const base = named
      ? builtInRecipes(object, named)
      : { name: 'x', fields: boughtFieldNames(object), steps }
    const recipe: Recipe = {
      ...base,
      similarity,
      ...(most === undefined ? {} : { priceCeilingAtomic: most }),
      ...(stopWhen ? { stopWhen } : {}),
    }
    return { ...rest, object, recipe }
  })

function run(
  record: PlannedRecord,
  recipe: Recipe,
  answers: Iterator<Fact>,
  prices: Iterator<bigint | undefined>,
) {
  const facts: Facts = {}
  const asked: FactSlot[] = []
  const context: PlanContext = {}
  for (;;) {
    const step = nextStep(record, recipe, facts, context)
    if (step.kind !== 'lookup') return { step, asked, facts }
    const slot = slotOf(step.lookup.key)
    asked.push(slot)
    if (asked.length > 20) throw new Error(`does not end: ${asked.join(', ')}`)
    // The price paid is never more than the price expected.
    const most = priceOf(step.lookup.key, context) ?? 0n
    const paid = prices.next().value as bigint | undefined
    facts[slot] = {
      ...(answers.next().value as Fact),
      ...(paid === undefined ? {} : { priceAtomic: paid < most ? paid : most }),
    }
  }
}

describe('for any record, recipe and answers', () => {
  const params = { seed: testSeed(), numRuns: 2000 }

  test('the plan ends, asks for each operation and contact type at most once, takes only the steps of its recipe and stays under its ceiling', () => {
    fc.assert(
      fc.property(cases, ({ object, identity: by, recipe, answers, prices }) => {
        const { step, asked, facts } = run({ object, identity: by }, recipe, answers, prices)
        expect(new Set(asked).size).toBe(asked.length)
        for (const slot of asked)
          expect(recipe.steps).toContain(slot.startsWith('contact.redeem') ? 'contact.redeem' : slot)
        if (recipe.priceCeilingAtomic !== undefined)
          expect(spentOn(facts) <= recipe.priceCeilingAtomic).toBe(true)
        expect(step.kind === 'write' || step.kind === 'stop').toBe(true)
        if (step.kind === 'stop') expect(step.reason).not.toBe('')
        if (step.kind === 'write') {
          for (const [field, value] of Object.entries(step.values)) {
            expect(recipe.fields).toContain(field)
            expect(String(value).trim()).not.toBe('')
          }
        }
      }),
      params,
    )
  })

  test('the same facts give the same step, and its explanation says so', () => {
    fc.assert(
      fc.property(cases, ({ object, identity: by, recipe, answers, prices }) => {
        const record = { object, identity: by }
        const { step, facts } = run(record, recipe, answers, prices)
        expect(nextStep(record, recipe, facts)).toEqual(step)
        const explained = explainStep(record, recipe, facts)
        expect(explained.step).toEqual(step)
        expect(explained.lines.join('\n')).toContain(explained.why)
      }),
      params,
    )
  })
})

describe('the ceiling of a record', () => {
  const url = { profileUrl: 'https://profnet.example/in/ada' }
  const recipe = { ...builtInRecipes('person', 'full'), priceCeilingAtomic: 170_000n }
  const profile: Fact = { outcome: 'found', data: { name: 'Ada' }, priceAtomic: 10_000n }
  const email: Fact = {
    outcome: 'found',
    data: { emails: [{ value: 'a@b.example', type: 'work', status: null }] },
    priceAtomic: 150_000n,
  }

  test('stops before a step that would break it, says so, and writes what is known', () => {
    const record = { object: 'person' as const, identity: url }
    expect(nextStep(record, recipe, { 'person.profile': profile })).toMatchObject({
      lookup: { operation: 'contact.redeem' },
    })
    expect(
      nextStep(record, recipe, { 'person.profile': profile, 'contact.redeem:email-work': email }),
    ).toEqual({
      kind: 'write',
      values: { full_name: 'Ada', email: 'a@b.example' },
      reason:
        'price ceiling: contact.redeem:phone costs 0.300000 USD, and 0.160000 of 0.170000 USD are spent',
    })
    const facts: Facts = { 'person.profile': profile, 'contact.redeem:email-work': email }
    for (const [priceCeilingAtomic, kind] of [
      [460_000n, 'lookup'],
      [459_999n, 'write'],
    ] as const)
      expect(nextStep(record, { ...recipe, priceCeilingAtomic }, facts)).toMatchObject({ kind })
    expect(nextStep(record, { ...recipe, priceCeilingAtomic: 0n }, {})).toMatchObject({
      kind: 'stop',
      status: 'unchanged',
      reason: expect.stringContaining('price ceiling'),
    })
  })

  test('lets a step through that the ledger has answered, and refuses a step of unknown price', () => {
    const record = { object: 'person' as const, identity: url }
    expect(
      nextStep(record, { ...recipe, priceCeilingAtomic: 0n }, {}, { isFresh: () => true }),
    ).toMatchObject({ kind: 'lookup' })
    const company = { object: 'company' as const, identity: { domain: 'acme.example' } }
    const full = { ...builtInRecipes('company', 'full'), priceCeilingAtomic: 1_000_000n }
    // The cheaper lookup stands in for the enrichment.
    expect(nextStep(company, full, {})).toMatchObject({ lookup: { operation: 'company.lookup' } })
    expect(nextStep(company, full, {}, { prices: { 'company.enrich': 50_000n } })).toMatchObject({
      lookup: { operation: 'company.enrich' },
    })
  })
})

describe('an explanation', () => {
  const record = { object: 'person' as const, identity: { email: 'ada@acme.example' } }
  const full = builtInRecipes('person', 'full')
  const lines = (facts: Facts, context?: PlanContext, recipe: Recipe = full, of: PlannedRecord = record) =>
    explainStep(of, recipe, facts, context).lines

  test('names the step, the reason and the cost, without a value of the record', () => {
    expect(lines({})).toEqual([
      'Next (recipe full): find the person (contact.lookup).',
      'Why: the record has no profile URL, but an e-mail to find the person by.',
      'Cost: at most 0.010000 USD, nothing when nothing is found.',
      'Spent on this record so far: 0.000000 USD.',
    ])
    expect(lines({}, { isFresh: () => true })[2]).toBe('Cost: nothing, the ledger has a fresh answer.')
    expect(lines({}, { prices: {} })[2]).toBe('Cost: not known in advance.')
    const logo = { object: 'company' as const, identity: { domain: 'acme.example' } }
    const free: Recipe = { name: 'logo', fields: ['logo'], steps: ['company.logo'] }
    expect(lines({}, {}, free, logo)[2]).toBe('Cost: nothing.')
    expect(lines({}, undefined, { ...full, priceCeilingAtomic: 500_000n })[4]).toContain(
      'at most 0.500000 USD',
    )
  })

  test('names the fields written, and why a record ends', () => {
    const match: Fact = {
      outcome: 'found',
      data: { people_search_id: '1', name: 'Ada', title: null, company_name: null, profnet_url: null },
    }
    const nothing: Fact = { outcome: 'not_found', data: null }
    const facts: Facts = { 'contact.lookup': match, 'contact.redeem:phone': nothing }
    expect(lines(facts).slice(0, 2)).toEqual([
      'Next (recipe full): write 1 field by the field policy (full_name).',
      'Why: no step is left that the recipe wants and may buy.',
    ])
    const two: Fact = { outcome: 'found', data: { ...match.data, title: 'CTO' } }
    expect(lines({ ...facts, 'contact.lookup': two })[0]).toContain('write 2 fields by')
    expect(lines({ 'contact.lookup': nothing })[0]).toBe(
      'Next (recipe full): stop; the record ends as unchanged.',
    )
  })
})

test('a redemption has a place for each contact type', () => {
  for (const type of contactTypes)
    expect(slotOf(`contact.redeem|profnet.example/in/a|${type}` as LookupKey)).toBe(`contact.redeem:${type}`)
  expect(() => slotOf('contact.redeem|profnet.example/in/a|fax' as LookupKey)).toThrow(RangeError)
})
