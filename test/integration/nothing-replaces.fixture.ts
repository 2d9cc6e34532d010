import { nextStep, type Facts } from '../../src/domain/planning/planner.ts'
import type { Fact, FieldValue, Patch } from '../../src/domain/record.ts'
import type { ObjectKind } from '../../src/domain/words.ts'
import { companyProfile } from '../../src/service/endpoints/company-profile.ts'
import { personProfile } from '../../src/service/endpoints/person-profile.ts'
import { redemption } from '../../src/service/endpoints/redemption.ts'
import { createLogoClient } from '../../src/service/logo.ts'

const absent = Symbol('absent')
export type Raw = unknown

/** The service's possible answers for a field. The first eight are nothing, for every type of field. */
export const nothings: [string, Raw][] = [
  ['null', null],
  ['""', ''],
  ['white space', ' \t '],
  ['absent', absent],
  ['[]', []],
  ['[null]', [null]],
  ['[""]', ['']],
  ['{}', {}],
]

export const oddities: [string, Raw][] = [
  ['0', 0],
  ['false', false],
  ['"0"', '0'],
  ['"false"', 'false'],
  ['"N/A"', 'N/A'],
]

const types = [
  'text',
  'long',
  'number',
  'boolean',
  'flag',
  'date',
  'datetime',
  'option',
  'options',
  'email',
  'phone',
  'url',
  'country',
  'logo',
] as const

export type Type = (typeof types)[number]

export interface TypeCase {
  /** The value in the record, of which nothing may be lost. */
  old: FieldValue
  /** An answer that is a value, and what the CRM then holds: without it the table could not fail. */
  good: Raw
  becomes: string
  /** Oddities that are values of this type. */
  values?: Record<string, string>
}

export const words = { '"0"': '0', '"false"': 'false', '"N/A"': 'N/A' }

export const cases: Record<Type, TypeCase> = {
  text: { old: 'Old  text', good: 'New text', becomes: 'New text', values: words },
  long: { old: 'Old\n\nlong text', good: 'New\nlong text', becomes: 'New\nlong text', values: words },
  number: { old: 41, good: 42, becomes: '42', values: { '0': '0' } },
  boolean: { old: true, good: 'false', becomes: 'false', values: { '"0"': 'false', '"false"': 'false' } },
  flag: { old: true, good: 0, becomes: 'false', values: { '0': 'false' } },
  date: { old: '2020-01-02', good: '2026-02-03', becomes: '2026-02-03' },
  datetime: {
    old: '2020-01-02T03:04:05.000Z',
    good: '2026-02-03T04:05:06Z',
    becomes: '2026-02-03T04:05:06.000',
  },
  option: { old: 'ALPHA', good: 'Beta', becomes: 'BETA' },
  options: { old: 'ALPHA;GAMMA', good: 'Beta', becomes: 'BETA' },
  email: { old: 'old@norvik.com', good: 'new@norvik.com', becomes: 'new@norvik.com' },
  phone: { old: '+41441234567', good: '+41 44 668 18 00', becomes: '+41446681800' },
  url: {
    old: 'https://old.norvik.com/x',
    good: 'https://www.profnet.com/company/new',
    becomes: 'https://www.profnet.com/company/new',
  },
  country: { old: 'Switzerland', good: 'NO', becomes: 'Norway' },
  logo: { old: 'https://old.norvik.com/l.png', good: 'picture', becomes: 'http://logo.test/norvik.com' },
}

/** The canonical field that carries values of a type, and where its value lies in the answer. A company has no e-mail. */
const sources: Record<ObjectKind, Partial<Record<Type, string>>> = {
  company: {
    text: 'tagline',
    long: 'description',
    number: 'employees',
    boolean: 'company_type',
    flag: 'followers',
    date: 'headquarters',
    datetime: 'employee_range',
    option: 'industry',
    options: 'address',
    phone: 'company_name',
    url: 'website',
    country: 'country_code',
    logo: 'logo',
  },
  person: {
    text: 'headline',
    long: 'about',
    number: 'followers',
    boolean: 'city',
    flag: 'connections',
    date: 'location',
    datetime: 'full_name',
    option: 'job_title',
    options: 'company_name',
    email: 'email',
    phone: 'phone',
    url: 'company_profnet_url',
    country: 'country_code',
    logo: 'company_logo',
  },
}

