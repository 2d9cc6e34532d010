import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { describe, expect, test } from 'vitest'
import type { Config } from '../../src/app/config/config.ts'
import { createRecordForms } from '../../src/app/context/record-form.ts'
import type { Connector } from '../../src/connectors/connector.ts'
import { guardFormula } from '../../src/connectors/csv/formula-guard.ts'
import { createCsvConnector, openCsv, writeEnriched } from '../../src/connectors/csv/index.ts'
import { createHubspotConnector } from '../../src/connectors/hubspot/hubspot-connector.ts'
import { createSalesforceConnector } from '../../src/connectors/salesforce/salesforce-connector.ts'
import type { FieldMapping } from '../../src/domain/mapping/mapping.ts'
import { hubspotMapping } from '../../src/connectors/hubspot/mapping.ts'
import { salesforceMapping } from '../../src/connectors/salesforce/mapping.ts'
import { resolveMapping, type MappingConfig } from '../../src/domain/mapping/schema.ts'
import { nextStep, type Facts } from '../../src/domain/planning/planner.ts'
import { fieldRules, type FieldRule } from '../../src/domain/field-policy/field-policy.ts'
import type { Fact, FieldValue, Patch } from '../../src/domain/record.ts'
import type { ObjectKind } from '../../src/domain/words.ts'
import { startHubspotStandIn } from '../../src/sandbox/hubspot/index.ts'
import { options, property, type PropertyType } from '../../src/sandbox/hubspot/properties.ts'
import { startSalesforceStandIn } from '../../src/sandbox/salesforce/index.ts'
import { field, type FieldType as SalesforceFieldType } from '../../src/sandbox/salesforce/schema.ts'
import { companyProfile } from '../../src/service/endpoints/company-profile.ts'
import { personProfile } from '../../src/service/endpoints/person-profile.ts'
import { redemption } from '../../src/service/endpoints/redemption.ts'
import { createLogoClient } from '../../src/service/logo.ts'
import type { TaskOutcome } from '../../src/store/writes/confirm-writes.ts'
import type { ReadyTask } from '../../src/store/runs/ready-tasks.ts'
import { createWriteBack } from '../../src/workers/write/write-back.ts'
import { roomy } from './crm-house.ts'
import { openWire, type Wire } from './wire.ts'

const absent = Symbol('absent')
type Raw = unknown

/** What the service may answer for a field. The first eight are nothing, for every type of field. */
const nothings: [string, Raw][] = [
  ['null', null],
  ['""', ''],
  ['white space', ' \t '],
  ['absent', absent],
  ['[]', []],
  ['[null]', [null]],
  ['[""]', ['']],
  ['{}', {}],
]
const oddities: [string, Raw][] = [
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
type Type = (typeof types)[number]

interface TypeCase {
  /** What stands in the record, of which nothing may be lost. */
  old: FieldValue
  /** An answer that is a value, and what the CRM then holds: without it the table could not fail. */
  good: Raw
  becomes: string
  /** Oddities that are values of this type. */
  values?: Record<string, string>
}

const words = { '"0"': '0', '"false"': 'false', '"N/A"': 'N/A' }
const cases: Record<Type, TypeCase> = {
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
    good: 'https://new.norvik.com/y',
    becomes: 'https://new.norvik.com/y',
  },
  country: { old: 'Switzerland', good: 'NO', becomes: 'Norway' },
  logo: { old: 'https://old.norvik.com/l.png', good: 'picture', becomes: 'http://logo.test/norvik.com' },
}

