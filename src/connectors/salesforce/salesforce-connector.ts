import { ConfigError } from '../../domain/errors.ts'
import { entityObjects, type CrmMapping, type EntityMapping } from '../../domain/mapping/mapping.ts'
import type { CallBudget } from '../../domain/ports/call-budget.ts'
import { createMemoryCallBudget } from '../budget.ts'
import type { Connector } from '../connector.ts'
import { limitsSchema } from './api/answers.ts'
import { readAssociations } from './associations.ts'
import type { BulkOptions } from './api/bulk.ts'
import { capabilities } from './capabilities.ts'
import { checkSalesforce } from './check.ts'
import { createSalesforceClient } from './api/client.ts'
import { collectionSize, type WriteHeaders } from './api/collections.ts'
import type { SalesforceAuth } from './api/login.ts'
import { longId } from './ids.ts'
import { createMaker } from './making/maker.ts'
import { createSalesforceNotes } from './noting/writer.ts'
import { salesforceMapping } from './mapping.ts'
import { ownFields } from './own-fields.ts'
import { describedWithPlaces } from './place-codes.ts'
import { contactProperty, findPeople, personMapping, writeContacts } from './person-accounts.ts'
import { readRecords } from './read.ts'
import { scanPages } from './scan.ts'
import { createSchemaCache } from './api/schema-cache.ts'
import { writeRecords } from './write.ts'

export interface SalesforceOptions {
  /** The org's My Domain, such as `https://example.my.salesforce.com`. */
  loginUrl: string
  auth: SalesforceAuth
  /** Default 68.0 (Winter '27). */
  apiVersion?: string | undefined
  mapping?: CrmMapping
  /** From this many records in one write on, a bulk job writes them. Default 2,000. */
  bulkThreshold?: number | undefined
  /** From this many records on, a scan reads what is left after its first page by a bulk query. Default 20,000. */
  bulkScanThreshold?: number | undefined
  bulk?: BulkOptions
  headers?: WriteHeaders
  /** For one request, including its answer. Default 60 seconds. */
  timeoutMs?: number
  /** The budget of all processes together. Default: this process counts alone. */
  callBudget?: CallBudget | undefined
  /** The share of the org's daily API requests, by all its users, at which we stop. From 0 to 1, default 0.8. */
  quotaShare?: number | undefined
  /** An increment reaches back this long before the end of the last one. Default 10 minutes. */
  lookbackMs?: number
  /** Records on a page of a scan. Default and maximum: 2,000. */
  pageSize?: number
  /** The hosts of the network's profiles. Default: the published ones. */
  networkHosts?: readonly string[] | undefined
  now?: () => number
  random?: () => number
  wait?: (ms: number) => Promise<void>
}

const dayMs = 86_400_000
/** The most records to remember accounts and countries of between read and write: more than any batch has. */
const mostRemembered = 50_000

