import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { retryTask } from '../../src/store/failures/retry-one.ts'
import { capByPlan } from '../../src/store/runs/plan-cap.ts'
import { retryFailed, retryGroup } from '../../src/store/runs/retry-and-skip.ts'
import { scannedTask } from '../support/scanned-task.ts'
import { database, newRun, now, unlimited, useLedger } from './ledger.fixture.ts'

useLedger()

/** A run that was started from a plan over 15 cents, with three records at 10 cents each. */
async function plannedRun(currency: 'USD' | 'credits') {
  const world = await newRun(3, { connector: 'hubspot' })
  const { db, keys, run } = world
  await capByPlan(db, run.id, 150_000n)
  await world.tasks.insertPage(
    run.id,
    keys.map((key, index) => scannedTask(index + 1, key)),
    'page 1',
  )
  await world.runs.markScanned(run.id)
  const scope = currency === 'USD' ? `run:${run.id}` : `credits:run:${run.id}`
  const amount = currency === 'USD' ? 100_000n : 10_000_000n
  /** With a run cap far above the plan, as the workers have it. */
  const reserve = (at: number) =>
    world.reserve(keys[at]!, [{ scope, capAtomic: unlimited }], amount, randomUUID())
  const taskOf = async (at: number) =>
    (await db.selectFrom('tasks').select('id').where('waiting_for', '=', keys[at]!).executeTakeFirstOrThrow())
      .id
  return { ...world, scope, reserve, taskOf, committed: () => world.committed(scope) }
}

test.each(['USD', 'credits'] as const)(
  'a run from a plan spends what the plan said at most, in %s',
  async (currency) => {
    const { reserve, committed, run, scope } = await plannedRun(currency)
    await reserve(0)
    const spent = await committed()
    const cap = currency === 'USD' ? '150000' : '15000000'
    await expect(reserve(1)).rejects.toMatchObject({
      code: 'plan_cost',
      message: expect.stringMatching(
        /^the run has spent what its plan said \((?:0\.15\d* USD|15\.0* credits)\)/,
      ),
      resumesAt: undefined,
      details: { scope, cap },
    })
    expect(await committed()).toBe(spent)
    // The caps of the settings count where they are lower.
    const world = await newRun(1)
    await capByPlan(database.db, world.run.id, 150_000n)
    const low = [{ scope: `run:${world.run.id}`, capAtomic: 5_000n }]
    await expect(world.reserve(world.keys[0]!, low)).rejects.toMatchObject({ code: 'budget_run' })
    expect(run.id).not.toBe(world.run.id)
  },
)

test.each(['one', 'group', 'run'] as const)(
  'the cap of a plan holds until a person retries what it has parked (%s)',
  async (which) => {
    const { db, reserve, lookups, keys, run, taskOf } = await plannedRun('USD')
    await reserve(0)
    const error = await reserve(1).then(
      () => undefined,
      (refused: Error & { code: string }) => refused,
    )
    const reason = error?.message ?? ''
    for (const key of keys.slice(1)) await lookups.park(key, null, { code: 'plan_cost', reason })
    const id = await taskOf(1)
    const limits = { now: now(), since: new Date(0), connectors: ['hubspot'] }
    // Another run's records are none of it.
    const other = await plannedRun('USD')
    await other.lookups.park(other.keys[0]!, null, { code: 'budget_run', reason: 'another' })
    expect(await retryTask(db, await other.taskOf(0), limits)).toBe(true)
    await expect(reserve(1)).rejects.toMatchObject({ code: 'plan_cost' })

    if (which === 'one') expect(await retryTask(db, id, limits)).toBe(true)
    else if (which === 'group')
      expect(
        (await retryGroup(db, { status: 'parked', code: 'plan_cost', reason }, limits)).records,
      ).toBeGreaterThan(0)
    else expect((await retryFailed(db, run.id, limits)).records).toBe(2)
    expect(await reserve(1)).toMatchObject({ state: 'journaled' })
    expect(await reserve(2)).toMatchObject({ state: 'journaled' })
    await other.reserve(0)
    await expect(other.reserve(1)).rejects.toMatchObject({ code: 'plan_cost' })
  },
)