/** The canonical field that stands for a type, and where its value lies in the answer. */
const sources: Record<ObjectKind, Record<Type, string>> = {
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
    email: 'domain',
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
  const canonical = sources[object][type]
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
async function patchFor(object: ObjectKind, type: Type, raw: Raw): Promise<Patch | undefined> {
  const facts = await factsFor(object, type, raw)
  if (!facts) return undefined
  const slug = object === 'company' ? 'company/norvik' : 'in/norvik'
  const recipe = {
    name: 'all',
    fields: [sources[object][type]],
    steps: ['company.profile', 'person.profile', 'contact.redeem', 'company.logo'] as const,
  }
  const record = { object, identity: { profileUrl: `https://www.profnet.com/${slug}` } }
  const step = nextStep(record, recipe, facts)
  if (step.kind === 'lookup') throw new Error(`${type} asks for ${step.lookup.operation}`)
  if (step.kind === 'stop') return undefined
  return Object.fromEntries(Object.entries(step.values).map(([name, set]) => [name, { set }]))
}

interface Row {
  type: Type
  answer: string
  isFilled: boolean
  /** What the field holds afterwards when the rule lets everything through; undefined: what was there. */
  becomes: string | undefined
  patch: Patch | undefined
}

async function table(
  object: ObjectKind,
  keeps: (type: Type, name: string) => string | undefined,
): Promise<Row[]> {
  const rows: Row[] = []
  for (const type of types) {
    for (const [answer, raw] of [...nothings, ...oddities, ['good', cases[type].good] as [string, Raw]]) {
      const patch = await patchFor(object, type, raw)
      for (const isFilled of [true, false])
        rows.push({ type, answer, isFilled, becomes: keeps(type, answer), patch })
    }
  }
  return rows
}

/** HubSpot has no type for a URL: it stands in a text there, and a text takes words. */
function fittingIn(crm: string) {
  return (type: Type, name: string): string | undefined => {
    if (name === 'good') return cases[type].becomes
    const values = type === 'url' && crm.startsWith('hubspot') ? cases.text.values : cases[type].values
    return values?.[name]
  }
}

/** Takes all rows through the write-back in one batch. What stands in the records counts as written by us before. */
async function writeBack(
  connector: Connector,
  entity: string,
  rows: readonly { id: string; row: Row }[],
  rule: FieldRule,
  mapping: MappingConfig,
): Promise<TaskOutcome[]> {
  const results: TaskOutcome[] = []
  let waiting = rows.flatMap(({ id, row }, index): ReadyTask[] =>
    row.patch
      ? [
          {
            id: BigInt(index),
            runId: 'r',
            recordId: id,
            identity: {},
            steps: [],
            patch: row.patch,
            reason: null,
          },
        ]
      : [],
  )
  const standing = await connector.read(
    entity,
    waiting.map(({ recordId }) => recordId),
  )
  const ours = new Map(
    [...standing].flatMap(([id, record]) =>
      record.state === 'present' ? [[id, record.values] as const] : [],
    ),
  )
  const end = async (ended: readonly TaskOutcome[]): Promise<void> => {
    results.push(...ended)
    const ids = new Set(ended.map(({ id }) => id))
    waiting = waiting.filter(({ id }) => !ids.has(id))
  }
  const work = createWriteBack({
    tasks: { ready: async () => waiting, finish: async (ended) => end(ended as TaskOutcome[]) },
    fieldWrites: {
      history: async () => ({ ours, open: new Map(), blocked: new Map() }),
      intend: async () => {},
      confirmWrites: end,
    },
    connector: () => connector,
    rule: () => rule,
    formOf: createRecordForms({
      connectors: { hubspot: { mapping }, salesforce: { mapping } },
    } as unknown as Config),
    suppressed: async () => new Set(),
    batchSize: 2_000,
    onHalt: (error) => {
      throw error
    },
    onLongWait: () => {},
  })
  const outcome = await work({ connector: connector.name, entity })
  expect(outcome).toBeUndefined()
  expect(waiting).toEqual([])
  return results
}

interface World {
  connector: Connector
  mapping: MappingConfig
  wire: Wire
  add(type: Type, isFilled: boolean): string
  value(id: string, type: Type): FieldValue | null | undefined
  /** Every value in every request that wrote. */
  sent(): unknown[]
  close(): Promise<void>
}

const crmTypes: Record<Type, { hubspot: [PropertyType, string?]; salesforce: SalesforceFieldType }> = {
  text: { hubspot: ['string'], salesforce: 'string' },
  long: { hubspot: ['string', 'textarea'], salesforce: 'textarea' },
  number: { hubspot: ['number'], salesforce: 'int' },
  boolean: { hubspot: ['bool'], salesforce: 'boolean' },
  flag: { hubspot: ['bool'], salesforce: 'boolean' },
  date: { hubspot: ['date'], salesforce: 'date' },
  datetime: { hubspot: ['datetime'], salesforce: 'datetime' },
  option: { hubspot: ['enumeration'], salesforce: 'picklist' },
  options: { hubspot: ['enumeration', 'checkbox'], salesforce: 'multipicklist' },
  email: { hubspot: ['string'], salesforce: 'email' },
  phone: { hubspot: ['string', 'phonenumber'], salesforce: 'phone' },
  url: { hubspot: ['string'], salesforce: 'url' },
  country: { hubspot: ['string'], salesforce: 'string' },
  logo: { hubspot: ['string'], salesforce: 'url' },
}
const choices = ['ALPHA', 'BETA', 'GAMMA']

function mappingFor(object: ObjectKind, entity: string, nameOf: (type: Type) => string): MappingConfig {
  const defaults = { ...hubspotMapping.entities, ...salesforceMapping.entities }[entity]
  const off = Object.fromEntries(Object.keys(defaults?.fields ?? {}).map((name) => [name, false as const]))
  const on = Object.fromEntries(
    types.map((type): [string, FieldMapping] => [
      sources[object][type],
      { property: nameOf(type), ...(type === 'country' ? { as: 'country_name' } : {}) },
    ]),
  )
  return { [entity]: { fields: { ...off, ...on } } }
}

async function openHubspot(entity: 'companies' | 'contacts', object: ObjectKind): Promise<World> {
  const hubspot = await startHubspotStandIn({ seed: 1, companies: 0, contacts: 0, limits: roomy })
  hubspot.faults.nullValues = 'refused'
  // HubSpot knows an address by the property's name alone; a URL is a text there.
  const nameOf = (type: Type) => (type === 'email' ? 'work_email' : `t_${type}`)
  for (const type of types) {
    const [kind, fieldType] = crmTypes[type].hubspot
    const isChoice = kind === 'enumeration'
    hubspot.store.registry.properties[entity].set(
      nameOf(type),
      property(nameOf(type), kind, 'enrichment', {
        ...(fieldType ? { fieldType } : {}),
        ...(isChoice ? { options: options(...choices) } : {}),
        ...(kind === 'bool' ? { options: options('true', 'false') } : {}),
      }),
    )
  }
  const wire = await openWire(hubspot.baseUrl)
  const mapping = mappingFor(object, entity, nameOf)
  const connector = createHubspotConnector({
    accessToken: hubspot.token,
    baseUrl: wire.baseUrl,
    mapping: resolveMapping(hubspotMapping, mapping),
    limits: { perTenSeconds: 100_000, searchPerSecond: 100_000 },
  })
  await connector.ensureFields(entity, { dryRun: false })
  wire.forget()
  return {
    connector,
    mapping,
    wire,
    add: (type, isFilled) =>
      hubspot.store.add(entity, { properties: isFilled ? { [nameOf(type)]: String(cases[type].old) } : {} })
        .id,
    value: (id, type) => hubspot.store.get(entity, id)?.properties[nameOf(type)],
    sent: () =>
      wire.log
        .filter(({ path }) => path.endsWith('batch/update'))
        .flatMap(({ body }) => (body as { inputs: { properties: object }[] }).inputs)
        .flatMap(({ properties }) => Object.values(properties) as unknown[]),
    async close() {
      await connector.close()
      await wire.close()
      await hubspot.stop()
    },
  }
}

async function openSalesforce(entity: 'Account' | 'Contact' | 'Lead', object: ObjectKind): Promise<World> {
  const org = await startSalesforceStandIn({ seed: 1, accounts: 0, contacts: 0, leads: 0 })
  const nameOf = (type: Type) => `T_${type}__c`
  for (const type of types) {
    const kind = crmTypes[type].salesforce
    const isChoice = kind === 'picklist' || kind === 'multipicklist'
    org.store.defineField(
      entity,
      field(nameOf(type), kind, isChoice ? { picklist: choices, isRestricted: true } : {}),
    )
  }
  const wire = await openWire(org.baseUrl)
  const mapping = mappingFor(object, entity, nameOf)
  const { clientId, clientSecret } = org.auth
  const connector = createSalesforceConnector({
    loginUrl: wire.baseUrl,
    auth: { kind: 'client_credentials', clientId, clientSecret },
    mapping: resolveMapping(salesforceMapping, mapping),
  })
  return {
    connector,
    mapping,
    wire,
    add: (type, isFilled) =>
      org.store.add(entity, { fields: isFilled ? { [nameOf(type)]: cases[type].old } : {} }).id,
    value: (id, type) => org.store.get(entity, id)?.fields[nameOf(type)],
    sent: () =>
      wire.log
        .filter(({ method, path }) => method === 'PATCH' && path.endsWith('/composite/sobjects'))
        .flatMap(({ body }) => (body as { records: object[] }).records)
        .flatMap((record) => Object.values(record) as unknown[]),
    async close() {
      await connector.close()
      await wire.close()
      await org.stop()
    },
  }
}

const crms: [string, ObjectKind, () => Promise<World>, string][] = [
  ['hubspot companies', 'company', () => openHubspot('companies', 'company'), 'companies'],
  ['hubspot contacts', 'person', () => openHubspot('contacts', 'person'), 'contacts'],
  ['salesforce Account', 'company', () => openSalesforce('Account', 'company'), 'Account'],
  ['salesforce Contact', 'person', () => openSalesforce('Contact', 'person'), 'Contact'],
  ['salesforce Lead', 'person', () => openSalesforce('Lead', 'person'), 'Lead'],
]

describe.each(crms)('in %s nothing good is replaced by nothing', (crm, object, open, entity) => {
  test.each(fieldRules)('under %s', async (rule) => {
    const world = await open()
    try {
      const rows = (await table(object, fittingIn(crm))).map((row) => ({
        id: world.add(row.type, row.isFilled),
        row,
      }))
      await writeBack(world.connector, entity, rows, rule, world.mapping)

      const found = rows.map(({ id, row: { type, answer, isFilled } }) => {
        const value = world.value(id, type)
        return `${type} ${isFilled ? 'filled' : 'blank'}, answered ${answer}: ${read(value)}`
      })
      const expected = rows.map(({ row: { type, answer, isFilled, becomes } }) => {
        const mayWrite = rule !== 'never' && (!isFilled || rule !== 'fill_blank')
        const value = mayWrite && becomes !== undefined ? becomes : isFilled ? cases[type].old : undefined
        return `${type} ${isFilled ? 'filled' : 'blank'}, answered ${answer}: ${read(value)}`
      })
      expect(found).toEqual(expected)
      // Neither a null nor an empty text went out: nothing was cleared, and nothing was tried.
      const sent = world.sent()
      expect(sent.filter((value) => value === null || value === undefined || value === '')).toEqual([])
      if (rule === 'never') expect(sent).toEqual([])
      else expect(sent.length).toBeGreaterThan(types.length)
    } finally {
      await world.close()
    }
  })
})

/** Salesforce writes times with an offset of its own, and whole seconds. */
function read(value: FieldValue | null | undefined): string {
  return value === undefined || value === null || value === ''
    ? '(blank)'
    : JSON.stringify(String(value).replace(/(\.000)(Z|\+0000)?$/, '$1'))
}

describe.each(['company', 'person'] as const)(
  'in a CSV of a %s nothing good is replaced by nothing',
  (object) => {
    // A CSV holds what the service says as it says it: every text is a value there, and so is 0.
    const asTold = (type: Type, name: string): string | undefined => {
      const isContact = object === 'person' && (type === 'email' || type === 'phone')
      if (name === 'good') {
        if (type === 'logo' || isContact) return guardFormula(cases[type].becomes)
        return guardFormula(String(cases[type].good))
      }
      if (type === 'logo' || isContact) return undefined
      if (type === 'number' || type === 'flag') return name === '0' ? '0' : undefined
      return words[name as keyof typeof words]
    }

    test.each(fieldRules)('under %s', async (rule) => {
      const folder = await mkdtemp(join(tmpdir(), 'paydirt-nothing-'))
      try {
        const rows = await table(object, asTold)
        const fields = types.map((type) => sources[object][type])
        // What an earlier run has filled comes back in columns of our own.
        const header = ['profnet_url', ...fields.map((name) => `paydirt_${name}`)]
        const earlier = (row: Row) =>
          types.map((type) =>
            row.isFilled && type === row.type ? JSON.stringify(String(cases[type].old)) : '',
          )
        const lines = rows.map((row, index) =>
          [`https://www.profnet.com/x/${index}`, ...earlier(row)].join(','),
        )
        const path = join(folder, 'in.csv')
        await writeFile(
          path,
          `${header.join(',')}\n${lines.map((line) => line.replaceAll('\\n', ' ')).join('\n')}\n`,
        )
        const csv = await openCsv(path, { object })
        const connector = createCsvConnector({ csv })
        const results = await writeBack(
          connector,
          object,
          rows.map((row, index) => ({ id: String(index + 2), row })),
          rule,
          {},
        )
        const byIndex = new Map(results.map((result) => [Number(result.id), result]))
        const out = join(folder, 'out.csv')
        await writeEnriched({
          input: csv,
          out,
          fields,
          results: rows.map((_, index) => ({
            ordinal: index + 1,
            status: byIndex.get(index)?.status ?? 'unchanged',
            reason: null,
            patch: byIndex.get(index)?.patch ?? null,
            enrichedAt: null,
          })),
        })
        const written = parse(await readFile(out), { columns: true, bom: true }) as Record<string, string>[]
        const found = rows.map(
          ({ type, answer, isFilled }, index) =>
            `${type} ${isFilled}, answered ${answer}: ${written[index]?.[sources[object][type]]}`,
        )
        const expected = rows.map(({ type, answer, isFilled, becomes }) => {
          const old = isFilled ? String(cases[type].old).replaceAll('\n', ' ') : ''
          return `${type} ${isFilled}, answered ${answer}: ${rule !== 'never' && becomes !== undefined ? becomes : old}`
        })
        expect(found).toEqual(expected)
      } finally {
        await rm(folder, { recursive: true, force: true })
      }
    })
  },
)
