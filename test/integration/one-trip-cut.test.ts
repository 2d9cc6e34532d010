import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Charge } from '../../src/domain/payment.ts'
import type { LookupKey } from '../../src/domain/keys.ts'
import { createChargeJournal } from '../../src/store/ledger/charge-journal.ts'
import { openDatabase, type OpenDatabase } from '../../src/store/database/database.ts'
import { openCuttingProxy, type CuttingProxy } from '../support/cutting-proxy.ts'
import { authorization, openLedgerRun } from '../support/ledger-run.ts'
import { freshStores, type FreshStores } from '../support/stores.ts'

// The commit travels with the last statements: whoever is cut off does not know whether it was carried out, or is still to be.
const hasServer = Boolean(process.env['DATABASE_URL'])
const now = () => new Date('2026-05-05T05:05:05Z')
const points = 12
/** Statements are prepared then, and no later round takes fewer bytes. */
const untilPrepared = 4
const kinds = [
  { name: 'requests', from: 'client' },
  { name: 'requests that arrive late', from: 'client', lateMs: 30 },
  { name: 'answers', from: 'server' },
  { name: 'answers, to a server that hears late of it', from: 'server', lateMs: 30 },
] as const

let stores: FreshStores
let direct: OpenDatabase
let cuttable: OpenDatabase
let proxy: CuttingProxy

beforeAll(async () => {
  if (!hasServer) return
  stores = await freshStores()
  const url = new URL(stores.databaseUrl as string)
  proxy = await openCuttingProxy({ host: url.hostname, port: Number(url.port) })
  direct = await openDatabase({ dataDir: stores.dataDir, url: url.href })
  url.hostname = '127.0.0.1'
  url.port = String(proxy.port)
  cuttable = await openDatabase({ dataDir: stores.dataDir, url: url.href })
})
afterAll(async () => {
  if (!hasServer) return
  await cuttable.close().catch(() => {})
  await proxy.close()
  await direct.close()
  await stores.cleanup()
})

async function openWorld() {
  const world = await openLedgerRun(direct, { lookups: 3, now })
  let ids = 0
  const journalOf = ({ db }: OpenDatabase) =>
    createChargeJournal(db, { now, newId: () => `${world.id}-${(ids += 1)}` })
  const line = [{ scope: `run:${world.id}`, capAtomic: 20_000n }]
  const reserveBy = (journal: ReturnType<typeof journalOf>, key: LookupKey) =>
    journal.reserve({
      lookupKey: key,
      operation: 'company.profile',
      runId: world.run.id,
      connector: world.connector,
      endpoint: 'e',
      url: 'u',
      body: 'b',
      amountAtomic: 10_000n,
      budget: line,
      draw: (attempt) => authorization(`${key}|${attempt}`, 10_000n),
    })
  const charges = () =>
    direct.db
      .selectFrom('charges')
      .select(['id', 'lookup_key', 'state', 'amount_atomic'])
      .where('run_id', '=', world.run.id)
      .execute()
  return { ...world, cut: journalOf(cuttable), whole: journalOf(direct), reserveBy, charges }
}

/** Returns the byte counts of one undisturbed round. */
async function measured(act: () => Promise<unknown>): Promise<{ client: number; server: number }> {
  proxy.arm({ from: 'client', bytes: Infinity })
  await act()
  return proxy.disarm()
}

const codeOf = (each: PromiseSettledResult<unknown>) =>
  each.status === 'fulfilled' ? 'ok' : (each.reason as { code?: string }).code

