import { afterAll, beforeAll, expect, test } from 'vitest'
import type { AppliedList } from '../../src/app/lists/making/apply-list.ts'
import { createContext } from '../../src/app/context/context.ts'
import { createDice } from '../../src/sandbox/random.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { sized } from '../support/full-size.ts'
import type { ListOrder } from '../support/list-process.ts'
import { testSeed } from '../support/seed.ts'
import { runOrder } from '../support/run-order.ts'
import { sharedKinds } from './crm-worlds.ts'
import { nameOf, openListWorld } from './lists-create.fixture.ts'

let sandbox: Sandbox
beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())

async function apply(order: ListOrder): Promise<{ signal: string | null; applied?: AppliedList }> {
  const { signal, printed } = await runOrder<AppliedList>('list-process.ts', order)
  return { signal, ...(printed && { applied: printed }) }
}

test.each(sharedKinds)(
  'processes that are killed at random make each company once, in %s',
  { timeout: 600_000 },
  async (kind) => {
    const rows = sized(60, 12)
    const kills = sized(20, 3)
    const world = await openListWorld(sandbox, kind, { limit: rows })
    const dice = createDice(`${testSeed()} ${kind}`)
    try {
      await world.fetch()
      await world.index()
      const { planId, creates } = await world.plan()
      // The embedded ledger belongs to one process at a time.
      await world.leave()
      const { variables: env, settings: file } = world
      const trace: string[] = []
      let killed = 0
      let applied: AppliedList | undefined
      while (killed < kills && applied === undefined) {
        const point = dice.pick(['request', 'answer', 'time'] as const)
        const kill = { point, nth: point === 'time' ? dice.integer(300, 1_500) : dice.integer(1, 14) }
        const ended = await apply({ env, file, planId, kill })
        trace.push(`${ended.signal === null ? 'not killed' : 'killed'} ${kill.point} ${kill.nth}`)
        if (ended.signal === 'SIGKILL') killed += 1
        applied = ended.applied
      }
      applied ??= (await apply({ env, file, planId })).applied
      const names = world.ids().map((id) => world.state().get(id)?.[nameOf[kind]])
      process.stderr.write(`${kind}: ${killed} kills, ${names.length} records: ${trace.join(', ')}\n`)
      expect(applied).toMatchObject({ end: 'finished' })
      expect(names).toHaveLength(creates)
      expect(new Set(names).size).toBe(creates)
      const context = await createContext(world.context.config)
      try {
        const [run] = await context.runs.list(1)
        expect(run).toMatchObject({ trigger: 'list', state: 'finished', records: creates })
      } finally {
        await context.close()
      }
    } finally {
      await world.close()
    }
  },
)
