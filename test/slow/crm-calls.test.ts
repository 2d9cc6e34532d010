import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { FileConfig } from '../../src/app/config/file.ts'
import { hubspotMapping } from '../../src/connectors/hubspot/mapping.ts'
import { salesforceMapping } from '../../src/connectors/salesforce/mapping.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { sized } from '../support/full-size.ts'
import { quick } from '../integration/crm-house.ts'
import { openCrmWorld, type CrmWorld } from '../integration/crm-worlds.ts'

let sandbox: Sandbox
let world: CrmWorld | undefined
beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())
afterEach(async () => {
  sandbox.faults.reset()
  await world?.close()
  world = undefined
})

/** Twenty records of one company become ready together, and the companies one after another. */
function addRecords(world: CrmWorld, count: number, property: string): void {
  for (let at = 0; at < count; at++) {
    const url = `https://www.profnet.com/company/calls-co-${Math.floor(at / 20)}`
    world.add({ [world.kind === 'hubspot' ? 'name' : 'Name']: `Record ${at}`, [property]: url })
  }
}

/** Only a few fields are written: this is about the requests, and each field is a row of the ledger. */
function fewFields(kind: 'hubspot' | 'salesforce'): FileConfig {
  const mapping = kind === 'hubspot' ? hubspotMapping : salesforceMapping
  const { entity } = crms[kind]
  const names = Object.keys(mapping.entities[entity]?.fields ?? {})
  const fields = names.filter((name) => !['industry', 'description', 'employee_count'].includes(name))
  const without = Object.fromEntries(fields.map((name) => [name, false as const]))
  return {
    connectors: {
      [kind]: { ...(kind === 'hubspot' ? quick.hubspot : {}), mapping: { [entity]: { fields: without } } },
    },
  }
}

const crms = {
  // A scan of HubSpot searches ids, and reads the records by the hundred.
  hubspot: { entity: 'companies', property: 'profnet_url', batch: 100, scanReads: sized(10, 4) },
  salesforce: { entity: 'Account', property: 'Profnet_URL__c', batch: 200, scanReads: 0 },
} as const

describe.each(['hubspot', 'salesforce'] as const)('the calls of a night to %s', (kind) => {
  const { entity, property, batch, scanReads } = crms[kind]

  const count = sized(1_000, 400)

  test(`${count} records take at most 1.1 writes and 1.1 reads a full batch`, async () => {
    const opened = await openCrmWorld(sandbox, kind, entity, fewFields(kind), { gatherMs: 60_000 })
    world = opened
    addRecords(opened, count, property)
    const { tasks } = await opened.sync()
    const calls = opened.readsAndWrites()
    const writes = calls.filter(({ what }) => what === 'write')
    const written = writes.flatMap(({ ids }) => ids)
    const reads = calls.filter(({ what }) => what === 'read').length - scanReads
    console.log(`${kind}: ${tasks.written} records written, ${writes.length} writes, ${reads} reads`)
    expect(written).toHaveLength(new Set(written).size)
    expect(tasks.written).toBeGreaterThan(0.6 * count)
    // A record that is read and has nothing to write takes its place in a batch too.
    const fullBatches = Math.ceil((tasks.written + tasks.unchanged) / batch)
    expect(writes.length / fullBatches).toBeLessThanOrEqual(1.1)
    expect(reads / fullBatches).toBeLessThanOrEqual(1.1)
  }, 240_000)
})

test('a process that ends while it gathers has written nothing, and the next one writes everything once', async () => {
  const opened = await openCrmWorld(sandbox, 'hubspot', 'companies', {}, { gatherMs: 600_000 })
  world = opened
  addRecords(opened, 60, 'profnet_url')
  for (let at = 60; at < 80; at++)
    opened.add({ name: `Record ${at}`, profnet_url: `https://www.profnet.com/company/later-co-${at}` })
  // Slow lookups are under way for seconds while the answers of quick ones wait: a busy machine must see that in time.
  sandbox.faults.set({ latency: { minMs: 100, maxMs: 8_000 } })
  const { db } = opened.context.database
  const ready = async () =>
    (await db.selectFrom('tasks').select('id').where('status', '=', 'ready').execute()).length
  const end = new AbortController()
  const first = opened.sync({ since: new Date(0) }, end.signal)
  while ((await ready()) < 10) await new Promise((resolve) => setTimeout(resolve, 20))
  end.abort()
  await first
  expect(opened.sent()).toEqual([])
  expect(await ready()).toBeGreaterThanOrEqual(10)

  sandbox.faults.reset()
  const { tasks } = await opened.sync()
  expect(tasks.written).toBeGreaterThan(40)
  const ids = opened.sent().map(({ id }) => id)
  expect(ids).toHaveLength(tasks.written)
  expect(new Set(ids).size).toBe(tasks.written)
})
