import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createCsvConnector, openCsv } from '../../src/connectors/csv/index.ts'
import { createHubspotConnector } from '../../src/connectors/hubspot/index.ts'
import { createSalesforceConnector } from '../../src/connectors/salesforce/index.ts'
import { hubspotMapping } from '../../src/connectors/hubspot/mapping.ts'
import { salesforceMapping } from '../../src/connectors/salesforce/mapping.ts'
import type { CrmMapping } from '../../src/domain/mapping/mapping.ts'
import { startHubspotStandIn } from '../../src/sandbox/hubspot/index.ts'
import { startSalesforceStandIn } from '../../src/sandbox/salesforce/index.ts'
import { testSeed } from '../support/seed.ts'
import { connectorSuite, type ConnectorSuiteOptions } from './connector-suite.ts'

const seed = testSeed()

connectorSuite({
  name: 'csv',
  object: 'company',
  textField: 'industry',
  blanks: [],
  ownFields: 0,
  can: { remove: false, merge: false, convert: false, ownWrites: false, quota: false },
  async open() {
    const directory = await mkdtemp(join(tmpdir(), 'paydirt-suite-'))
    const path = join(directory, 'in.csv')
    const rows = Array.from(
      { length: 1200 },
      (_, at) => `https://www.profnet.com/company/acme-${at},Acme ${at}`,
    )
    await writeFile(path, `profnet_url,company\n${rows.join('\n')}\n`)
    const csv = await openCsv(path, { object: 'company' })
    return {
      connector: createCsvConnector({ csv }),
      entity: 'company',
      ids: rows.map((_, at) => String(at + 2)),
      stop: () => rm(directory, { recursive: true, force: true }),
    }
  },
})

// A contact's address is not filled from a profile by default; here it is, for it is what HubSpot refuses most.
const withEmail: CrmMapping = {
  ...hubspotMapping,
  entities: {
    ...hubspotMapping.entities,
    contacts: {
      ...hubspotMapping.entities['contacts']!,
      fields: { ...hubspotMapping.entities['contacts']!.fields, about: { property: 'email' } },
    },
  },
}

for (const entity of ['contacts', 'companies'] as const) {
  connectorSuite({
    name: `hubspot (${entity})`,
    object: entity === 'contacts' ? 'person' : 'company',
    textField: entity === 'contacts' ? 'job_title' : 'description',
    blanks: ['null', 'empty', 'missing'],
    ownFields: 3,
    unknownId: '77',
    can: { remove: true, merge: true, convert: false, ownWrites: true, quota: true },
    ...(entity === 'contacts'
      ? {
          // It passes for an address here, and HubSpot knows better.
          refused: { patch: { about: { set: 'someone@norvik.con' } }, code: 'INVALID_EMAIL', field: 'about' },
          unfit: { field: 'country_code', value: 'Atlantis', code: 'NOT_A_COUNTRY' },
        }
      : { unfit: { field: 'industry', value: 'Alchemy', code: 'NO_SUCH_OPTION' } }),
    open: () => openHubspot(entity),
  })
}

function filled(values: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== '' && value !== null))
}

async function openHubspot(entity: 'contacts' | 'companies'): ReturnType<ConnectorSuiteOptions['open']> {
  const hubspot = await startHubspotStandIn({
    seed,
    companies: entity === 'companies' ? 320 : 20,
    contacts: entity === 'contacts' ? 320 : 0,
    limits: { searchPerSecond: 1000, perTenSeconds: 10_000 },
  })
  // A null anywhere in a write is an error here, not a success that clears nothing.
  hubspot.faults.nullValues = 'refused'
  const property = (field: string): string => withEmail.entities[entity]!.fields[field]!.property
  return {
    connector: createHubspotConnector({
      accessToken: hubspot.token,
      baseUrl: hubspot.baseUrl,
      mapping: withEmail,
      limits: { searchPerSecond: 1000 },
    }),
    entity,
    ids: [...hubspot.store.list(entity)].map(({ id }) => id),
    store: {
      value: (id, field) => hubspot.store.get(entity, id)?.properties[property(field)] || undefined,
      all: (id) => filled(hubspot.store.get(entity, id)!.properties),
      edit: (id, field, value) => void hubspot.store.edit(entity, id, { [property(field)]: value }),
      blank(id, field, how) {
        hubspot.store.edit(entity, id, { [property(field)]: '' })
        // The API writes a missing value as null; an empty text is what an older import has left behind.
        if (how === 'empty') hubspot.store.get(entity, id)!.properties[property(field)] = ''
      },
    },
    remove: (id) => hubspot.store.archive(entity, id),
    merge: (winner, loser) => hubspot.store.merge(entity, winner, loser),
    stop: () => hubspot.stop(),
  }
}

