import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { resolveConfig } from '../../src/app/config/config.ts'
import { fileSchema } from '../../src/app/config/file.ts'
import { readEnvironment } from '../../src/app/config/environment.ts'
import { createContext, type Context } from '../../src/app/context/context.ts'
import { openOnDemand } from '../../src/app/runs/on-demand.ts'
import type { Connector } from '../../src/connectors/connector.ts'
import { lookupKey } from '../../src/domain/keys.ts'
import type { FieldValue, Identity } from '../../src/domain/record.ts'
import type { Operation } from '../../src/domain/words.ts'
import { createAdvance } from '../../src/planning/advance.ts'
import { createMonitor } from '../../src/producers/monitor.ts'
import { scan } from '../../src/producers/scan.ts'
import { createMonitorDeliveries } from '../../src/store/messages/monitor-deliveries.ts'
import { layLedger } from '../support/ledger-template.ts'
import { freshStores } from '../support/stores.ts'

const entity = 'companies'
const identity: Identity = { domain: 'acme.example', profileUrl: 'https://www.profnet.com/company/acme' }
const lookUpKey = lookupKey('company.lookup', 'acme.example')

/** The same company recipe under several ceilings. By default the lookup and the profile cost 0.01 each. */
const recipe = (steps: Operation[], field: string, priceCeilingUsd: string) => ({
  company: { steps: steps as never, fields: [field], priceCeilingUsd },
})
const recipes = {
  plain: recipe(['company.lookup'], 'company_name', '1'),
  dearer: recipe(['company.lookup'], 'company_name', '0.02'),
  cheaper: recipe(['company.profile'], 'company_name', '0.005'),
  unlisted: recipe(['company.enrich'], 'open_jobs', '0.10'),
}
const pricesUsd = { 'company.lookup': '0.03', 'company.profile': '0.002', 'company.enrich': '0.05' }

let context: Context
const closing: (() => Promise<void>)[] = []

beforeAll(async () => {
  const stores = await freshStores()
  const dataDir = join(stores.dataDir, 'data')
  await layLedger(dataDir)
  const environment = readEnvironment({
    PAYDIRT_DATA_DIR: dataDir,
    PAYDIRT_LOG_LEVEL: 'silent',
    DATABASE_URL: stores.databaseUrl,
  })
  const file = fileSchema.parse({ payment: { pricesUsd }, recipes })
  context = await createContext(resolveConfig(environment, file))
  closing.push(() => context.close(), stores.cleanup)
})

afterAll(async () => {
  for (const close of closing) await close()
})

interface Decided {
  status: string
  waitingFor: string | null
  reason: string | null
  patch: unknown
}

/** A CRM with one company, which every id names. */
function crm(name: string): Connector {
  const values: Record<string, FieldValue> = {}
  return {
    name,
    entities: { [entity]: 'company' },
    ensureFields: async () => [],
    check: async () => ({ account: null, apiVersion: '1', missingScopes: [], problems: [] }),
    async *scan() {
      yield { records: [{ id: '1', object: 'company', identity }], watermark: '1' }
    },
    read: async (_: string, ids: readonly string[]) =>
      new Map(ids.map((id) => [id, { state: 'present', values, identity }])),
  } as Partial<Connector> as Connector
}

async function openRun(connector: string, recipeName: string) {
  const { run } = await context.runs.open({
    id: `r-${connector}-${recipeName}`,
    connector,
    object: 'company',
    entity,
    recipe: recipeName,
    trigger: 'sync',
    fingerprint: `${connector} ${recipeName}`,
    source: {},
  })
  return run
}

async function decided(connector: string, recipeName: string): Promise<Decided> {
  const { db } = context.database
  const row = await db
    .selectFrom('tasks')
    .innerJoin('runs', 'runs.id', 'tasks.run_id')
    .select(['status', 'waiting_for', 'reason', 'patch'])
    .where('connector', '=', connector)
    .where('recipe', '=', recipeName)
    .executeTakeFirstOrThrow()
  return { status: row.status, waitingFor: row.waiting_for, reason: row.reason, patch: row.patch }
}

const advance = () => createAdvance({ ...context.planning, onReady: () => {}, onWanted: () => {} })

async function byScan(connector: string, recipeName: string): Promise<void> {
  const run = await openRun(connector, recipeName)
  await scan(run, crm(connector), { ...context.planning, runs: context.runs, advance: advance() })
}

function onDemand(connector: string) {
  context.connectors.set(connector, crm(connector))
  return openOnDemand(context, {
    onReady: () => {},
    onError: (error) => {
      throw error
    },
  })
}