/** Returns the types of which the object has a canonical field. */
export const typesOf = (object: ObjectKind): Type[] =>
  types.filter((type) => sources[object][type] !== undefined)

export const sourceOf = (object: ObjectKind, type: Type): string => sources[object][type] ?? ''

const given = (name: string, raw: Raw) => (raw === absent ? {} : { [name]: raw })

const answers: Record<ObjectKind, Partial<Record<string, (raw: Raw) => Record<string, unknown>>>> = {
  company: {
    tagline: (raw) => given('title', raw),
    employees: (raw) => given('company_size', raw),
    followers: (raw) => given('follower_size', raw),
    employee_range: (raw) => given('company_size_printed', raw),
    address: (raw) => given('company_address', raw),
    website: (raw) => given('company_url', raw),
  },
  person: {
    about: (raw) => given('description', raw),
    followers: (raw) => given('follower_size', raw),
    connections: (raw) => given('connection_size', raw),
    full_name: (raw) => given('name', raw),
    job_title: (raw) => ({ employment_history: [{ positions: [given('title', raw)] }] }),
    company_name: (raw) => ({ company: given('company_name', raw) }),
    company_profnet_url: (raw) => ({ company: given('profnet_url', raw) }),
  },
}

/** The service's own words for an answer, read by the endpoint as in a run; undefined where it cannot say this. */
async function factsFor(object: ObjectKind, type: Type, raw: Raw): Promise<Facts | undefined> {
  const canonical = sourceOf(object, type)
  const profile = (data: Record<string, unknown>): Fact =>
    (object === 'company' ? companyProfile : personProfile).decode(JSON.stringify({ data }))
  const slot = object === 'company' ? 'company.profile' : 'person.profile'
  if (type === 'logo') {
    const fact = await logoFact(raw)
    return fact && { [slot]: profile({ created_at: '2026-01-01' }), 'company.logo': fact }
  }
  if (object === 'person' && (type === 'email' || type === 'phone')) {
    const list =
      typeof raw === 'string' && raw.trim() !== '' ? [{ value: raw, type: null, status: null }] : raw
    const person = { ...given(type === 'email' ? 'emails' : 'phones', list) }
    const fact = redemption.decode(JSON.stringify({ data: { peoples: [person] } }))
    const asked = type === 'email' ? 'contact.redeem:email-work' : 'contact.redeem:phone'
    return { [slot]: profile({ created_at: '2026-01-01' }), [asked]: fact }
  }
  const make = answers[object][canonical] ?? ((value: Raw) => given(canonical, value))
  return { [slot]: profile({ created_at: '2026-01-01', ...make(raw) }) }
}

async function logoFact(raw: Raw): Promise<Fact | undefined> {
  if (raw !== null && raw !== absent && raw !== 'picture') return undefined
  const client = createLogoClient(
    {
      async sendForBytes({ url }) {
        const isUnknown = raw === absent || url.includes('no-such-company')
        const bytes = Buffer.from(isUnknown ? 'placeholder' : 'picture')
        return { status: raw === null ? 404 : 200, headers: { 'content-type': 'image/png' }, bytes }
      },
    },
    { logoUrl: 'http://logo.test' },
  )
  return client.lookup('norvik.com')
}

/** The patch that the planner makes of it; undefined where there is nothing to write. */
export async function patchFor(object: ObjectKind, type: Type, raw: Raw): Promise<Patch | undefined> {
  const facts = await factsFor(object, type, raw)
  if (!facts) return undefined
  const slug = object === 'company' ? 'company/norvik' : 'in/norvik'
  const recipe = {
    name: 'all',
    fields: [sourceOf(object, type)],
    steps: ['company.profile', 'person.profile', 'contact.redeem', 'company.logo'] as const,
  }
  const record = { object, identity: { profileUrl: `https://www.profnet.com/${slug}` } }
  const step = nextStep(record, recipe, facts)
  if (step.kind === 'lookup') throw new Error(`${type} asks for ${step.lookup.operation}`)
  if (step.kind === 'stop') return undefined
  return Object.fromEntries(Object.entries(step.values).map(([name, set]) => [name, { set }]))
}