for (const { name, ...kind } of kinds) {
  test.skipIf(!hasServer)(
    `cut among its ${name}, a group is reserved once, within its budget`,
    { timeout: 120_000 },
    async () => {
      const reserveTwo = async (world: Awaited<ReturnType<typeof openWorld>>) =>
        Promise.allSettled(world.keys.slice(0, 2).map((key) => world.reserveBy(world.cut, key)))
      for (let round = 0; round < untilPrepared; round += 1) await reserveTwo(await openWorld())
      const size = (await measured(async () => reserveTwo(await openWorld())))[kind.from]
      let cuts = 0
      for (let point = 0; point < points; point += 1) {
        const world = await openWorld()
        proxy.arm({ ...kind, bytes: Math.floor((size * (point + 1)) / points) })
        const first = await reserveTwo(world)
        if (proxy.disarm().wasCut) cuts += 1
        // A caller that was told of a failure tries again, on another connection.
        const again = await Promise.allSettled(
          world.keys.slice(0, 2).map((key) => world.reserveBy(world.whole, key)),
        )
        const charges = await world.charges()
        expect(charges.map(({ lookup_key: key }) => key).toSorted()).toEqual(
          world.keys.slice(0, 2).toSorted(),
        )
        expect(await world.committed(`run:${world.id}`)).toBe(20_000n)
        for (const [index, key] of world.keys.slice(0, 2).entries()) {
          const [one, two] = [first[index], again[index]] as [
            PromiseSettledResult<Charge>,
            PromiseSettledResult<Charge>,
          ]
          const { open } = await world.whole.unanswered(key)
          if (one.status === 'fulfilled') expect(one.value.id).toBe(open?.id)
          // Never two that believe they have it, and where nobody does it is found open.
          expect([codeOf(one), codeOf(two)].filter((code) => code === 'ok').length).toBeLessThanOrEqual(1)
          if (two.status === 'rejected') expect(codeOf(two)).toBe('charge_open')
        }
        const third = world.reserveBy(world.whole, world.keys[2] as LookupKey)
        await expect(third).rejects.toMatchObject({ code: 'budget_run' })
      }
      expect(cuts).toBeGreaterThan(points / 2)
    },
  )

  test.skipIf(!hasServer)(
    `cut among its ${name}, a group of paid answers is stored with its names`,
    { timeout: 120_000 },
    async () => {
      const settleAll = async (world: Awaited<ReturnType<typeof openWorld>>) => {
        const charges = await Promise.all(
          world.keys.slice(0, 2).map((key) => world.reserveBy(world.whole, key)),
        )
        await Promise.all(charges.map(({ id }) => world.whole.markSent(id, now())))
        return () =>
          Promise.all(
            charges.map((charge, index) =>
              world.cut.settleCharge(
                charge,
                { transaction: `0x${charge.id}`, at: now() },
                {
                  outcome: 'found',
                  data: {
                    profnet_url: `https://www.profnet.com/company/${world.id}-${index}`,
                    of: charge.lookupKey,
                  },
                  freshUntil: new Date('2026-08-01'),
                },
              ),
            ),
          )
      }
      for (let round = 0; round < untilPrepared; round += 1) await (await settleAll(await openWorld()))()
      const usual = await settleAll(await openWorld())
      const size = (await measured(usual))[kind.from]
      let cuts = 0
      for (let point = 0; point < points; point += 1) {
        const world = await openWorld()
        const settle = await settleAll(world)
        proxy.arm({ ...kind, bytes: Math.floor((size * (point + 1)) / points) })
        await settle()
        if (proxy.disarm().wasCut) cuts += 1
        expect((await world.charges()).map(({ state }) => state)).toEqual(['settled', 'settled'])
        const facts = await world.lookups.facts(world.keys)
        for (const key of world.keys.slice(0, 2)) expect(facts.get(key)?.data).toMatchObject({ of: key })
        const names = await direct.db
          .selectFrom('subject_names')
          .select('name')
          .where('subject', 'like', `%${world.id}%`)
          .execute()
        expect(names.length).toBeGreaterThanOrEqual(2)
        expect(await world.committed(`run:${world.id}`)).toBe(20_000n)
      }
      expect(cuts).toBeGreaterThan(points / 2)
    },
  )
}
