import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { sharedKinds } from './crm-worlds.ts'
import { openListWorld, type ListWorld } from './lists-create.fixture.ts'

let sandbox: Sandbox
let world: ListWorld

beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())
afterEach(() => world.close())

test.each(sharedKinds)(
  'drafts that were reserved and never sent give way after ten minutes, and not before, in %s',
  async (kind) => {
    world = await openListWorld(sandbox, kind)
    await world.fetch()
    await world.fetch('again')
    await world.index()
    const [one, two] = [await world.plan('german'), await world.plan('again')]
    // The process ends behind the reservation, while it looks into the CRM once more.
    const gone = {
      ...world.connector,
      maker: { ...world.connector.maker!, find: () => Promise.reject(new Error('the process is gone')) },
    }
    await expect(world.apply(one.planId, { connector: gone })).rejects.toThrow('the process is gone')
    expect((await world.made()).map(({ state }) => state)).toEqual(Array.from({ length: 5 }, () => 'intent'))
    const startedAt = Date.now()
    const after = (ms: number) => ({ ...world.context, now: () => new Date(startedAt + ms) })
    expect(await world.apply(two.planId, { waitMs: 0, context: after(590_000) })).toMatchObject({
      created: 0,
      end: 'parked',
      reason: expect.stringMatching(/of the list german is making 5/),
    })
    expect(world.ids()).toEqual([])
    expect(await world.apply(two.planId, { context: after(660_000) })).toMatchObject({
      created: 5,
      end: 'finished',
    })
    // The first has lost its turn, and makes none of them.
    expect(await world.apply(one.planId)).toMatchObject({ created: 0, left: 5, end: 'finished' })
    expect(world.ids()).toHaveLength(5)
    const left = (await world.made()).filter(({ state }) => state === 'left')
    expect(left.map(({ reason }) => reason)).toEqual(
      Array.from({ length: 5 }, () => 'another list took its turn'),
    )
  },
)
