import { createHubspotConnector } from '../../../src/connectors/hubspot/hubspot-connector.ts'
import { hubspotMapping } from '../../../src/connectors/hubspot/mapping.ts'
import { startHubspotStandIn } from '../../../src/sandbox/hubspot/index.ts'
import { testSeed } from '../../support/seed.ts'
import type { MakingOptions } from '../connector-making.ts'
import { filled, type ConnectorSuiteOptions } from '../connector-stage.ts'
import { connectorSuite } from '../connector-suite.ts'
import { observedValues } from '../observed-values.ts'

const profile = (kind: 'company' | 'in', slug: string) => ({
  identity: { kind: 'profile' as const, value: `${kind}/${slug}` },
  values: [
    { profnet_url: `https://www.profnet.com/${kind}/${slug}` },
    { profnet_url: `HTTPS://profnet.com/${kind}/${slug}` },
    { profnet_url: `profnet.com/${kind}/${slug.toUpperCase()}` },
    { profnet_url: `http://www.profnet.com/${kind}/${slug}` },
    { profnet_url: `https://www.profnet.com/${kind}/${slug}/` },
  ],
})
const shared = {
  perCall: 100,
  ownerId: '71001',
  formerOwnerId: '71003',
  ownerProperty: 'hubspot_owner_id',
  readOnly: 'hs_object_id',
}
const making: Record<'companies' | 'contacts', MakingOptions> = {
  companies: {
    ...shared,
    patch: (at) => ({ company_name: { set: `Made ${at} Ltd` }, domain: { set: `made-${at}.com` } }),
    spellings: [
      {
        identity: { kind: 'domain', value: 'norvik.com' },
        values: [
          { domain: 'norvik.com' },
          { domain: 'www.Norvik.com' },
          { website: 'https://www.norvik.com' },
          { website: 'https://norvik.com' },
          { website: 'http://norvik.com' },
          { website: 'Norvik.com' },
          { website: 'https://www.norvik.com/' },
        ],
      },
      profile('company', 'norvik'),
      { identity: { kind: 'name', value: 'norvik' }, values: [{ name: 'Norvik' }, { name: 'NORVIK' }] },
    ],
    many: (at) => ({
      identities: [
        { kind: 'domain', value: `company-number-${at}.com` },
        { kind: 'profile', value: `company/company-number-${at}` },
        { kind: 'name_domain', value: `company number ${at}@company-number-${at}.com` },
        { kind: 'name', value: `company number ${at}` },
      ],
      values:
        at % 2 === 0
          ? { name: `Company Number ${at} Ltd`, domain: `company-number-${at}.com`, website: '' }
          : {
              name: `Company Number ${at} Inc`,
              domain: '',
              website: '',
              profnet_url: `https://www.profnet.com/company/company-number-${at}`,
            },
    }),
    set: { property: 'lifecyclestage', value: 'lead' },
  },
  contacts: {
    ...shared,
    patch: (at) => ({
      first_name: { set: 'Ada' },
      last_name: { set: `Made ${at}` },
      email: { set: `ada-${at}@made.com` },
    }),
    // Well-formed, so that only HubSpot refuses it.
    refused: { patch: { email: { set: 'someone@norvik.con' } }, code: 'INVALID_EMAIL' },
    duplicate: {
      existing: { email: 'ada@norvik.com', firstname: 'Ada' },
      patch: { email: { set: 'Ada@norvik.com' } },
    },
    spellings: [
      {
        identity: { kind: 'email', value: 'ada@norvik.com' },
        values: [{ email: 'ada@norvik.com' }, { work_email: 'ada@norvik.com' }],
      },
      {
        identity: { kind: 'phone', value: '+493012345678' },
        values: [{ phone: '+493012345678' }, { mobilephone: '+493012345678' }, { phone: '00493012345678' }],
      },
      profile('in', 'ada-norvik'),
    ],
    many: (at) => ({
      identities: [
        { kind: 'email', value: `ada.lovelace-${at}@norvik.com` },
        { kind: 'profile', value: `in/ada-lovelace-${at}` },
        { kind: 'name', value: `ada lovelace ${at}` },
      ],
      values: (at % 2 === 0
        ? { email: `ada.lovelace-${at}@norvik.com`, work_email: '', phone: '', mobilephone: '' }
        : { email: '', phone: '', profnet_url: `https://www.profnet.com/in/ada-lovelace-${at}` }) as Record<
        string,
        string
      >,
    }),
    set: { property: 'lifecyclestage', value: 'lead' },
    ties: 'companies',
  },
}

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
    making: making[entity],
    observed: observedValues(entity === 'contacts' ? 'person' : 'company', 'boolean'),
    noting: { ownerId: '71002', formerOwnerId: '71003' },
    open: () => openHubspot(entity),
  })
}

async function openHubspot(entity: 'contacts' | 'companies'): ReturnType<ConnectorSuiteOptions['open']> {
  let ahead = 0
  const now = (): number => Date.now() + ahead
  const hubspot = await startHubspotStandIn({
    now,
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
      now,
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
    making: {
      add: (values) => hubspot.store.add(entity, { properties: filled(values) as Record<string, string> }).id,
      edit: (id, values) => void hubspot.store.edit(entity, id, values),
      ids: () =>
        [...hubspot.store.list(entity)].flatMap(({ id, archivedAtMs }) =>
          archivedAtMs === undefined ? [id] : [],
        ),
      isArchived: (id) => hubspot.store.get(entity, id)?.archivedAtMs !== undefined,
      tieDeal: (id) => hubspot.store.tie(entity, id, 'deals', '501'),
      ...(entity === 'contacts' ? { tieTo: [...hubspot.store.list('companies')][0]!.id } : {}),
      requests: () => hubspot.stats().requests,
      loseAnswer: () => hubspot.faults.inject({ kind: 'drop-after', path: /batch\/upsert$/ }),
      lagSearch: (ms) => void (hubspot.faults.indexLagMs = ms),
    },
    noting: {
      of: (kind, id) => hubspot.store.activities.of(entity, id, kind === 'note' ? 'notes' : 'tasks'),
      read(_, id) {
        const { properties } = hubspot.store.activities.all.get(id)!
        return {
          text: [properties['hs_task_subject'], properties['hs_note_body'], properties['hs_task_body']].join(
            ' ',
          ),
          owner: properties['hubspot_owner_id'],
          due: properties['hs_timestamp']?.slice(0, 10),
        }
      },
      edit: (kind, id) => hubspot.store.activities.edit(id, { [`hs_${kind}_body`]: '<p>Edited</p>' }),
      complete: (id) => hubspot.store.activities.edit(id, { hs_task_status: 'COMPLETED' }),
      loseAnswer: () => hubspot.faults.inject({ kind: 'drop-after', path: /(notes|tasks)\/batch\/create$/ }),
      loseRequest: () => hubspot.faults.inject({ kind: 'drop', path: /(notes|tasks)\/batch\/create$/ }),
      requests: () => hubspot.stats().requests,
    },
    passTime: (ms) => void (ahead += ms),
    remove: (id) => hubspot.store.archive(entity, id),
    merge: (winner, loser) => hubspot.store.merge(entity, winner, loser),
    stop: () => hubspot.stop(),
  }
}
