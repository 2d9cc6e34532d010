import { createSalesforceConnector } from '../../../src/connectors/salesforce/salesforce-connector.ts'
import { salesforceMapping } from '../../../src/connectors/salesforce/mapping.ts'
import { startSalesforceStandIn } from '../../../src/sandbox/salesforce/index.ts'
import { testSeed } from '../../support/seed.ts'
import { filled, type ConnectorSuiteOptions } from '../connector-stage.ts'
import { connectorSuite } from '../connector-suite.ts'

for (const [entity, prefix] of [
  ['Account', '001'],
  ['Contact', '003'],
  ['Lead', '00Q'],
] as const) {
  connectorSuite({
    connector: 'salesforce',
    entity,
    textField: entity === 'Account' ? 'description' : 'job_title',
    blanks: ['null', 'empty', 'missing'],
    // Custom fields come with the package in crm/salesforce: the connector itself makes none.
    ownFields: 0,
    unknownId: `${prefix}Wx00000zzzzzIAA`,
    idProperty: 'Id',
    can: entity === 'Lead' ? ['remove', 'merge', 'convert'] : ['remove', 'merge'],
    ...(entity === 'Contact'
      ? {
          refused: {
            patch: { email: { set: 'some[one]@norvik.com' } },
            code: 'INVALID_EMAIL_ADDRESS',
            field: 'email',
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
    seed: testSeed(),
    accounts: count('Account'),
    contacts: count('Contact'),
    leads: count('Lead'),
    dataCom: true,
  })
  const property = (field: string): string => salesforceMapping.entities[entity]!.fields[field]!.property
  const { clientId, clientSecret } = org.auth
  return {
    connector: createSalesforceConnector({
      loginUrl: org.baseUrl,
      auth: { kind: 'client_credentials', clientId, clientSecret },
      mapping: salesforceMapping,
      pageSize: 100,
    }),
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
    merge(winner, loser) {
      org.store.merge(entity, winner, loser)
      return winner
    },
    ...(entity === 'Lead' ? { convert: (id: string) => void org.store.convert(id) } : {}),
    stop: () => org.stop(),
  }
}
