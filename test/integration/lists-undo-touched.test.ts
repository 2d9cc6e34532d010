import { afterAll, beforeAll, expect, test } from 'vitest'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { sized } from '../support/full-size.ts'
import { sharedKinds } from './crm-worlds.ts'
import { openListWorld, type ListWorld } from './lists-create.fixture.ts'

let sandbox: Sandbox
beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())

/** A person's edit of each CRM, in a property that the creation filled, one that it left blank, or the owner. */
const edits = {
  hubspot: [
    { name: 'Renamed' },
    { phone: '+49 30 1234567' },
    { hubspot_owner_id: '51' },
    { description: 'Met at the fair' },
  ],
  salesforce: [
    { Name: 'Renamed' },
    { Phone: '+49 30 1234567' },
    { OwnerId: '005Wx0000000099AAA' },
    { Description: 'Met at the fair' },
  ],
} as const

const rows = sized(100, 20)
const leftCount = rows / 4

test.each(sharedKinds)(
  `of ${rows} records of which a person has edited ${rows / 5} and tied deals to ${rows / 20}, an undo archives ${rows - leftCount} and names ${leftCount}, in %s`,
  { timeout: 300_000 },
  async (kind) => {
    const world = await openListWorld(sandbox, kind, { limit: rows })
    try {
      await world.fetch()
      await world.index()
      const plan = await world.plan()
      const { runId, created } = await world.apply(plan.planId)
      expect(created).toBe(rows)
      const ids = world.ids()
      // Every fifth is edited, so that each batch of the CRM has some.
      const edited = ids.filter((_, at) => at % 5 === 0)
      edited.forEach((id, at) => world.edit(id, { ...edits[kind][at % edits[kind].length]! }))
      const tied = ids.filter((_, at) => at % 20 === 1)
      for (const id of tied) world.tieDeal(id)
      const touched = [...edited, ...tied].sort()
      expect(touched).toHaveLength(leftCount)

      const planned = await world.takeBack(runId, true)
      expect(namesOf(planned)).toEqual({
        plan: true,
        archived: rows - leftCount,
        left: leftCount,
        named: touched,
      })
      expect(world.ids()).toHaveLength(rows)
      const before = world.state()
      const undone = await world.takeBack(runId)
      expect(namesOf(undone)).toEqual({
        plan: false,
        archived: rows - leftCount,
        left: leftCount,
        named: touched,
      })
      expect(world.ids().sort()).toEqual(touched)
      // The work of people stands as it was.
      for (const id of touched) expect(world.state().get(id)).toEqual(before.get(id))
      // A second time there is nothing left to take back, and it says so of the same records.
      expect(namesOf(await world.takeBack(runId))).toMatchObject({
        archived: 0,
        left: leftCount,
        named: touched,
      })
      expect(world.ids().sort()).toEqual(touched)
    } finally {
      await world.close()
    }
  },
)

type Undone = Awaited<ReturnType<ListWorld['takeBack']>>

function namesOf({ plan, archived, left, rows }: Undone) {
  const named = rows.flatMap(({ record, outcome, reason }) => (outcome === 'left' && reason ? [record!] : []))
  return { plan, archived, left, named: named.map((record) => record.split(':').at(-1)!).sort() }
}
