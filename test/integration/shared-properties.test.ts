import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { FileConfig } from '../../src/app/config/file.ts'
import { companyAnswer } from '../../src/sandbox/data/company.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { crmKinds, openCrmWorld } from './crm-worlds.ts'

let sandbox: Sandbox
beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())

const urlOf = (name: string) => `https://www.profnet.com/company/${name}`
const known = Array.from({ length: 60 }, (_, index) => `shared-co-${index}`).filter((name) => {
  const { data } = companyAnswer(urlOf(name))
  return data?.description && data.title && data.description !== data.title
})

const names = {
  hubspot: { entity: 'companies', url: 'profnet_url', website: 'website', description: 'description' },
  salesforce: { entity: 'Account', url: 'Profnet_URL__c', website: 'Website', description: 'Description' },
} as const

test.each(crmKinds)(
  'the ledger names only what stands in a property that two fields share (%s)',
  async (kind) => {
    const { entity, url, website, description } = names[kind]
    const fields = { tagline: description, description }
    const world = await openCrmWorld(sandbox, kind, entity, {
      connectors: { [kind]: { mapping: { [entity]: { fields } } } },
      policies: { [kind]: { default: 'overwrite_ours' } },
    } as FileConfig)
    onTestFinished(() => world.close())
    const ids = known.slice(0, 2).map((name) => world.add({ [url]: urlOf(name) }))
    const before = world.state()
    const { runId, tasks } = await world.sync()
    expect(tasks).toMatchObject({ written: 2 })
    const written = (await world.fieldWrites('written')).filter(({ field }) => Object.hasOwn(fields, field))
    expect(written.map((row) => [row.record_id, row.field, row.new_value])).toEqual(
      ids.map((id) => [id, 'description', world.state().get(id)?.[description]]),
    )
    // The value was not edited, so it may still be replaced, and an undo puts it back.
    for (const [index, id] of ids.entries()) {
      world.edit(id, { [website]: 'https://by-hand.example' })
      await world.answerChanges(known[index] ?? '', { description: `changed ${index}` })
    }
    const again = await world.sync()
    expect(ids.map((id) => world.state().get(id)?.[description])).toEqual(['changed 0', 'changed 1'])
    expect(await world.undo(again.runId)).toMatchObject({ restored: 2, left: 0 })
    await world.undo(runId)
    expect(ids.map((id) => world.state().get(id)?.[description])).toEqual(
      ids.map((id) => before.get(id)?.[description]),
    )
  },
)
