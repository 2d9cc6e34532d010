import { ConfigError } from '../../domain/errors.ts'
import type { CallBudget } from '../../domain/ports/call-budget.ts'
import { entityObjects, type CrmMapping } from '../../domain/mapping/mapping.ts'
import type { Connector, CurrentRecord } from '../connector.ts'
import type { HubspotLimits } from './api/account.ts'
import type { HubspotApi } from './api/client.ts'
import { openHubspotApi } from './api/open-api.ts'
import { readAssociations } from './associations.ts'
import { capabilities } from './capabilities.ts'
import { check } from './check.ts'
import { createHubspotMaker } from './making/maker.ts'
import { createHubspotNotes } from './noting/writer.ts'
import { createHubspotProperties, entityMapping } from './properties.ts'
import { batchRead, readProperties, toCurrent } from './records.ts'
import { createRequiredRules, type RequiredRule } from './required.ts'
import { scan } from './scan.ts'
import type { HubspotAuth } from './api/tokens.ts'
import { paths, usageSchema, type HubspotEntity } from './api/wire.ts'
import { write } from './write.ts'

export type HubspotConnectorOptions = HubspotAuth & {
  /** Default: HubSpot's own address. */
  baseUrl?: string | undefined
  mapping: CrmMapping
  /** Shared by all processes that use the account. Default: this process's own. */
  budget?: CallBudget | undefined
  limits?: HubspotLimits
  /** The account's conditional required properties, by entity. Default: those that refusals teach. */
  required?: Readonly<Record<string, readonly RequiredRule[]>> | undefined
  /** The hosts of the network's profiles. Default: the published ones. */
  networkHosts?: readonly string[] | undefined
  /** One HTTP exchange. Default 30 s. */
  timeoutMs?: number
  /**
   * The longest that one call may wait for short limits, locks and passing server errors before its work is returned.
   * Default 60 s.
   */
  patienceMs?: number
  /** The next increment starts this long before the latest change seen. Default 10 min. */
  lookbackMs?: number
  now?: () => number
  random?: () => number
  sleep?: (ms: number, signal?: AbortSignal) => Promise<void>
}

/**
 * Companies and contacts of a HubSpot account. Every written record carries three fields of ours, by which the next
 * scan recognises our own changes; `ensureFields` creates them.
 */
export function createHubspotConnector(options: HubspotConnectorOptions): Connector {
  const { mapping, timeoutMs = 30_000, patienceMs = 60_000, lookbackMs = 600_000, now = Date.now } = options
  const auth: HubspotAuth =
    'accessToken' in options ? { accessToken: options.accessToken } : { oauth: options.oauth }
  const closing = new AbortController()
  const { api, account } = openHubspotApi({
    ...options,
    auth,
    timeoutMs,
    patienceMs,
    now,
    closing: closing.signal,
  })
  const properties = createHubspotProperties(api, { mapping, now })
  const required = createRequiredRules({ declared: options.required ?? {}, mapping, now })
  const deps = { api, properties, required, mapping, networkHosts: options.networkHosts, lookbackMs, now }
  const known = (entity: string): HubspotEntity => {
    entityMapping(mapping, entity)
    return entity as HubspotEntity
  }

  return {
    name: 'hubspot',
    capabilities,
    // One request of the largest size: several in a row are no cheaper.
    writesAtOnce: 100,
    recordsPerWrite: 100,
    entities: entityObjects(mapping),
    mapping,
    check: (entities) =>
      check({
        ...deps,
        entities,
        declared: options.required ?? {},
        ...('accessToken' in auth ? auth : {}),
      }),
    describe: async (entity) => properties.describe(known(entity)),
    ensureFields: async (entity, ensureOptions) => properties.ensure(known(entity), ensureOptions),
    scan: (entity, scanOptions) => scan(deps, known(entity), scanOptions),

    async read(entity, ids) {
      const entityMap = entityMapping(mapping, entity)
      const fields = await properties.fitting(entity)
      const names = [
        ...new Set([...readProperties(mapping, known(entity), entityMap), ...required.names(entity)]),
      ]
      const found = await batchRead(api, known(entity), ids, names)
      return new Map(
        ids.map((id): [string, CurrentRecord] => {
          const object = found.get(id)
          const current = toCurrent(id, object, entityMap, fields, mapping.own)
          const fault =
            object && current.state === 'present' ? required.fault(entity, object.properties) : undefined
          return [id, fault === undefined ? current : { state: 'unreadable', reason: fault }]
        }),
      )
    },

    write: (entity, patches) => write(deps, known(entity), patches),

    async associations(entity, toEntity, ids) {
      return readAssociations(api, known(entity), known(toEntity), ids)
    },

    maker: createHubspotMaker({ ...deps, ...('accessToken' in auth ? auth : {}) }, known),

    notes: createHubspotNotes({ ...deps, ...('accessToken' in auth ? auth : {}) }, known),

    async quota() {
      if ('accessToken' in auth) {
        const today = await usageToday(api)
        if (today)
          return { used: today.currentUsage, limit: today.usageLimit, resetsAt: new Date(today.resetsAt) }
      }
      const usage = account.usage()
      return usage ? { used: usage.used, limit: usage.limit, resetsAt: new Date(usage.resetsAtMs) } : null
    },

    async close() {
      closing.abort(new Error('the HubSpot connector was closed'))
    },
  }
}

async function usageToday(
  api: HubspotApi,
): Promise<{ usageLimit: number; currentUsage: number; resetsAt: string } | undefined> {
  try {
    const answer = await api.call(usageSchema, { method: 'GET', path: paths.usage })
    return answer.ok ? answer.data.results[0] : undefined
  } catch (error) {
    if (error instanceof ConfigError && error.code === 'hubspot_forbidden') return undefined
    throw error
  }
}
