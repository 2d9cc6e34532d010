import { createHubspotConnector } from '../../../src/connectors/hubspot/hubspot-connector.ts'
import { hubspotMapping } from '../../../src/connectors/hubspot/mapping.ts'
import { startHubspotStandIn } from '../../../src/sandbox/hubspot/index.ts'
import { testSeed } from '../../support/seed.ts'
import { filled, type ConnectorSuiteOptions } from '../connector-stage.ts'
import { connectorSuite } from '../connector-suite.ts'

for (const entity of ['contacts', 'companies'] as const) {
  connectorSuite({
    connector: 'hubspot',
    entity,
    textField: entity === 'contacts' ? 'job_title' : 'description',
    blanks: ['null', 'empty', 'missing'],
    ownFields: 3,
    unknownId: '77',
    idProperty: 'hs_object_id',
    can: ['remove', 'merge'],
    ...(entity === 'contacts'
      ? {
          // Well-formed, so that only HubSpot refuses it.
          refused: { patch: { email: { set: 'someone@norvik.con' } }, code: 'INVALID_EMAIL', field: 'email' },
          unfit: { field: 'country_code', value: 'Atlantis', code: 'NOT_A_COUNTRY' },
        }
      : { unfit: { field: 'industry', value: 'Alchemy', code: 'NO_SUCH_OPTION' } }),
    open: () => openHubspot(entity),
  })
}

async function openHubspot(entity: 'contacts' | 'companies'): ReturnType<ConnectorSuiteOptions['open']> {
  const hubspot = await startHubspotStandIn({
    seed: testSeed(),
    companies: entity === 'companies' ? 320 : 20,
    contacts: entity === 'contacts' ? 320 : 0,
    limits: { searchPerSecond: 1000, perTenSeconds: 10_000 },
  })
  // A null anywhere in a write is an error here, not a success that clears nothing.
  hubspot.faults.nullValues = 'refused'
  const property = (field: string): string => hubspotMapping.entities[entity]!.fields[field]!.property
  return {
    connector: createHubspotConnector({
      accessToken: hubspot.token,
      baseUrl: hubspot.baseUrl,
      mapping: hubspotMapping,
      limits: { searchPerSecond: 1000 },
    }),
    ids: [...hubspot.store.list(entity)].map(({ id }) => id),
    store: {
      value: (id, field) => hubspot.store.get(entity, id)?.properties[property(field)] || undefined,
      all: (id) => filled(hubspot.store.get(entity, id)!.properties),
      edit: (id, field, value) => void hubspot.store.edit(entity, id, { [property(field)]: value }),
      blank(id, field, how) {
        hubspot.store.edit(entity, id, { [property(field)]: '' })
        // The API writes a missing value as null; older imports have left empty texts behind.
        if (how === 'empty') hubspot.store.get(entity, id)!.properties[property(field)] = ''
      },
    },
    remove: (id) => hubspot.store.archive(entity, id),
    merge: (winner, loser) => hubspot.store.merge(entity, winner, loser),
    stop: () => hubspot.stop(),
  }
}
