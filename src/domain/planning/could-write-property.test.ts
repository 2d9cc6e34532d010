import fc from 'fast-check'
import { expect, test } from 'vitest'
import { testSeed } from '../../../test/support/seed.ts'
import { boughtFieldNames } from '../fields.ts'
import { applyPolicy, fieldRules, type FieldRule } from '../field-policy/field-policy.ts'
import { toCrm } from '../mapping/convert.ts'
import type { DescribedField, FieldMapping } from '../mapping/mapping.ts'
import { slotRow } from '../operations.ts'
import type { Fact, FieldValue, Identity, Patch } from '../record.ts'
import { kindOf } from '../values/kinds.ts'
import { objectKinds, type ObjectKind } from '../words.ts'
import { closedFields } from './could-write.ts'
import { isFreeSlot } from './prices.ts'
import { builtInRecipes, type Recipe } from './recipes.ts'
import { nextStep, slotOf, type Facts, type FactSlot, type PlannedRecord } from './planner.ts'

/** The account: properties of every type, one that is read-only, and one that is not there. */
const properties: Record<string, Partial<DescribedField> | undefined> = {
  text: { type: 'text' },
  other_text: { type: 'text' },
  short: { type: 'text', maxLength: 4 },
  number: { type: 'number' },
  date: { type: 'date' },
  boolean: { type: 'boolean' },
  email: { type: 'email' },
  phone: { type: 'phone' },
  url: { type: 'url' },
  option: { type: 'option', options: [{ value: 'ROBOTS', label: 'Robots' }] },
  emails: {
    type: 'option',
    options: [
      { value: 'ada@acme.example', label: 'Ada' },
      { value: 'robots', label: 'Robots' },
      { value: 'ada@mail.example', label: 'Ada at home' },
    ],
  },
  none: { type: 'option', options: [] },
  reference: { type: 'reference' },
  read_only: { type: 'text', writable: false },
  missing: undefined,
}
const schema = new Map(
  Object.entries(properties).flatMap(([name, field]) =>
    field
      ? [[name, { name, label: name, type: 'text', writable: true, custom: false, ...field } as const]]
      : [],
  ),
)

/** Answers that tell everything, so that what cannot change the record cannot for want of an answer. */
const person = {
  profnet_url: 'https://profnet.example/in/ada',
  name: 'Robots',
  first_name: 'Robots',
  last_name: 'Robots',
  headline: 'Robots',
  description: 'Robots',
  city: 'Robots',
  location: 'Robots',
  country_code: 'FR',
  follower_size: 1998,
  connection_size: 1998,
  title: 'Robots',
  company_name: 'Robots',
  company: { company_name: 'Robots', profnet_url: 'https://profnet.example/company/acme' },
  employment_history: [{ title: 'Robots' }],
}
const company = {
  profnet_url: 'https://profnet.example/company/acme',
  company_name: 'Robots',
  domain: 'acme.example',
  company_url: 'https://acme.example',
  title: 'Robots',
  industry: 'Robots',
  description: 'Robots',
  company_size: 1998,
  company_size_printed: 'Robots',
  company_type: 'Robots',
  founded_year: 1998,
  headquarters: 'Robots',
  company_address: '12 Rue Robots, 69001 Lyon, France',
  country_code: 'FR',
  follower_size: 1998,
  jobs: [{}],
  news: [{}],
  advertisements: [{}],
  similar_companies: [{ company_name: 'Robots' }],
}
const answers: Partial<Record<FactSlot, Record<string, unknown>>> = {
  'person.profile': person,
  'contact.lookup': { ...person, people_search_id: '7' },
  'company.profile': company,
  'company.lookup': { ...company, jobs: undefined, news: undefined },
  'company.enrich': company,
  'company.logo': { url: 'https://logo.example/acme' },
  'contact.redeem:email-work': { emails: [{ value: 'ada@acme.example', type: 'work', status: 'Verified' }] },
  'contact.redeem:email-personal': {
    emails: [{ value: 'ada@mail.example', type: 'personal', status: null }],
  },
  'contact.redeem:phone': {
    phones: [
      { value: '+33472000000', type: 'landline', status: null },
      { value: '+33612345678', type: 'mobile', status: null },
    ],
  },
}

const identities: Record<ObjectKind, fc.Arbitrary<Identity>> = {
  person: fc.constantFrom<Identity[]>(
    { profileUrl: 'https://profnet.example/in/ada' },
    { email: 'ada@old.example' },
    { phone: '+33472111111' },
    { firstName: 'Ada', lastName: 'Moreau', domain: 'acme.example' },
    { profileUrl: 'https://profnet.example/in/ada', email: 'ada@gmail.com' },
    {},
  ),
  company: fc.constantFrom<Identity[]>(
    { profileUrl: 'https://profnet.example/company/acme' },
    { domain: 'acme.example' },
    {},
  ),
}

