import { expect } from 'vitest'
import type { Config } from '../../src/app/config/config.ts'
import { createRecordForms } from '../../src/app/context/record-form.ts'
import type { Connector } from '../../src/connectors/connector.ts'
import { createHubspotConnector } from '../../src/connectors/hubspot/hubspot-connector.ts'
import { createSalesforceConnector } from '../../src/connectors/salesforce/salesforce-connector.ts'
import type { FieldMapping } from '../../src/domain/mapping/mapping.ts'
import { hubspotMapping } from '../../src/connectors/hubspot/mapping.ts'
import { salesforceMapping } from '../../src/connectors/salesforce/mapping.ts'
import { resolveMapping, type MappingConfig } from '../../src/domain/mapping/schema.ts'
import type { FieldRule } from '../../src/domain/field-policy/field-policy.ts'
import type { FieldValue, Patch } from '../../src/domain/record.ts'
import type { ObjectKind } from '../../src/domain/words.ts'
import { startHubspotStandIn } from '../../src/sandbox/hubspot/index.ts'
import { options, property, type PropertyType } from '../../src/sandbox/hubspot/properties.ts'
import { startSalesforceStandIn } from '../../src/sandbox/salesforce/index.ts'
import { field, type FieldType as SalesforceFieldType } from '../../src/sandbox/salesforce/schema.ts'
import type { TaskOutcome } from '../../src/store/writes/task-outcome.ts'
import type { ReadyTask } from '../../src/store/runs/ready-tasks.ts'
import { createWake } from '../../src/timing/wake.ts'
import { createWriteBack } from '../../src/workers/write/write-back.ts'
import { roomy } from './crm-house.ts'
import { openWire, type Wire } from './wire.ts'
import {
  type Raw,
  nothings,
  oddities,
  typesOf,
  type Type,
  cases,
  sourceOf,
  patchFor,
} from './nothing-replaces.fixture.ts'

export interface Row {
  type: Type
  answer: string
  isFilled: boolean
  /** The field's value afterwards when the rule lets everything through; undefined: what was there. */
  becomes: string | undefined
  patch: Patch | undefined
}

export async function table(
  object: ObjectKind,
  keeps: (type: Type, name: string) => string | undefined,
): Promise<Row[]> {
  const rows: Row[] = []
  for (const type of typesOf(object)) {
    for (const [answer, raw] of [...nothings, ...oddities, ['good', cases[type].good] as [string, Raw]]) {
      const patch = await patchFor(object, type, raw)
      for (const isFilled of [true, false])
        rows.push({ type, answer, isFilled, becomes: keeps(type, answer), patch })
    }
  }
  return rows
}

/** Returns the value of a CRM's field of the type after an answer; undefined where the answer is no value of the type. */
export function fitting(type: Type, name: string): string | undefined {
  return name === 'good' ? cases[type].becomes : cases[type].values?.[name]
}

/** Takes all rows through the write-back in one batch. Values in the records count as written by us before. */
export async function writeBack(
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
    tasks: {
      readyState: async () => ({ count: waiting.length, since: new Date(0), hot: 0, moreToCome: false }),
      ready: async () => waiting,
      finish: async (ended) => end(ended as TaskOutcome[]),
    },
    fieldWrites: {
      history: async () => ({
        ours,
        open: new Map(),
        blocked: new Map(),
        undone: new Map(),
        wrote: new Map(),
      }),
      intend: async () => {},
      noteMerges: async () => {},
      confirmWrites: end,
    },
    connector: () => connector,
    rule: () => rule,
    formOf: createRecordForms({
      connectors: { hubspot: { mapping }, salesforce: { mapping } },
    } as unknown as Config),
    suppressed: async () => new Set(),
    batchSize: 2_000,
    now: () => new Date(),
    pressReady: createWake(),
    onGathering: () => {},
    onHalt: (error) => {
      throw error
    },
    onLongWait: () => {},
    onUnexpected: ({ problem }) => {
      throw new Error(problem)
    },
  })
  const outcome = await work({ connector: connector.name, entity })
  expect(outcome).toBeUndefined()
  expect(waiting).toEqual([])
  return results
}

export interface World {
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
    typesOf(object).map((type): [string, FieldMapping] => [
      sourceOf(object, type),
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
  for (const type of typesOf(object)) {
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
  for (const type of typesOf(object)) {
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

export const crms: [string, ObjectKind, () => Promise<World>, string][] = [
  ['hubspot companies', 'company', () => openHubspot('companies', 'company'), 'companies'],
  ['hubspot contacts', 'person', () => openHubspot('contacts', 'person'), 'contacts'],
  ['salesforce Account', 'company', () => openSalesforce('Account', 'company'), 'Account'],
  ['salesforce Contact', 'person', () => openSalesforce('Contact', 'person'), 'Contact'],
  ['salesforce Lead', 'person', () => openSalesforce('Lead', 'person'), 'Lead'],
]
