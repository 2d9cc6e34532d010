// One file because each field, the place where an answer has it, and the lists of fields are one table.
import { parseAddress, type AddressHints, type AddressParts } from './normalise/address.ts'
import type { FieldValue } from './record.ts'
import { checkValue } from './values/check-value.ts'
import { kindOf } from './values/kinds.ts'
import type { ObjectKind } from './words.ts'

type Answer = Record<string, unknown>
interface Field {
  name: string
  read: (answer: Answer) => unknown
}

/**
 * The canonical fields of an object and where the service's answer has each (sections 2.1 and 2.2). CSV columns, mappings
 * and policies use these names. `logo` is not among them, because it comes from a lookup of its own.
 */
const profileFields: Record<ObjectKind, readonly Field[]> = {
  company: [
    same('company_name'),
    same('profnet_url'),
    same('domain'),
    field('website', (answer) => answer['company_url']),
    field('tagline', (answer) => answer['title']),
    same('industry'),
    same('description'),
    field('employees', (answer) => answer['company_size']),
    field('employee_range', (answer) => answer['company_size_printed']),
    same('company_type'),
    same('founded_year'),
    same('headquarters'),
    field('address', (answer) => answer['company_address']),
    field('street', (answer) => addressPart(answer, 'street')),
    field('city', (answer) => addressPart(answer, 'city')),
    field('state', (answer) => addressPart(answer, 'state')),
    field('postal_code', (answer) => addressPart(answer, 'postal_code')),
    same('country_code'),
    field('followers', (answer) => answer['follower_size']),
  ],
  person: [
    field('full_name', (answer) => answer['name']),
    field('first_name', (answer) => namePart(answer, 'first_name')),
    field('last_name', (answer) => namePart(answer, 'last_name')),
    same('profnet_url'),
    same('headline'),
    field('job_title', (answer) => currentPosition(answer)?.['title']),
    field('company_name', (answer) => within(answer['company'], 'company_name')),
    field('company_profnet_url', (answer) => within(answer['company'], 'profnet_url')),
    field('about', (answer) => answer['description']),
    same('city'),
    same('location'),
    same('country_code'),
    field('followers', (answer) => answer['follower_size']),
    field('connections', (answer) => answer['connection_size']),
  ],
}

/** The fields that company enrichment adds: how many of each it lists, and the names of similar companies. */
const enrichmentFields: readonly Field[] = [
  field('open_jobs', (answer) => count(answer['jobs'])),
  field('news_items', (answer) => count(answer['news'])),
  field('advertisements', (answer) => count(answer['advertisements'])),
  field('similar_companies', (answer) => companyNames(answer['similar_companies'])),
]

/** The fields of a profile that a contact lookup's match has too, under the match's names. */
const matchFields: readonly Field[] = [
  field('full_name', (answer) => answer['name'] ?? joined(answer['first_name'], answer['last_name'])),
  field('first_name', (answer) => namePart(answer, 'first_name')),
  field('last_name', (answer) => namePart(answer, 'last_name')),
  same('profnet_url'),
  field('job_title', (answer) => answer['title']),
  same('company_name'),
]

/** Fields of a person that come from the profile of the employer. */
const employerFields: readonly Field[] = [
  field('company_domain', (answer) => answer['domain']),
  field('company_website', (answer) => answer['company_url']),
  field('company_industry', (answer) => answer['industry']),
  field('company_employees', (answer) => answer['company_size']),
  field('company_country_code', (answer) => answer['country_code']),
]

export const contactFieldNames = ['email', 'email_personal', 'phone', 'mobile_phone'] as const

/** The fields that a pipeline of signals keeps current. `open_jobs` is one that company enrichment fills too. */
export const signalFieldNames = [
  'expansion_stage',
  'expansion_direction',
  'expansion_markets',
  'open_jobs',
  'open_jobs_change_30d',
  'last_news_at',
  'last_news_title',
  'advertising',
  'cloud_providers',
  'signal_score',
  'signal_score_change_7d',
  'signal_reason',
  'signals_checked_at',
] as const
export type SignalField = (typeof signalFieldNames)[number]