// An address that passes for one here and is refused there, as for HubSpot.
const withSalesforceEmail: CrmMapping = {
  ...salesforceMapping,
  entities: {
    ...salesforceMapping.entities,
    Contact: {
      ...salesforceMapping.entities['Contact']!,
      fields: { ...salesforceMapping.entities['Contact']!.fields, headline: { property: 'Email' } },
    },
  },
}

for (const [entity, object, prefix] of [
  ['Account', 'company', '001'],
  ['Contact', 'person', '003'],
  ['Lead', 'person', '00Q'],
] as const) {
  connectorSuite({
    name: `salesforce (${entity})`,
    object,
    textField: entity === 'Account' ? 'description' : 'job_title',
    blanks: ['null', 'empty', 'missing'],
    // Custom fields come with the package in crm/salesforce: the connector itself makes none.
    ownFields: 0,
    unknownId: `${prefix}Wx00000zzzzzIAA`,
    can: { remove: true, merge: true, convert: entity === 'Lead', ownWrites: true, quota: true },
    ...(entity === 'Contact'
      ? {
          refused: {
            patch: { headline: { set: 'some,one@norvik.com' } },
            code: 'INVALID_EMAIL_ADDRESS',
            field: 'headline',
          },
        }
      : {}),
    unfit: { field: 'country_code', value: 'Atlantis', code: 'NOT_A_COUNTRY' },
    open: () => openSalesforce(entity),
  })
}

async function openSalesforce(
  entity: 'Account' | 'Contact' | 'Lead',
): ReturnType<ConnectorSuiteOptions['open']> {
  const count = (of: typeof entity): number => (entity === of ? 320 : 20)
  const org = await startSalesforceStandIn({
    seed,
    accounts: count('Account'),
    contacts: count('Contact'),
    leads: count('Lead'),
  })
  const property = (field: string): string => withSalesforceEmail.entities[entity]!.fields[field]!.property
  const { clientId, clientSecret } = org.auth
  return {
    connector: createSalesforceConnector({
      loginUrl: org.baseUrl,
      auth: { kind: 'client_credentials', clientId, clientSecret },
      mapping: withSalesforceEmail,
      pageSize: 100,
    }),
    entity,
    ids: [...org.store.list(entity)].map(({ id }) => id),
    store: {
      value: (id, field) => {
        const value = org.store.get(entity, id)?.fields[property(field)]
        return value === null || value === undefined || value === '' ? undefined : String(value)
      },
      all: (id) => filled(org.store.get(entity, id)!.fields),
      edit: (id, field, value) => org.store.edit(entity, id, { [property(field)]: value }),
      blank(id, field, how) {
        org.store.edit(entity, id, { [property(field)]: null })
        if (how !== 'missing') org.store.get(entity, id)!.fields[property(field)] = how === 'null' ? null : ''
      },
    },
    remove: (id) => org.store.delete(entity, id),
    merge: (winner, loser) => org.store.merge(entity, winner, loser),
    ...(entity === 'Lead' ? { convert: (id: string) => void org.store.convert(id) } : {}),
    stop: () => org.stop(),
  }
}
