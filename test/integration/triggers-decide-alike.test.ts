import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { resolveConfig } from '../../src/app/config/config.ts'
import { fileSchema } from '../../src/app/config/file.ts'
import { readEnvironment } from '../../src/app/config/environment.ts'
import { createContext, type Context } from '../../src/app/context/context.ts'
import { openOnDemand } from '../../src/app/runs/on-demand.ts'
import type { Connector } from '../../src/connectors/connector.ts'
import { capabilities } from '../../src/connectors/hubspot/capabilities.ts'
import { lookupKey } from '../../src/domain/keys.ts'
import type { DescribedField } from '../../src/domain/mapping/mapping.ts'
import type { FieldValue, Identity } from '../../src/domain/record.ts'
import type { Operation } from '../../src/domain/words.ts'
import { createAdvance } from '../../src/planning/advance.ts'
import { createMonitor } from '../../src/producers/monitor.ts'
import { scan } from '../../src/producers/scan.ts'
import { createMonitorDeliveries } from '../../src/store/messages/monitor-deliveries.ts'
import { layLedger } from '../support/ledger-template.ts'
import { scannedTask } from '../support/scanned-task.ts'
import { freshStores } from '../support/stores.ts'

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
  filled: recipe(['company.profile'], 'industry', '1'),
  unmapped: recipe(['company.profile'], 'tagline', '1'),
  missing: recipe(['company.profile'], 'headquarters', '1'),
  readOnly: recipe(['company.profile'], 'followers', '1'),
  wrongType: recipe(['company.profile'], 'website', '1'),
  forbidden: recipe(['company.profile'], 'description', '1'),
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
  const never = { description: 'never' as const }
  const policies = { hubspot: never, salesforce: never }
  const file = fileSchema.parse({ payment: { pricesUsd }, recipes, policies })
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

/** Each trigger has an entity of its own, and the monitor a CRM of its own: it finds all that its CRM was seen to have. */
const connectorOf = (entity: string) => (entity.startsWith('monitor') ? 'salesforce' : 'hubspot')

/** A CRM with one company, which every id names. */
function crm(entity: string): Connector {
  const values: Record<string, FieldValue> = { industry: 'Robots' }
  const named = ['company_name', 'open_jobs', 'industry', 'description']
  const fields = {
    ...Object.fromEntries(named.map((name) => [name, { property: name }])),
    headquarters: { property: 'is_not_there' },
    followers: { property: 'read_only' },
    website: { property: 'a_date' },
  }
  const described = (name: string, more: Partial<DescribedField> = {}): DescribedField => ({
    name,
    label: name,
    type: 'text',
    writable: true,
    custom: false,
    ...more,
  })
  return {
    name: connectorOf(entity),
    capabilities,
    entities: { [entity]: 'company' },
    mapping: {
      entities: { [entity]: { object: 'company', fields, identity: {} } },
      own: { status: 's', enrichedAt: 'e', source: 'o' },
    },
    describe: async () => [
      ...named.map((name) => described(name)),
      described('read_only', { writable: false }),
      described('a_date', { type: 'date' }),
    ],
    ensureFields: async () => [],
    check: async () => ({ account: null, apiVersion: '1', missingScopes: [], problems: [] }),
    async *scan() {
      yield { records: [{ id: '1', object: 'company', identity, values }], watermark: '1' }
    },
    read: async (_: string, ids: readonly string[]) =>
      new Map(ids.map((id) => [id, { state: 'present', values, identity }])),
  } as Partial<Connector> as Connector
}

async function openRun(entity: string, recipeName: string) {
  const { run } = await context.runs.open({
    id: `r-${entity}-${recipeName}`,
    connector: connectorOf(entity),
    object: 'company',
    entity,
    recipe: recipeName,
    trigger: 'sync',
    fingerprint: `${entity} ${recipeName}`,
    source: {},
  })
  return run
}

async function decided(entity: string, recipeName: string): Promise<Decided> {
  const { db } = context.database
  const row = await db
    .selectFrom('tasks')
    .innerJoin('runs', 'runs.id', 'tasks.run_id')
    .select(['status', 'waiting_for', 'reason', 'patch'])
    .where('entity', '=', entity)
    .where('recipe', '=', recipeName)
    .executeTakeFirstOrThrow()
  return { status: row.status, waitingFor: row.waiting_for, reason: row.reason, patch: row.patch }
}