/** The fields of a person that watching champions fills: the last two in a record that is made at the new employer. */
export const championFieldNames = ['left_company_at', 'former_record', 'champion_relationship'] as const

/** Returns every canonical field of an object, in the order of reports. */
export function fieldNames(object: ObjectKind): readonly string[] {
  return fieldLists[object].all
}

/** Returns the fields that are observed over time: no lookup for a record tells them, and no recipe fills them. */
export function observedFieldNames(object: ObjectKind): readonly string[] {
  return fieldLists[object].observed
}

/**
 * Returns the fields that lookups for a record tell, in the order of reports and CSV files. A run's recipe says which of them
 * it fills.
 */
export function boughtFieldNames(object: ObjectKind): readonly string[] {
  return fieldLists[object].bought
}

/** Each record is planned with these lists, so they are made once. */
const fieldLists = {
  company: listsOf('company', ['logo', ...names(enrichmentFields)], signalFieldNames),
  person: listsOf('person', [...contactFieldNames, ...employerFieldNamesOf()], championFieldNames),
}

function listsOf(object: ObjectKind, further: readonly string[], watched: readonly string[]) {
  const bought: readonly string[] = [...profileFieldNames(object), ...further]
  const observed = watched.filter((name) => !bought.includes(name))
  return { bought, observed, all: [...bought, ...observed], profile: new Set(profileFieldNames(object)) }
}

/** Returns the fields of a profile answer. */
export function profileFieldNames(object: ObjectKind): string[] {
  return names(profileFields[object])
}

/** Returns whether a profile answer has this field. */
export function isProfileField(object: ObjectKind, name: string): boolean {
  return fieldLists[object].profile.has(name)
}

export const enrichmentFieldNames: readonly string[] = names(enrichmentFields)
export const matchFieldNames: readonly string[] = names(matchFields)
/** The fields of a person that come from the profile of the employer. */
export const employerProfileFieldNames: readonly string[] = names(employerFields)
export const employerFieldNames: readonly string[] = employerFieldNamesOf()

function employerFieldNamesOf(): string[] {
  return [...names(employerFields), 'company_logo']
}

/** The kinds of answers whose values are read here. */
export type AnswerSource = 'company' | 'person' | 'enrichment' | 'match' | 'employer'

/** The values of an answer by canonical field, and why a field has none although the answer names one. */
export interface AnswerValues {
  values: Record<string, FieldValue>
  /** By field: what is wrong with its value, in words that do not contain it. */
  leftOut: Record<string, string>
}

/**
 * Returns the values of an answer, each checked by the kind of its field. Blank ones (null, "", white space, an empty list)
 * are left out without a word: nothing found is never a value.
 */
export function readAnswer(source: AnswerSource, answer: Answer): AnswerValues {
  const read: AnswerValues = { values: {}, leftOut: {} }
  const object = source === 'company' || source === 'enrichment' ? 'company' : 'person'
  for (const field of answerFields[source]) {
    const value = scalar(field.read(answer))
    if (value === undefined) continue
    const checked = checkValue(kindOf(object, field.name), value)
    if (checked.ok) read.values[field.name] = checked.value
    else read.leftOut[field.name] = checked.reason
  }
  return read
}

const answerFields: Record<AnswerSource, readonly Field[]> = {
  company: profileFields.company,
  person: profileFields.person,
  enrichment: [...profileFields.company, ...enrichmentFields],
  match: matchFields,
  employer: employerFields,
}

/** Returns the values of a profile answer. */
export function profileValues(object: ObjectKind, answer: Answer): Record<string, FieldValue> {
  return readAnswer(object, answer).values
}

/** Returns the values of a company enrichment: the fields of a profile and those that it adds. */
export function enrichmentValues(answer: Answer): Record<string, FieldValue> {
  return readAnswer('enrichment', answer).values
}

export function matchValues(answer: Answer): Record<string, FieldValue> {
  return readAnswer('match', answer).values
}