async function byRequest(connector: string, recipeName: string, trigger: 'button' | 'workflow') {
  const requests = onDemand(connector)
  await requests.request({
    connector,
    object: 'company',
    entity,
    ids: ['1'],
    recipe: recipeName,
    trigger,
    source: {},
  })
  await requests.idle()
}

async function byMonitor(connector: string, recipeName: string): Promise<void> {
  // A delivery finds the records that an earlier run has seen, whatever became of them there.
  await byScan(connector, 'profile')
  const requests = onDemand(connector)
  const monitor = createMonitor({
    deliveries: createMonitorDeliveries(context.database.db, { now: context.now }),
    onDemand: requests,
    connectors: [connector],
    recipes: context.config.recipes,
    recipe: recipeName,
    networkName: 'profnet',
    now: context.now,
    onError: (error) => {
      throw error
    },
  })
  await monitor.receive(
    JSON.stringify({ companies: [{ domain: identity.domain }], for: [connector, recipeName] }),
  )
  await monitor.work()
  await requests.idle()
}

/** The worker plans when a lookup has ended. A logo tells nothing that these recipes want. */
async function byWorker(connector: string, recipeName: string): Promise<void> {
  const run = await openRun(connector, recipeName)
  const key = lookupKey('company.logo', 'acme.example')
  await answer(run.id, connector, 'company.logo', key, null)
  const task = { ordinal: 1, recordId: '1', identity, lookupKey: key, duplicateOf: null, reason: null }
  await context.tasks.insertPage(run.id, [{ ...task, status: 'looking_up', waitingFor: key }], '1')
  await advance().advanceTasksWaitingFor([key])
}

async function answer(
  runId: string,
  connector: string,
  operation: Operation,
  key: ReturnType<typeof lookupKey>,
  data: Record<string, unknown> | null,
): Promise<void> {
  const run = { id: runId, connector, hot: false }
  await context.lookups.want([{ key, operation, request: {} }], run)
  const freshUntil = new Date(context.now().getTime() + 86_400_000)
  await context.lookups.storeFree(key, { outcome: data ? 'found' : 'not_found', data, freshUntil })
}

const triggers: Record<string, (connector: string, recipeName: string) => Promise<void>> = {
  scan: byScan,
  button: (connector, recipeName) => byRequest(connector, recipeName, 'button'),
  workflow: (connector, recipeName) => byRequest(connector, recipeName, 'workflow'),
  monitor: byMonitor,
  worker: byWorker,
}

const stopped = (reason: string): Decided => ({ status: 'unchanged', waitingFor: null, reason, patch: null })
const looksUp = (key: string): Decided => ({
  status: 'looking_up',
  waitingFor: key,
  reason: null,
  patch: null,
})

const cases: [name: string, recipeName: keyof typeof recipes, decision: Decided, isAnswered?: true][] = [
  ['a step below the ceiling is taken', 'plain', looksUp(lookUpKey)],
  [
    'a configured price above the ceiling refuses a step that the default would let through',
    'dearer',
    stopped('price ceiling: company.lookup costs 0.030000 USD, and 0.000000 of 0.020000 USD are spent'),
  ],
  [
    'a configured price below the ceiling takes a step that the default would refuse',
    'cheaper',
    looksUp(lookupKey('company.profile', 'profnet.com/company/acme')),
  ],
  [
    'a configured price takes a step that has no default price',
    'unlisted',
    looksUp(lookupKey('company.enrich', 'profnet.com/company/acme')),
  ],
  [
    'a fresh answer in the ledger costs nothing, whatever the ceiling',
    'dearer',
    { status: 'ready', waitingFor: null, reason: null, patch: { company_name: { set: 'Acme' } } },
    true,
  ],
]

test.each(cases)('%s', async (_, recipeName, decision, isAnswered) => {
  const place = isAnswered ? 'answered' : 'asked'
  if (isAnswered) {
    const run = await openRun('before', 'plain')
    await answer(run.id, 'before', 'company.lookup', lookUpKey, { company_name: 'Acme' })
  }
  const decisions: Record<string, Decided> = {}
  for (const [trigger, plan] of Object.entries(triggers)) {
    const connector = `${trigger}-${place}`
    await plan(connector, recipeName)
    decisions[trigger] = await decided(connector, recipeName)
  }
  expect(decisions).toEqual(Object.fromEntries(Object.keys(triggers).map((trigger) => [trigger, decision])))
})