interface Case {
  object: ObjectKind
  identity: Identity
  recipe: Recipe
  fields: Record<string, FieldMapping>
  rules: Record<string, FieldRule>
  values: Record<string, FieldValue>
  ours: Record<string, FieldValue>
}

const cases: fc.Arbitrary<Case> = fc.constantFrom(...objectKinds).chain((object) => {
  // The parts of an address depend on how it is divided, which the answers above do not tell for every part.
  const parts = object === 'company' ? ['address', 'street', 'city', 'state', 'postal_code'] : []
  const names = boughtFieldNames(object).filter((name) => !parts.includes(name))
  const some = <T>(value: fc.Arbitrary<T>, most: number) =>
    fc.dictionary(fc.constantFrom(...names), value, { maxKeys: most })
  const old = fc.constantFrom<FieldValue[]>('Old value', 'ada@old.example', '+33472111111', 7)
  return fc.record({
    object: fc.constant(object),
    identity: identities[object],
    recipe: fc.oneof(
      fc.constantFrom('profile', 'contact', 'full').map((name): Recipe => {
        const recipe = builtInRecipes(object, name)
        return { ...recipe, fields: recipe.fields.filter((field) => !parts.includes(field)) }
      }),
      fc
        .record({ fields: fc.subarray(names, { minLength: 1 }), named: fc.constantFrom('contact', 'full') })
        .map(({ fields, named }): Recipe => ({ ...builtInRecipes(object, named), name: 'some', fields })),
    ),
    fields: some(fc.record({ property: fc.constantFrom(...Object.keys(properties)) }), 8),
    rules: some(fc.constantFrom(...fieldRules), 6),
    values: some(old, 6),
    ours: some(old, 4),
  })
})

/** The changes that would reach the account: allowed by the policy, mapped, and of a type that takes them. */
function changes({ object, fields, rules, values: current, ours }: Case, told: Record<string, FieldValue>) {
  const proposed: Patch = Object.fromEntries(Object.entries(told).map(([field, set]) => [field, { set }]))
  const { patch } = applyPolicy({ current, proposed, ours, rule: ruleBy(rules) })
  const written = new Map<string, string>()
  for (const [field, mapped] of Object.entries(fields)) {
    const change = patch[field]
    const described = schema.get(mapped.property)
    if (!change || !('set' in change) || !described?.writable || written.has(mapped.property)) continue
    if (toCrm(change.set, described, mapped, { kind: kindOf(object, field) }).ok)
      written.set(mapped.property, field)
  }
  return new Set(written.values())
}

const ruleBy = (rules: Record<string, FieldRule>) => (field: string) =>
  Object.hasOwn(rules, field) ? (rules[field] as FieldRule) : 'fill_blank'

test('for any mapping, policy and record, nothing is bought that cannot change the record', () => {
  let bought = 0
  fc.assert(
    fc.property(cases, (each) => {
      const { object, identity, recipe, fields, rules, values, ours } = each
      const closed = closedFields(
        recipe.fields,
        { mapping: { fields }, schema, rule: ruleBy(rules) },
        { values, ours },
      )
      const record: PlannedRecord = { object, identity, values, closed }
      const facts: Facts = {}
      const steps: FactSlot[] = []
      let told: Record<string, FieldValue> = {}
      for (;;) {
        const step = nextStep(record, recipe, facts)
        if (step.kind === 'write') told = step.values
        if (step.kind !== 'lookup') break
        const slot = slotOf(step.lookup.key)
        steps.push(slot)
        facts[slot] = { outcome: 'found', data: answers[slot] ?? null } satisfies Fact
      }
      const changed = changes(each, told)
      // A lookup is of use when it, or one that it leads to, tells something that changes the record.
      let usable = false
      for (const slot of steps.toReversed()) {
        usable ||= slotRow(slot).tells[object].some((field) => changed.has(field))
        const isLast = slot.startsWith('contact.redeem')
        const isUsed = isLast ? slotRow(slot).tells[object].some((field) => changed.has(field)) : usable
        if (!isFreeSlot(slot)) expect([slot, isUsed]).toEqual([slot, true])
        bought += 1
      }
    }),
    { seed: testSeed(), numRuns: 1_500 },
  )
  expect(bought).toBeGreaterThan(300)
})
