import { createSalesforceConnector } from '../../../src/connectors/salesforce/salesforce-connector.ts'
import { salesforceMapping } from '../../../src/connectors/salesforce/mapping.ts'
import type { Patch } from '../../../src/domain/record.ts'
import { startSalesforceStandIn } from '../../../src/sandbox/salesforce/index.ts'
import { FORMER_USER_ID } from '../../../src/sandbox/salesforce/store.ts'
import { testSeed } from '../../support/seed.ts'
import type { MakingOptions } from '../connector-making.ts'
import { filled, type ConnectorSuiteOptions } from '../connector-stage.ts'
import { connectorSuite } from '../connector-suite.ts'
import { observedValues } from '../observed-values.ts'

const profile = (kind: 'company' | 'in', slug: string) => ({
  identity: { kind: 'profile' as const, value: `${kind}/${slug}` },
  values: [
    { Profnet_URL__c: `https://www.profnet.com/${kind}/${slug}` },
    { Profnet_URL__c: `HTTPS://profnet.com/${kind}/${slug}/` },
    { Profnet_URL__c: `profnet.com/${kind}/${slug.toUpperCase()}` },
    { Profnet_URL__c: `http://www.profnet.example/${kind}/${slug}` },
  ],
})
const owner = {
  ownerId: '005Wx0000000P2TIAU',
  formerOwnerId: FORMER_USER_ID,
  ownerProperty: 'OwnerId',
  readOnly: 'CreatedDate',
}
const ofPerson = (extra: Patch, needed: Readonly<Record<string, string>>): MakingOptions => ({
  ...owner,
  perCall: 200,
  patch: (at) => ({
    first_name: { set: 'Ada' },
    last_name: { set: `Made ${at}` },
    email: { set: `ada-${at}@made.com` },
    ...extra,
  }),
  refused: { patch: { email: { set: 'some[one]@norvik.com' } }, code: 'INVALID_EMAIL_ADDRESS' },
  duplicate: {
    existing: { LastName: 'Norvik', Email: 'ada@norvik.com', ...needed },
    patch: { email: { set: 'Ada@norvik.com' } },
  },
  spellings: [
    {
      identity: { kind: 'email', value: 'ada@norvik.com' },
      values: [
        { LastName: 'A', Email: 'Ada@Norvik.com' },
        { LastName: 'B', Paydirt_Personal_Email__c: 'ada@norvik.com' },
      ].map((each) => ({ ...each, ...needed })),
    },
    {
      identity: { kind: 'phone', value: '+493012345678' },
      values: ['+493012345678', '+49 30 12345678', '030 12345678', '00493012345678', '03012345678'].flatMap(
        (number) => [
          { LastName: 'A', Phone: number, ...needed },
          { LastName: 'B', MobilePhone: number, ...needed },
        ],
      ),
    },
    profile('in', 'ada-norvik'),
  ],
  many: (at) => ({
    identities: [
      { kind: 'email', value: `ada.lovelace-${at}@norvik.com` },
      { kind: 'phone', value: `+4930901821${String(at).padStart(2, '0')}` },
      { kind: 'profile', value: `in/ada-lovelace-${at}` },
      { kind: 'name', value: `ada lovelace ${at}` },
    ],
    values:
      at % 2 === 0
        ? {
            ...needed,
            LastName: `N ${at}`,
            Email: `ada.lovelace-${at}@norvik.com`,
            Phone: '',
            MobilePhone: '',
          }
        : {
            ...needed,
            LastName: `N ${at}`,
            Email: '',
            Phone: '',
            Paydirt_Personal_Email__c: '',
            Profnet_URL__c: `https://www.profnet.com/in/ada-lovelace-${at}`,
          },
  }),
  set: { property: 'LeadSource', value: 'Purchased List' },
})
const making: Record<'Account' | 'Contact' | 'Lead', MakingOptions> = {
  Account: {
    ...owner,
    perCall: 200,
    patch: (at) => ({ company_name: { set: `Made ${at} Ltd` }, website: { set: `https://made-${at}.com` } }),
    duplicate: {
      existing: { Name: 'Norvik', Website: 'www.norvik.com' },
      patch: { company_name: { set: 'NORVIK' }, website: { set: 'https://norvik.com' } },
    },
    spellings: [
      {
        identity: { kind: 'domain', value: 'norvik.com' },
        values: ['norvik.com', 'www.Norvik.com', 'https://www.norvik.com', 'http://norvik.com/'].map(
          (Website) => ({
            Name: 'Norvik',
            Website,
          }),
        ),
      },
      profile('company', 'norvik'),
      { identity: { kind: 'name', value: 'norvik' }, values: [{ Name: 'Norvik' }, { Name: 'NORVIK' }] },
    ],
    many: (at) => ({
      identities: [
        { kind: 'domain', value: `company-number-${at}.com` },
        { kind: 'profile', value: `company/company-number-${at}` },
        { kind: 'name', value: `company number ${at}` },
      ],
      values:
        at % 2 === 0
          ? { Name: `Company Number ${at} Ltd`, Website: `company-number-${at}.com` }
          : {
              Name: `Company Number ${at} Inc`,
              Website: '',
              Profnet_URL__c: `https://www.profnet.com/company/company-number-${at}`,
            },
    }),
    set: { property: 'Type', value: 'Prospect' },
  },
  Contact: { ...ofPerson({}, {}), ties: 'Account' },
  Lead: ofPerson({ company_name: { set: 'Engines' } }, { Company: 'Engines' }),
}

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
    making: making[entity],
    noting: { ownerId: owner.ownerId, formerOwnerId: FORMER_USER_ID },
    observed:
      entity === 'Lead' ? undefined : observedValues(entity === 'Contact' ? 'person' : 'company', 'option'),
    open: () => openSalesforce(entity),
  })
}

