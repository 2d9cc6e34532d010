import { openConnector } from '../../src/app/context/connectors.ts'
import type { FileConfig } from '../../src/app/config/file.ts'
import type { Overrides } from '../../src/app/context/context.ts'
import { syncEntity, makeReady } from '../../src/app/runs/sync.ts'
import { undoableRun, undoRun } from '../../src/app/records/undo.ts'
import type { Connector } from '../../src/connectors/connector.ts'
import { startHubspotStandIn } from '../../src/sandbox/hubspot/index.ts'
import type { Sandbox } from '../../src/sandbox/sandbox.ts'
import { openHouse } from '../support/house.ts'
import { testSeed } from '../support/seed.ts'

export const roomy = { searchPerSecond: 100_000, perTenSeconds: 100_000 }
export const quick = { hubspot: { tenSecondLimit: 100_000, searchLimit: 100_000 } }

export type Entity = 'companies' | 'contacts'
export type Properties = Record<string, string>

/** Paydirt in this process in front of a HubSpot account of its own. */
export async function openCrmHouse(
  sandbox: Sandbox,
  options: { config?: FileConfig; overrides?: Overrides; env?: Record<string, string> } = {},
) {
  const hubspot = await startHubspotStandIn({ seed: testSeed(), companies: 0, contacts: 0, limits: roomy })
  const house = await openHouse(sandbox, {
    env: { HUBSPOT_BASE_URL: hubspot.baseUrl, HUBSPOT_ACCESS_TOKEN: hubspot.token, ...options.env },
    config: { connectors: quick, ...options.config },
    ...(options.overrides ? { overrides: options.overrides } : {}),
  })
  const { context } = house
  const connector = await openConnector(context.config, 'hubspot', context)
  const signal = new AbortController().signal

  return {
    ...house,
    hubspot,
    connector,
    add: (entity: Entity, properties: Properties) => hubspot.store.add(entity, { properties }).id,
    edit: (entity: Entity, id: string, values: Properties) => void hubspot.store.edit(entity, id, values),
    /** Returns what a person sees in the CRM, without our own fields and its stamps. */
    seen: (entity: Entity) =>
      new Map([...hubspot.store.list(entity)].map(({ id, properties }) => [id, visible(properties)])),
    async sync(
      entity: Entity,
      around: (connector: Connector) => Connector = (inner) => inner,
      job: { since?: Date } = {},
    ) {
      await makeReady(connector, [entity])
      return syncEntity(context, around(connector), { entity, filter: [], ...job }, { signal })
    },
    async undo(runId: string, more: { field?: string; plan?: boolean; connector?: Connector } = {}) {
      const run = await undoableRun(context, runId)
      if (!run) throw new Error(`${runId} cannot be undone`)
      const { connector: other, plan = false, ...rest } = more
      return undoRun(context, other ?? connector, run, { plan, signal, ...rest })
    },
    async close() {
      await connector.close()
      await house.close()
      await hubspot.stop()
    },
  }
}

export type CrmHouse = Awaited<ReturnType<typeof openCrmHouse>>

function visible(properties: Properties): Properties {
  return Object.fromEntries(
    Object.entries(properties).filter(
      ([name, value]) => value !== '' && !name.startsWith('paydirt_') && !name.endsWith('date'),
    ),
  )
}
