import { sql } from 'kysely'
import { openConnector } from '../../src/app/context/connectors.ts'
import type { Overrides } from '../../src/app/context/context.ts'
import type { FileConfig } from '../../src/app/config/file.ts'
import { makeReady, syncEntity } from '../../src/app/runs/sync.ts'
import { undoableRun, undoRun } from '../../src/app/records/undo.ts'
import { markersIn } from '../../src/domain/notes/marker.ts'
import { startHubspotStandIn } from '../../src/sandbox/hubspot/index.ts'
import { startSalesforceStandIn } from '../../src/sandbox/salesforce/index.ts'
import { FORMER_USER_ID } from '../../src/sandbox/salesforce/store.ts'
import type { SalesforceType } from '../../src/sandbox/salesforce/schema.ts'
import type { Sandbox } from '../../src/sandbox/sandbox.ts'
import { sized } from '../support/full-size.ts'
import { openHouse } from '../support/house.ts'
import { testSeed } from '../support/seed.ts'
import { quick, roomy, type Entity } from './crm-house.ts'
import { openWire } from './wire.ts'

type Value = string | number | boolean | null
export type Values = Record<string, Value>

type OneObject = Pick<Crm, 'add' | 'edit' | 'remove' | 'state' | 'ids' | 'tieDeal'>

/** A CRM's stand-in, behind a wire that writes down what is said, as tests of either CRM need it. */
interface Crm {
  env(baseUrl: string): Record<string, string>
  baseUrl: string
  add(values: Values): string
  /** Adds a record of another entity. */
  addTo(entity: string, values: Values): string
  /** A person edits the record; null clears. */
  edit(id: string, values: Values): void
  /** A person deletes the record. */
  remove(id: string): void
  /** Everything that stands in every record, blanks left out. The stamps of last change are no values. */
  state(): Map<string, Values>
  /** Ids of the records that are not archived. */
  ids(): string[]
  /** A person ties a deal to the record. */
  tieDeal(id: string): void
  /** The same of another object. */
  of(entity: string): OneObject
  /** The ids of the companies to which a person is tied. */
  companiesOf(id: string): string[]
  /** The marker of every note and task that is there. */
  markers(): string[]
  /** Ids of users: two who are there, and one who has left. */
  owners: readonly [string, string, string]
  /** An admin adds a text field that every record must have, where the CRM knows such. */
  requireField?(name: string): void
  /** The CRM's search shows new records only after this time, where it can. */
  lagSearch(ms: number): void
  /** The requests with which the records are read before they are written, and with which they are written. */
  reads: RegExp
  writes: RegExp
  /** The records that a request reads. */
  asked(body: unknown): string[]
  /** The values of each record in a request that writes. */
  written(body: unknown): { id: string; values: Values }[]
  stop(): Promise<void>
}

export const crmKinds = ['hubspot', 'salesforce'] as const
export type CrmKind = (typeof crmKinds)[number]
/** Both CRMs at full size. The short one has tests of each connector by itself, and what they share by one of them. */
export const sharedKinds: readonly CrmKind[] = crmKinds.slice(0, sized(2, 1))

