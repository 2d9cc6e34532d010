import { createHubspotConnector } from '../../src/connectors/hubspot/hubspot-connector.ts'
import { hubspotMapping } from '../../src/connectors/hubspot/mapping.ts'
import type { Connector } from '../../src/connectors/connector.ts'
import type { NoteDraft, NoteKind } from '../../src/connectors/noting.ts'
import { salesforceMapping } from '../../src/connectors/salesforce/mapping.ts'
import { createSalesforceConnector } from '../../src/connectors/salesforce/salesforce-connector.ts'
import { markerOf, markersIn } from '../../src/domain/notes/marker.ts'
import { startHubspotStandIn } from '../../src/sandbox/hubspot/index.ts'
import { startSalesforceStandIn } from '../../src/sandbox/salesforce/index.ts'
import { FORMER_USER_ID } from '../../src/sandbox/salesforce/store.ts'

/** An account or org with companies, and its notes and tasks past the connector. */
export interface NoteCrm {
  kind: 'hubspot' | 'salesforce'
  entity: string
  /** Everything that another process needs to connect. */
  access: NoteAccess
  connector: Connector
  records: string[]
  owners: readonly [string, string]
  formerOwner: string
  own(recordId: string, ownerId: string): void
  /** Returns the marker of every note and task that is there. */
  markers(): string[]
  ownerOf(kind: NoteKind, id: string): string | undefined
  edit(kind: NoteKind, id: string): void
  complete(id: string): void
  loseAnswer(): void
  loseRequest(): void
  /** The user of the integration loses, or gets, the right to write notes. */
  permit(isPermitted: boolean): void
  /** It gets the right to delete what others own, where the CRM knows such. */
  permitRemoval(): void
  stop(): Promise<void>
}

export interface NoteAccess {
  kind: 'hubspot' | 'salesforce'
  baseUrl: string
  token: string
  clientId: string
  clientSecret: string
}

export function connect({ kind, baseUrl, token, clientId, clientSecret }: NoteAccess): Connector {
  return kind === 'hubspot'
    ? createHubspotConnector({ accessToken: token, baseUrl, mapping: hubspotMapping })
    : createSalesforceConnector({
        loginUrl: baseUrl,
        auth: { kind: 'client_credentials', clientId, clientSecret },
        mapping: salesforceMapping,
      })
}

export async function openNoteCrm(kind: 'hubspot' | 'salesforce'): Promise<NoteCrm> {
  return kind === 'hubspot' ? openHubspot() : openSalesforce()
}

async function openHubspot(): Promise<NoteCrm> {
  const crm = await startHubspotStandIn({ companies: 12, contacts: 0, limits: { perTenSeconds: 100_000 } })
  const { all } = crm.store.activities
  const access = {
    kind: 'hubspot',
    baseUrl: crm.baseUrl,
    token: crm.token,
    clientId: '',
    clientSecret: '',
  } as const
  const creation = /(notes|tasks)\/batch\/create$/
  return {
    kind: 'hubspot',
    entity: 'companies',
    access,
    connector: connect(access),
    records: [...crm.store.list('companies')].map(({ id }) => id),
    owners: ['71001', '71002'],
    formerOwner: '71003',
    own: (id, owner) => void crm.store.edit('companies', id, { hubspot_owner_id: owner }),
    markers: () =>
      [...all.values()].flatMap(({ archivedAtMs, properties }) =>
        archivedAtMs === undefined
          ? markersIn(`${properties['hs_note_body'] ?? ''}${properties['hs_task_body'] ?? ''}`)
          : [],
      ),
    ownerOf: (_, id) => all.get(id)?.properties['hubspot_owner_id'],
    edit: (noteKind, id) => crm.store.activities.edit(id, { [`hs_${noteKind}_body`]: 'Edited' }),
    complete: (id) => crm.store.activities.edit(id, { hs_task_status: 'COMPLETED' }),
    loseAnswer: () => crm.faults.inject({ kind: 'drop-after', path: creation }),
    loseRequest: () => crm.faults.inject({ kind: 'drop', path: creation }),
    permit(isPermitted) {
      if (isPermitted) crm.auth.scopes.add('crm.objects.contacts.write')
      else crm.auth.scopes.delete('crm.objects.contacts.write')
    },
    permitRemoval: () => {},
    stop: () => crm.stop(),
  }
}

async function openSalesforce(): Promise<NoteCrm> {
  const org = await startSalesforceStandIn({ accounts: 12, contacts: 0, leads: 0 })
  const typeOf = (kind: NoteKind) => (kind === 'note' ? 'Note' : 'Task')
  const { clientId, clientSecret } = org.auth
  const access = { kind: 'salesforce', baseUrl: org.baseUrl, token: '', clientId, clientSecret } as const
  const creation = { method: 'POST', path: /\/composite\/sobjects$/ } as const
  return {
    kind: 'salesforce',
    entity: 'Account',
    access,
    connector: connect(access),
    records: [...org.store.list('Account')].map(({ id }) => id),
    owners: [org.store.apiUserId, '005Wx0000000P2TIAU'],
    formerOwner: FORMER_USER_ID,
    own: (id, owner) => org.store.edit('Account', id, { OwnerId: owner }),
    markers: () =>
      [...org.store.list('Note'), ...org.store.list('Task')].flatMap(({ deletedAtMs, fields }) =>
        deletedAtMs === undefined ? markersIn(String(fields['Body'] ?? fields['Description'] ?? '')) : [],
      ),
    ownerOf: (kind, id) => org.store.get(typeOf(kind), id)?.fields['OwnerId'] as string,
    edit: (kind, id) =>
      org.store.edit(typeOf(kind), id, { [kind === 'note' ? 'Body' : 'Description']: 'Edited' }),
    complete: (id) => org.store.edit('Task', id, { Status: 'Completed' }),
    loseAnswer: () => org.faults.inject({ kind: 'drop-after', ...creation }),
    loseRequest: () => org.faults.inject({ kind: 'drop', ...creation }),
    permit(isPermitted) {
      for (const type of ['Note', 'Task'] as const)
        if (isPermitted) org.store.access.cannotCreate.delete(type)
        else org.store.access.cannotCreate.add(type)
    },
    permitRemoval: () => void org.store.access.modifyAll.add('Account'),
    stop: () => org.stop(),
  }
}

/** Returns a draft about a record; the same number gives the same marker. */
export function noteDraft(recordId: string, number: number, kind: NoteKind = 'note'): NoteDraft {
  return {
    kind,
    marker: markerOf('test', recordId, String(number), kind),
    recordId,
    title: `Title ${number}`,
    body: `Body ${number}`,
    links: [{ title: 'News', url: `https://news.example/${number}` }],
    ...(kind === 'task' ? { dueAt: new Date('2026-12-01T00:00:00Z') } : {}),
  }
}