/** A lead has no deal yet: a campaign is what others tie it to. */
const deals = { Account: 'Opportunities', Contact: 'OpportunityContactRoles', Lead: 'CampaignMembers' }

async function openSalesforce(
  entity: 'Account' | 'Contact' | 'Lead',
): ReturnType<ConnectorSuiteOptions['open']> {
  const count = (of: typeof entity): number => (entity === of ? 320 : 20)
  let ahead = 0
  const now = (): number => Date.now() + ahead
  const org = await startSalesforceStandIn({
    now,
    seed: testSeed(),
    accounts: count('Account'),
    contacts: count('Contact'),
    leads: count('Lead'),
    dataCom: true,
  })
  const property = (field: string): string => salesforceMapping.entities[entity]!.fields[field]!.property
  const { clientId, clientSecret } = org.auth
  const fields = org.store.schema[entity].fields
  // The key comes with the package: an org that has an older one lacks it.
  const key = fields.get('paydirt_key__c')!
  fields.delete('paydirt_key__c')
  const activitiesOf = (kind: 'note' | 'task', id: string): string[] =>
    [...org.store.list(kind === 'note' ? 'Note' : 'Task')].flatMap((record) =>
      record.deletedAtMs === undefined &&
      [record.fields['ParentId'], record.fields['WhatId'], record.fields['WhoId']].includes(id)
        ? [record.id]
        : [],
    )
  return {
    connector: createSalesforceConnector({
      loginUrl: org.baseUrl,
      auth: { kind: 'client_credentials', clientId, clientSecret },
      mapping: salesforceMapping,
      pageSize: 100,
      now,
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
    making: {
      add: (values) => org.store.add(entity, { fields: filled(values) as Record<string, string> }).id,
      edit: (id, values) => org.store.edit(entity, id, values),
      ids: () =>
        [...org.store.list(entity)].flatMap(({ id, deletedAtMs }) => (deletedAtMs === undefined ? [id] : [])),
      isArchived: (id) => org.store.get(entity, id)?.deletedAtMs !== undefined,
      tieDeal: (id) => void org.store.tie(deals[entity], id),
      ...(entity === 'Contact' ? { tieTo: [...org.store.list('Account')][0]!.id } : {}),
      requests: () => org.stats().requests,
      loseAnswer: () =>
        org.faults.inject({ kind: 'drop-after', method: 'POST', path: /\/composite\/sobjects$/ }),
      deploy: () => org.store.defineField(entity, key),
    },
    noting: {
      of: (kind, id) => activitiesOf(kind, id),
      read(kind, id) {
        const { fields } = org.store.get(kind === 'note' ? 'Note' : 'Task', id)!
        return {
          text: [fields['Title'], fields['Subject'], fields['Body'], fields['Description']].join(' '),
          owner: fields['OwnerId'] as string,
          due: fields['ActivityDate'] as string | undefined,
        }
      },
      edit: (kind, id) =>
        org.store.edit(kind === 'note' ? 'Note' : 'Task', id, {
          [kind === 'note' ? 'Body' : 'Description']: 'Edited',
        }),
      complete: (id) => org.store.edit('Task', id, { Status: 'Completed' }),
      loseAnswer: () =>
        org.faults.inject({ kind: 'drop-after', method: 'POST', path: /\/composite\/sobjects$/ }),
      loseRequest: () => org.faults.inject({ kind: 'drop', method: 'POST', path: /\/composite\/sobjects$/ }),
      requests: () => org.stats().requests,
    },
    passTime: (ms) => void (ahead += ms),
    remove: (id) => org.store.delete(entity, id),
    merge(winner, loser) {
      org.store.merge(entity, winner, loser)
      return winner
    },
    ...(entity === 'Lead' ? { convert: (id: string) => void org.store.convert(id) } : {}),
    stop: () => org.stop(),
  }
}
