import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { readIdentifiers } from '../../src/app/records/suppress.ts'
import { contactsOf } from '../../src/sandbox/data/contacts.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openListWorld, type ListWorld } from '../integration/lists-create.fixture.ts'

let sandbox: Sandbox
let world: ListWorld

beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())
afterEach(() => world.close())

async function open(into: Record<string, unknown> = {}) {
  world = await openListWorld(sandbox, 'hubspot', {
    entity: 'contacts',
    limit: 5,
    into: { associate: false, ...into },
    list: { search: 'people.search', filters: { people_titles: ['Head'] }, recipe: 'contact' },
  })
  const rows = await world.fetch()
  const urlOf = (row: (typeof rows)[number]) => String(row.values['profnet_url'])
  const emailOf = (row: (typeof rows)[number]) => {
    const { emails } = contactsOf(urlOf(row).split('/').at(-1)!)
    return emails.find(({ type }) => type === 'work')?.value
  }
  return { rows, urlOf, emailOf, withEmail: rows.filter((row) => emailOf(row) !== undefined) }
}

async function charged(): Promise<number> {
  const charges = await world.context.database.db.selectFrom('charges').select('state').execute()
  return charges.filter(({ state }) => state === 'settled').length
}

describe('rows that are looked up', () => {
  test('are judged once more before: nothing is bought for one whose record has come since the plan', async () => {
    const { rows, urlOf } = await open()
    await world.index()
    const { planId } = await world.plan()
    for (const row of rows) world.add({ lastname: 'Came', profnet_url: urlOf(row) })
    const before = await charged()
    const applied = await world.apply(planId)
    expect(applied).toMatchObject({ created: 0, exists: rows.length, end: 'finished' })
    expect(await charged()).toBe(before)
  })

  test('and share a revealed e-mail are two people: the second waits, and nothing of it is written into the first', async () => {
    const { rows } = await open({ update: true })
    await world.index()
    const { planId } = await world.plan()
    const [one, two] = rows
    for (const { ordinal } of [one!, two!])
      await sql`
        update plan_records set preview = jsonb_set(jsonb_set(preview, '{identity,email}', '"office@shared.example"'),
          '{identities}', preview -> 'identities' || '[{"kind":"email","value":"office@shared.example"}]')
        where ordinal = ${ordinal}`.execute(world.context.database.db)
    const applied = await world.apply(planId)
    expect(applied).toMatchObject({ created: rows.length - 1, exists: 0, left: 1, updates: null })
    const made = await world.made()
    expect(made.find(({ ordinal }) => ordinal === two!.ordinal)?.reason).toMatch(
      /^ambiguous: .*another profile/,
    )
  })

  test('are all looked up before records are updated, so that one found late is updated too', async () => {
    const { urlOf, emailOf, withEmail } = await open({ update: true })
    const [early, late] = [withEmail[0]!, withEmail.at(-1)!]
    const first = world.add({ lastname: 'Early', profnet_url: urlOf(early) })
    const there = world.add({ lastname: 'Late', email: emailOf(late)! })
    await world.index()
    const { planId } = await world.plan()
    const ends: string[] = []
    let updated: string | undefined
    while (ends.at(-1) !== 'finished') {
      expect(ends.length).toBeLessThan(20)
      const applied = await world.apply(planId, { mostAtomic: 1_600_000n })
      ends.push(applied.end)
      updated = applied.updates?.runId
    }
    expect(ends.length).toBeGreaterThan(1)
    const { db } = world.context.database
    const tasks = await db.selectFrom('tasks').select('record_id').where('run_id', '=', updated!).execute()
    expect(tasks.map((task) => task.record_id).sort()).toEqual([first, there].sort())
  })

  test('leave a record alone whose own e-mail is suppressed', async () => {
    const { urlOf, withEmail } = await open({ update: true })
    const email = 'private@person.example'
    const there = world.add({ lastname: 'Kept', email, profnet_url: urlOf(withEmail[0]!) })
    await world.index()
    await world.context.suppressions.add(readIdentifiers({ email: [email] }))
    const plan = await world.plan()
    expect(plan.updates?.lookups.toBuy).toBe(0)
    const { updates } = await world.apply(plan.planId)
    expect(updates).toMatchObject({ tasks: { skipped: 1, written: 0 }, lookups: { paid: 0 } })
    expect(world.state().get(there)?.['phone']).toBeUndefined()
  })

  test('make no record of a person whose revealed e-mail is suppressed', async () => {
    const { rows, emailOf, withEmail } = await open()
    await world.index()
    await world.context.suppressions.add(readIdentifiers({ email: [emailOf(withEmail[0]!)!] }))
    const applied = await world.apply((await world.plan()).planId)
    expect(applied).toMatchObject({ created: rows.length - 1, left: 1 })
  })
})
