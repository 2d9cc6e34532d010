import { sql } from 'kysely'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { explain } from '../../src/app/records/explain.ts'
import type { FileConfig } from '../../src/app/config/file.ts'
import { companyAnswer } from '../../src/sandbox/data/company.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { sharedKinds, openCrmWorld } from './crm-worlds.ts'

let sandbox: Sandbox
beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())

const urlOf = (name: string) => `https://www.profnet.com/company/${name}`
const known = Array.from({ length: 60 }, (_, index) => `undone-co-${index}`).filter((name) => {
  const { data } = companyAnswer(urlOf(name))
  return data?.description && data.founded_year
})

const names = {
  hubspot: { entity: 'companies', url: 'profnet_url', touched: 'website' },
  salesforce: { entity: 'Account', url: 'Profnet_URL__c', touched: 'Website' },
} as const

test.each(sharedKinds)('nothing is bought again for fields that were undone (%s)', async (kind) => {
  const { entity, url, touched } = names[kind]
  const fields = ['description', 'founded_year']
  const world = await openCrmWorld(sandbox, kind, entity, {
    recipes: { told: { company: { steps: ['company.profile'], fields } } },
  } as FileConfig)
  onTestFinished(() => world.close())
  const { db } = world.context.database
  const ids = known.slice(0, 2).map((name) => world.add({ [url]: urlOf(name) }))
  const [first = '', second = ''] = ids
  const sync = async (id: string, times: number) => {
    // The answers are stale, and a person works on the record.
    await sql`update lookups set fresh_until = now() - interval '1 day'`.execute(db)
    world.edit(id, { [touched]: `https://by-hand-${times}.example` })
    return world.sync({ recipe: 'told' })
  }
  const run = await world.sync({ recipe: 'told' })
  expect(run).toMatchObject({ lookups: { paid: 2 }, tasks: { written: 2 } })
  expect(await world.undo(run.runId)).toMatchObject({ restored: 4 })

  const again = await sync(first, 1)
  expect(again).toMatchObject({
    lookups: { paid: 0 },
    leftOut: expect.arrayContaining([{ field: 'description', why: 'undone', records: expect.any(Number) }]),
  })
  expect(await world.task(first)).toMatchObject({
    status: 'unchanged',
    reason: `nothing that the recipe tells could be written: undone before: ${fields.join(', ')}`,
  })
  const object = { connector: kind, object: 'company', id: first } as const
  const explained = await explain(world.context, world.connector, object, 'told')
  expect(explained.lines.join('\n')).toContain(`undone before: ${fields.join(', ')}`)
  expect(explained.step.kind).toBe('stop')

  // Written again, and not undone since; and undone under another policy.
  await sql`update field_writes set rule = 'overwrite' where record_id = ${second}`.execute(db)
  expect(await sync(second, 2)).toMatchObject({ lookups: { paid: 1 }, tasks: { written: 1 } })
})