const advance = () => createAdvance({ ...context.planning, onReady: () => {}, onWanted: () => {} })

async function byScan(entity: string, recipeName: string): Promise<void> {
  const run = await openRun(entity, recipeName)
  await scan(run, crm(entity), { ...context.planning, runs: context.runs, advance: advance() })
}

function onDemand(entity: string) {
  context.connectors.set(connectorOf(entity), crm(entity))
  return openOnDemand(context, {
    onReady: () => {},
    onError: (error) => {
      throw error
    },
  })
}

async function byRequest(entity: string, recipeName: string, trigger: 'button' | 'workflow') {
  const requests = onDemand(entity)
  await requests.request({
    connector: connectorOf(entity),
    object: 'company',
    entity,
    ids: ['1'],
    recipe: recipeName,
    trigger,
    source: {},
  })
  await requests.idle()
}

async function byMonitor(entity: string, recipeName: string): Promise<void> {
  // A delivery finds the records that the index has.
  await context.recordIndex.keep(connectorOf(entity), entity, [{ id: '1', object: 'company', identity }])
  const requests = onDemand(entity)
  const monitor = createMonitor({
    deliveries: createMonitorDeliveries(context.database.db, { now: context.now }),
    index: context.recordIndex,
    onDemand: requests,
    connectors: [connectorOf(entity)],
    recipes: context.config.recipes,
    recipe: recipeName,
    networkName: 'profnet',
    now: context.now,
    onError: (error) => {
      throw error
    },
  })
  // Each signal is another one: a company that is named again for the same one is not worked again.
  const signal = { signal_id: `${entity} ${recipeName}`, domain: identity.domain }
  await monitor.receive(JSON.stringify({ signals: [signal] }))
  await monitor.work()
  await requests.idle()
}

/** The worker plans when a lookup has ended. A logo tells nothing that these recipes want. */
async function byWorker(entity: string, recipeName: string): Promise<void> {
  const run = await openRun(entity, recipeName)
  const key = lookupKey('company.logo', 'acme.example')
  await answer(run.id, connectorOf(entity), 'company.logo', key, null)
  const [page] = await Array.fromAsync(crm(entity).scan(entity, {}))
  const found = await context.planning.closedFields.find(crm(entity), run, { dryRun: true })
  await context.runs.setClosed(run.id, found.ofRun)
  const [closed] = await found.ofRecords(page!.records)
  await context.tasks.insertPage(run.id, [scannedTask(1, key, { identity, closed })], '1')
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

const triggers: Record<string, (entity: string, recipeName: string) => Promise<void>> = {
  scan: byScan,
  button: (entity, recipeName) => byRequest(entity, recipeName, 'button'),
  workflow: (entity, recipeName) => byRequest(entity, recipeName, 'workflow'),
  monitor: byMonitor,
  worker: byWorker,
}

const stopped = (reason: string): Decided => ({ status: 'unchanged', waitingFor: null, reason, patch: null })
const nothing = (why: string): Decided => stopped(`nothing that the recipe tells could be written: ${why}`)
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
  ['a field that is filled is not bought', 'filled', nothing('filled already: industry')],
  ['a field without a place is not bought', 'unmapped', nothing('without a place in the mapping: tagline')],
  ['a property that is not there is not bought', 'missing', nothing('missing in the account: headquarters')],
  ['a read-only property is not bought', 'readOnly', nothing('read-only in the account: followers')],
  [
    'a property of another type is not bought',
    'wrongType',
    nothing('of a type that cannot hold it: website'),
  ],
  [
    'a field that the policy forbids is not bought',
    'forbidden',
    nothing('never written by policy: description'),
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
    const entity = `${trigger}-${place}`
    await plan(entity, recipeName)
    decisions[trigger] = await decided(entity, recipeName)
  }
  expect(decisions).toEqual(Object.fromEntries(Object.keys(triggers).map((trigger) => [trigger, decision])))
})
