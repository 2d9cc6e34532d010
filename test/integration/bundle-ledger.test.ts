import { randomBytes, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { batchKey, lookupKey, type LookupKey } from '../../src/domain/keys.ts'
import type { Authorization } from '../../src/domain/payment.ts'
import type { StoredAnswer } from '../../src/domain/ports/charge-journal.ts'
import { createBatchLedger, type BatchLedger } from '../../src/store/ledger/batches.ts'
import { createChargeJournal } from '../../src/store/ledger/charge-journal.ts'
import type { OpenDatabase } from '../../src/store/database/database.ts'
import { createLookupLedger } from '../../src/store/ledger/lookups.ts'
import { adoptOrphans } from '../../src/store/runs/run-states.ts'
import { createRunLedger } from '../../src/store/runs/runs.ts'
import { createTaskLedger } from '../../src/store/runs/tasks.ts'
import { openFreshLedger } from '../support/fresh-ledger.ts'
import { scannedTask } from '../support/scanned-task.ts'

const clock = new Date('2026-05-05T05:05:05Z')
const now = () => clock
let database: OpenDatabase
let close: () => Promise<void>
let world: World

interface World {
  run: string
  keys: LookupKey[]
  bundle: LookupKey
  bundles: BatchLedger
  journal: ReturnType<typeof createChargeJournal>
  lookups: ReturnType<typeof createLookupLedger>
}

beforeAll(async () => void ({ database, close } = await openFreshLedger()))
afterAll(() => close())

beforeEach(async () => {
  const { db } = database
  const run = randomBytes(5).toString('hex')
  await createRunLedger(db, { now }).open({
    id: run,
    connector: 'csv',
    object: 'person',
    entity: 'person',
    recipe: 'contact',
    trigger: 'csv',
    fingerprint: run,
    source: {},
  })
  world = {
    run,
    keys: ['a', 'b', 'c'].map((name) => lookupKey('contact.lookup', `email:${name}-${run}@acme.com`)),
    bundle: batchKey(run),
    bundles: createBatchLedger(db, { now }),
    journal: createChargeJournal(db, { now, newId: randomUUID }),
    lookups: createLookupLedger(db, { now }),
  }
  await want()
})

const want = (hot = false) =>
  world.lookups.want(
    world.keys.map((key) => ({ key, operation: 'contact.lookup', request: { email: key.slice(21) } })),
    { id: world.run, connector: 'csv', hot },
  )
const form = (key = world.bundle) =>
  world.bundles.form(
    {
      key,
      operation: 'contact.lookup',
      request: { peoples: [] },
      runId: world.run,
      connector: 'csv',
      members: world.keys.map((member, place) => ({ key: member, place })),
    },
    clock,
  )
const bundleable = async () =>
  (await world.bundles.batchable(world.keys, ['contact.lookup'])).map(({ key }) => key).sort()
const states = async () =>
  Promise.all(
    world.keys.map(async (key) => {
      const row = await world.lookups.get(key)
      return { state: row?.state, isOut: row?.batchKey !== null }
    }),
  )
const three = <T>(value: T) => world.keys.map(() => value)
const fact = { outcome: 'found' as const, data: { name: 'x' }, freshUntil: new Date('2027-01-01') }
const answer: StoredAnswer = { ...fact, data: null, parts: new Map([0, 1, 2].map((place) => [place, fact])) }

function reserve(key: LookupKey) {
  return world.journal.reserve({
    lookupKey: key,
    operation: 'contact.lookup',
    runId: world.run,
    connector: 'csv',
    endpoint: 'POST https://service.example/x',
    url: 'https://service.example/x',
    body: '{}',
    amountAtomic: 30_000n,
    budget: [{ scope: `run:${world.run}`, capAtomic: 10_000_000n }],
    draw: (attempt) => authorization(`${key}|${attempt}`),
  })
}

describe('what is out in a bundle', () => {
  test('is not bought by itself, and is free when it is answered', async () => {
    expect(await form()).toBe(true)
    await expect(reserve(world.keys[0]!)).rejects.toMatchObject({ code: 'bundled' })
    const charge = await reserve(world.bundle)
    await world.journal.settleCharge(charge, { transaction: '0x1', at: clock }, answer)
    expect(await states()).toEqual(three({ state: 'answered', isOut: false }))
  })

  test('is resolved by the request that the ledger keeps, under whatever names of keys it was sent', async () => {
    await form()
    await reserve(world.bundle)
    await createRunLedger(database.db, { now }).setState(world.run, 'stopped')
    const later = new Date(clock.getTime() + 1)
    const open = (await world.journal.openCharges(later, 1000)).filter(({ runId }) => runId === world.run)
    expect(open).toMatchObject([{ lookupKey: world.bundle, body: '{}', request: { peoples: [] } }])
  })

  test('goes alone when the bundle fails before anything was paid for it', async () => {
    await form()
    await world.lookups.fail(world.bundle, 'malformed')
    expect(await states()).toEqual(three({ state: 'waiting', isOut: false }))
    expect(await bundleable()).toEqual([])
  })

  test('stays in it when it fails while its payment is in doubt: the answer that comes late is taken', async () => {
    await form()
    const charge = await reserve(world.bundle)
    await world.journal.markSent(charge.id, clock)
    await world.lookups.fail(world.bundle, 'answered 500, 6 times')
    expect(await world.lookups.get(world.bundle)).toMatchObject({ state: 'parked' })
    expect(await states()).toEqual(three({ state: 'waiting', isOut: true }))
    await world.journal.settleCharge(charge, { transaction: '0x1', at: clock }, answer)
    expect(await states()).toEqual(three({ state: 'answered', isOut: false }))
  })

  test('goes alone once the payment of a bundle that failed turns out to be unused', async () => {
    await form()
    expect(await world.lookups.get(world.bundle)).toMatchObject({ alone: false })
    const charge = await reserve(world.bundle)
    await world.journal.markSent(charge.id, clock)
    await world.lookups.fail(world.bundle, 'answered 403')
    // From now on it is only finished, and not bought again.
    expect(await world.lookups.get(world.bundle)).toMatchObject({ state: 'parked', alone: true })
    await world.journal.release(charge.id, 'expired', 'unused')
    await world.lookups.fail(world.bundle, 'not bought again')
    expect(await states()).toEqual(three({ state: 'waiting', isOut: false }))
    expect(await bundleable()).toEqual([])
  })

  test('stays in a batch that was started and paid for, whatever the answer is asked for says', async () => {
    await form()
    const charge = await reserve(world.bundle)
    const started = {
      outcome: 'found' as const,
      data: null,
      freshUntil: clock,
      startedAs: { queryId: 'q', askAt: clock },
    }
    await world.journal.settleCharge(charge, { transaction: '0x1', at: clock }, started)
    // A second worker that stood in line meanwhile does not buy it again.
    await expect(reserve(world.bundle)).rejects.toMatchObject({ code: 'ended_meanwhile' })
    await world.lookups.fail(world.bundle, 'unknown id')
    expect(await states()).toEqual(three({ state: 'waiting', isOut: true }))
    await world.bundles.complete(world.bundle, answer)
    expect(await states()).toEqual(three({ state: 'answered', isOut: false }))
  })

  test('is not bundled again after its bundle was lost: alone, its losses are counted', async () => {
    await form()
    const charge = await reserve(world.bundle)
    await world.journal.lose(charge.id, '0x1', 'gone')
    await world.lookups.fail(world.bundle, 'paid and never answered', true)
    await want()
    expect(await bundleable()).toEqual([])
    expect(await form(batchKey(`${world.run}-2`))).toBe(false)
    expect((await world.journal.unanswered(world.keys[1]!)).lost).toBe(1)
  })
})

test('an answered lookup is not bought again by whoever stood in line for it', async () => {
  const [key] = world.keys as [LookupKey]
  const charge = await reserve(key)
  await world.journal.settleCharge(charge, { transaction: '0x2', at: clock }, fact)
  await expect(reserve(key)).rejects.toMatchObject({ code: 'ended_meanwhile', countsAsTry: false })
})

test('a lookup that a CSV took over and was broken off with goes on under the run that waits for it', async () => {
  const { db } = database
  const runs = createRunLedger(db, { now })
  const tasks = createTaskLedger(db, { now })
  const nightly = `${world.run}-n`
  await runs.open({
    id: nightly,
    connector: 'hubspot',
    object: 'person',
    entity: 'contacts',
    recipe: 'contact',
    trigger: 'sync',
    fingerprint: nightly,
    source: {},
  })
  const [key] = world.keys as [LookupKey]
  await tasks.insertPage(nightly, [scannedTask(1, key)], 'w')
  await form()
  expect(await adoptOrphans(db, clock, ['csv'])).toBe(0)
  await runs.setState(world.run, 'stopped')
  expect(await adoptOrphans(db, clock, ['csv'])).toBe(1)
  expect(await world.lookups.get(world.bundle)).toMatchObject({ runId: nightly, connector: 'hubspot' })
  expect(await adoptOrphans(db, clock, ['csv'])).toBe(0)
})

test('what somebody waits for goes alone', async () => {
  await want(true)
  expect(await bundleable()).toEqual([])
  expect(await form()).toBe(false)
})

function authorization(seed: string): Authorization {
  return {
    terms: {
      protocol: 'x402',
      version: 2,
      scheme: 'exact',
      network: 'eip155:8453',
      asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
      payTo: '0x5A4dB0E5a4db0E5A4Db0E5a4db0E5A4Db0E5A4D0',
      maxTimeoutSeconds: 60,
      domainName: 'USD Coin',
      domainVersion: '2',
      transferMethod: 'eip3009',
      paymentFlow: 'after',
      paymentIdentifier: false,
      raw: {},
      amountAtomic: 30_000n,
    },
    payer: '0x0000000000000000000000000000000000000001',
    nonce: `0x${Buffer.from(seed).toString('hex')}`,
    validAfter: 0,
    validBefore: 2_000_000_000,
    paymentId: `pd_${seed}`,
  }
}