/** Paydirt in this process in front of an account or org of its own, with every request to it on record. */
export async function openCrmWorld(
  sandbox: Sandbox,
  kind: CrmKind,
  entity: string,
  config: FileConfig = {},
  overrides: Overrides = {},
) {
  const crm = await openCrm(kind, entity)
  const wire = await openWire(crm.baseUrl)
  const house = await openHouse(sandbox, {
    env: crm.env(wire.baseUrl),
    config: { ...config, connectors: { ...quick, ...config.connectors } },
    overrides,
  })
  const { context } = house
  const connector = await openConnector(context.config, kind, undefined)
  const signal = new AbortController().signal
  await makeReady(connector, [entity])

  return {
    ...house,
    ...crm,
    wire,
    connector,
    kind,
    entity,
    /** Returns what was sent to the CRM to be written since the log was last forgotten. */
    sent: () =>
      wire.log
        .filter(({ method, path }) => crm.writes.test(`${method} ${path}`))
        .flatMap(({ body }) => crm.written(body)),
    /** The requests that read records before they are written, and those that write them, with their records. */
    readsAndWrites: () =>
      wire.log.flatMap(({ method, path, body }) => {
        const line = `${method} ${path}`
        if (crm.reads.test(line)) return [{ what: 'read', ids: crm.asked(body) }]
        const ids = crm.writes.test(line) ? crm.written(body).map(({ id }) => id) : []
        return ids.length > 0 ? [{ what: 'write', ids }] : []
      }),
    async sync(job: { since?: Date; recipe?: string } = { since: new Date(0) }, until = signal) {
      const end = await syncEntity(context, connector, { entity, filter: [], ...job }, { signal: until })
      return end.summary
    },
    async undo(runId: string, more: { field?: string; plan?: boolean } = {}) {
      const run = await undoableRun(context, runId)
      if (!run) throw new Error(`${runId} cannot be undone`)
      return undoRun(context, connector, run, { plan: false, signal, ...more })
    },
    async fieldWrites(state?: string) {
      const rows = await context.database.db.selectFrom('field_writes').selectAll().orderBy('id').execute()
      return rows.filter((row) => state === undefined || row.state === state)
    },
    /** The last task of a record, as it is stored. */
    async task(recordId: string) {
      const query = context.database.db.selectFrom('tasks').selectAll().where('record_id', '=', recordId)
      return query.orderBy('id', 'desc').limit(1).executeTakeFirstOrThrow()
    },
    /** The service says something else from now on: as after its answer has become stale. */
    async answerChanges(keyPart: string, change: Record<string, unknown>) {
      const row = await context.database.db
        .selectFrom('lookups')
        .select(['key', 'answer'])
        .where(sql<boolean>`key like ${`%${keyPart}`}`)
        .executeTakeFirstOrThrow()
      await context.lookups.storeFree(row.key, {
        outcome: 'found',
        data: { ...row.answer, ...change },
        freshUntil: new Date(Date.now() + 86_400_000),
      })
    },
    async close() {
      await connector.close()
      await house.close()
      await wire.close()
      await crm.stop()
    },
  }
}

export type CrmWorld = Awaited<ReturnType<typeof openCrmWorld>>

/** Starts the stand-in of a CRM, for records of one entity. */
export function openCrm(kind: CrmKind, entity: string): Promise<Crm> {
  return kind === 'hubspot' ? openHubspot(entity as Entity) : openSalesforce(entity)
}