/** Accounts, contacts and leads of one Salesforce org. Nothing is sent before the first call. */
export function createSalesforceConnector(options: SalesforceOptions): Connector {
  const { mapping = salesforceMapping, quotaShare = 0.8 } = options
  const { now = Date.now, random = Math.random } = options
  const waiting = options.wait ? { wait: options.wait } : {}
  const client = createSalesforceClient({
    loginUrl: options.loginUrl,
    auth: options.auth,
    apiVersion: options.apiVersion ?? '68.0',
    timeoutMs: options.timeoutMs ?? 60_000,
    quotaShare,
    budget: options.callBudget ?? createMemoryCallBudget({ now }),
    now,
    random,
    ...waiting,
  })
  const schema = createSchemaCache(client, { now })
  const accounts = new Map<string, string>()
  const countries = new Map<string, string>()
  /** The account of each contact that is a person. */
  const people = new Map<string, string>()
  const writing = new Map<string, Promise<unknown>>()

  function mappingOf(entity: string): EntityMapping {
    const found = mapping.entities[entity]
    if (found) return found
    throw new ConfigError(
      'unknown_entity',
      `Salesforce has no object "${entity}" in the mapping; it may be ${Object.keys(mapping.entities).join(', ')}`,
    )
  }

  /**
   * Sends one collection at a time for each object: two at once lock each other's rows. An on-demand record waits for one
   * request and not for a whole night's; a bulk job runs beside the turns, and its locked rows are sent again.
   */
  async function inTurn<T>(entity: string, send: () => Promise<T>): Promise<T> {
    const turn = (writing.get(entity) ?? Promise.resolve()).then(send, send)
    writing.set(entity, turn)
    try {
      return await turn
    } finally {
      if (writing.get(entity) === turn) writing.delete(entity)
    }
  }

  const rememberIn = (known: Map<string, string>) => (id: string, value: string | undefined) => {
    if (known.size >= mostRemembered) known.clear()
    if (value !== undefined) known.set(id, value)
    else known.delete(id)
  }

  return {
    name: 'salesforce',
    capabilities,
    entities: entityObjects(mapping),
    mapping,
    // Read with two requests and, from `bulkThreshold` on, written by one job.
    writesAtOnce: 4_000,
    recordsPerWrite: collectionSize,

    check: (entities) => checkSalesforce({ client, schema, mapping, quotaShare, entities }),

    async describe(entity) {
      mappingOf(entity)
      return describedWithPlaces(await schema.describe(entity))
    },

    async ensureFields(entity, { dryRun, ...wanted }) {
      mappingOf(entity)
      if (!dryRun) schema.forget(entity)
      return ownFields(mapping, entity, await schema.describe(entity), wanted)
    },

    scan(entity, scanOptions) {
      const deps = {
        client,
        schema,
        own: mapping.own,
        now,
        lookbackMs: options.lookbackMs ?? 10 * 60_000,
        pageSize: Math.min(2_000, options.pageSize ?? 2_000),
        bulkScanThreshold: options.bulkScanThreshold ?? 20_000,
        ...waiting,
      }
      return scanPages(deps, entity, mappingOf(entity), scanOptions)
    },

    read: (entity, ids) =>
      readRecords(
        {
          client,
          schema,
          own: mapping.own,
          onAccount: rememberIn(accounts),
          onCountry: rememberIn(countries),
          onPerson: rememberIn(people),
        },
        entity,
        mappingOf(entity),
        ids,
      ),

    async write(entity, patches) {
      mappingOf(entity)
      if (patches.length === 0) return []
      const deps = {
        client,
        schema,
        mapping,
        headers: options.headers ?? {},
        bulkThreshold: options.bulkThreshold ?? 2_000,
        bulk: options.bulk ?? {},
        accountOf: (id: string) => accounts.get(id),
        countryOf: (id: string) => countries.get(longId(id) ?? id),
        inTurn: <T>(send: () => Promise<T>) => inTurn(entity, send),
        now,
        random,
        ...waiting,
      }
      if (entity !== 'Contact') return writeRecords(deps, entity, patches)
      return writeContacts(
        patches,
        (id) => people.get(longId(id) ?? id),
        (contacts) => writeRecords(deps, entity, contacts),
        async (accountPatches) => {
          const asPerson = personMapping(mapping, await schema.describe('Account'))
          const turns = <T>(send: () => Promise<T>) => inTurn('Account', send)
          const onAccount = {
            ...deps,
            mapping: asPerson,
            accountOf: () => undefined,
            inTurn: turns,
            nameInScan: contactProperty,
          }
          return writeRecords(onAccount, 'Account', accountPatches)
        },
      )
    },

    async people(entity, ids) {
      return entity === 'Account' && mapping.entities['Contact']
        ? findPeople(client, await schema.describe(entity), ids)
        : new Map()
    },

    async associations(entity, toEntity, ids) {
      return readAssociations(client, entity, toEntity, ids)
    },

    maker: createMaker(
      {
        client,
        schema,
        mapping,
        networkHosts: options.networkHosts,
        autoAssign: options.headers?.autoAssign,
        now,
      },
      inTurn,
    ),

    notes: createSalesforceNotes({ client, schema, mapping }, inTurn),

    async quota() {
      if (!client.quota()) await client.call(limitsSchema, { path: '/limits' })
      const quota = client.quota()
      return quota ? { ...quota, resetsAt: new Date(now() + dayMs) } : null
    },

    close: () => client.close(),
  }
}