export function employerValues(answer: Answer): Record<string, FieldValue> {
  return readAnswer('employer', answer).values
}

/**
 * Returns whether an answer covers a field. Null means *asked, nothing found*: another endpoint would be paid for the same
 * result. Absent means *not asked*.
 */
export function isAnswered(source: 'match' | 'company', name: string, answer: Answer): boolean {
  return fieldsByName[source].get(name)?.read(answer) !== undefined
}

const fieldsByName = {
  match: byName(answerFields.match),
  company: byName(answerFields.enrichment),
}

function byName(fields: readonly Field[]): ReadonlyMap<string, Field> {
  return new Map(fields.map((each) => [each.name, each]))
}

function currentPosition(answer: Answer): Answer | undefined {
  const jobs = Array.isArray(answer['employment_history']) ? answer['employment_history'] : []
  const positions = asObject(jobs[0])?.['positions']
  return (Array.isArray(positions) ? asObject(positions[0]) : undefined) ?? asObject(jobs[0])
}

function scalar(value: unknown): FieldValue | undefined {
  if (typeof value === 'string') return value.trim() === '' ? undefined : value.trim()
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined
  return typeof value === 'boolean' ? value : undefined
}

function asObject(value: unknown): Answer | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Answer) : undefined
}

/** Returns a part of the company's address. One that is not sure counts as nothing found. */
function addressPart(answer: Answer, part: keyof AddressParts): unknown {
  const address = answer['company_address']
  if (typeof address !== 'string') return address
  const [country, headquarters] = [scalar(answer['country_code']), scalar(answer['headquarters'])]
  const hints = {
    country: typeof country === 'string' ? country : undefined,
    headquarters: typeof headquarters === 'string' ? headquarters : undefined,
  }
  return partsOf(address, hints)[part] ?? null
}

let lastAddress: { text: string; hints: AddressHints; parts: AddressParts } | undefined

/** The parts of an address are read one after the other, and the address is divided once. */
function partsOf(text: string, hints: AddressHints): AddressParts {
  const isLast =
    lastAddress?.text === text &&
    lastAddress.hints.country === hints.country &&
    lastAddress.hints.headquarters === hints.headquarters
  if (!isLast || !lastAddress) lastAddress = { text, hints, parts: parseAddress(text, hints) }
  return lastAddress.parts
}

/** Returns a property, or null where the object itself is null. */
function within(object: unknown, name: string): unknown {
  return object === null ? null : asObject(object)?.[name]
}

/** Returns the length of a list. An empty list counts as nothing found. */
function count(list: unknown): unknown {
  return Array.isArray(list) ? list.length || null : list
}

function companyNames(list: unknown): unknown {
  if (!Array.isArray(list)) return list
  return list.flatMap((entry) => scalar(asObject(entry)?.['company_name']) ?? []).join('; ')
}

/** A word of a name in a script that writes the given name first, without title, initial or degree. */
const plainName = /^[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}][\p{L}\p{M}'’-]+$/u

/**
 * Returns a half of the name: as the answer has it, else out of a name of exactly two words. Where a longer name divides
 * cannot be told from the name, so it is not guessed.
 */
function namePart(answer: Answer, part: 'first_name' | 'last_name'): unknown {
  const own = scalar(answer[part])
  if (own !== undefined) return own
  const words = String(scalar(answer['name']) ?? '').split(/\s+/)
  if (words.length === 2 && words.every((word) => plainName.test(word)))
    return words[part === 'first_name' ? 0 : 1]
  return answer['name'] === undefined ? answer[part] : null
}

function joined(...parts: unknown[]): unknown {
  const texts = parts.flatMap((part) => scalar(part) ?? [])
  return texts.length > 0 ? texts.join(' ') : parts[0]
}

function names(fields: readonly Field[]): string[] {
  return fields.map(({ name }) => name)
}

function field(name: string, read: Field['read']): Field {
  return { name, read }
}

function same(name: string): Field {
  return field(name, (answer) => answer[name])
}