async function openHubspot(entity: Entity): Promise<Crm> {
  const hubspot = await startHubspotStandIn({ seed: testSeed(), companies: 0, contacts: 0, limits: roomy })
  const { store } = hubspot
  // A null anywhere in a write is an error here, not a success that clears nothing.
  hubspot.faults.nullValues = 'refused'
  // The addresses of the stand-in service are of a reserved domain, which HubSpot itself would refuse.
  hubspot.faults.acceptedTlds.add('example')
  const texts = (values: Values): Record<string, string> =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value ?? '')]))
  const of = (type: Entity): OneObject => ({
    add: (values) => store.add(type, { properties: texts(values) }).id,
    edit: (id, values) => void store.edit(type, id, texts(values)),
    remove: (id) => store.archive(type, id),
    state: () =>
      new Map(
        [...store.list(type)].map(({ id, properties }) => [
          id,
          Object.fromEntries(Object.entries(properties).filter(([, value]) => value !== '')),
        ]),
      ),
    ids: () =>
      [...store.list(type)].flatMap(({ id, archivedAtMs }) => (archivedAtMs === undefined ? [id] : [])),
    tieDeal: (id) => void store.tie(type, id, 'deals', '501'),
  })
  return {
    baseUrl: hubspot.baseUrl,
    env: (baseUrl) => ({ HUBSPOT_BASE_URL: baseUrl, HUBSPOT_ACCESS_TOKEN: hubspot.token }),
    ...of(entity),
    of: (other) => of(other as Entity),
    addTo: (other, values) => of(other as Entity).add(values),
    companiesOf: (id) => [...store.companiesOf(id).keys()],
    markers: () =>
      [...store.activities.all.values()].flatMap(({ archivedAtMs, properties }) =>
        archivedAtMs === undefined
          ? markersIn(`${properties['hs_note_body'] ?? ''}${properties['hs_task_body'] ?? ''}`)
          : [],
      ),
    owners: ['71001', '71002', '71003'],
    lagSearch: (ms) => void (hubspot.faults.indexLagMs = ms),
    reads: /POST .*batch\/read/,
    asked: (body) => (body as { inputs: { id: string }[] }).inputs.map(({ id }) => id),
    writes: /POST .*batch\/update/,
    written: (body) =>
      (body as { inputs: { id: string; properties: Values }[] }).inputs.map(({ id, properties }) => ({
        id,
        values: properties,
      })),
    stop: () => hubspot.stop(),
  }
}

async function openSalesforce(entity: string): Promise<Crm> {
  const type = entity as SalesforceType
  const org = await startSalesforceStandIn({
    seed: testSeed(),
    accounts: 0,
    contacts: 0,
    leads: 0,
    dataCom: true,
  })
  const { store } = org
  const { clientId, clientSecret } = org.auth
  const of = (object: SalesforceType): OneObject => ({
    add: (values) => store.add(object, { fields: values }).id,
    edit: (id, values) => store.edit(object, id, values),
    remove: (id) => store.delete(object, id),
    state: () =>
      new Map(
        [...store.list(object)].map(({ id, fields }) => [
          id,
          Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== '' && value !== null)),
        ]),
      ),
    ids: () =>
      [...store.list(object)].flatMap(({ id, deletedAtMs }) => (deletedAtMs === undefined ? [id] : [])),
    tieDeal: (id) => void store.tie(object === 'Contact' ? 'OpportunityContactRoles' : 'Opportunities', id),
  })
  return {
    baseUrl: org.baseUrl,
    env: (baseUrl) => ({
      SALESFORCE_LOGIN_URL: baseUrl,
      SALESFORCE_CLIENT_ID: clientId,
      SALESFORCE_CLIENT_SECRET: clientSecret,
    }),
    ...of(type),
    of: (other) => of(other as SalesforceType),
    addTo: (other, values) => of(other as SalesforceType).add(values),
    companiesOf(id) {
      const account = store.get('Contact', id)?.fields['AccountId']
      return typeof account === 'string' ? [account] : []
    },
    markers: () =>
      [...store.list('Note'), ...store.list('Task')].flatMap(({ deletedAtMs, fields }) =>
        deletedAtMs === undefined ? markersIn(String(fields['Body'] ?? fields['Description'] ?? '')) : [],
      ),
    requireField: (name) =>
      store.defineField(type, {
        name,
        label: name,
        type: 'string',
        length: 80,
        nillable: false,
        updateable: true,
        picklist: [],
        isRestricted: false,
        referenceTo: [],
        relationshipName: null,
      }),
    owners: [store.apiUserId, '005Wx0000000P2TIAU', FORMER_USER_ID],
    lagSearch: () => {},
    reads: /POST .*composite\/sobjects\/\w+/,
    asked: (body) => (body as { ids: string[] }).ids,
    writes: /PATCH .*composite\/sobjects$/,
    written: (body) =>
      (body as { records: ({ id: string; attributes: unknown } & Values)[] }).records.map((record) => {
        const { id, attributes: _, ...values } = record
        return { id, values }
      }),
    stop: () => org.stop(),
  }
}
