import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { enrichCsv, openInput, planCsv } from '../../src/app/runs/enrich-csv.ts'
import { contactsOf } from '../../src/sandbox/data/contacts.ts'
import { member } from '../../src/sandbox/data/directory.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openHouse, type House } from '../support/house.ts'

// A record names its profile on one host of the network, and the answer names it on another.

let sandbox: Sandbox
let house: House
beforeAll(async () => {
  sandbox = await startSandbox()
  const maxPricesUsd = { 'contact.redeem:email-work': '0.15', 'contact.redeem:phone': '0.30' }
  house = await openHouse(sandbox, { config: { payment: { maxPricesUsd } } })
})
afterAll(async () => {
  await house.close()
  await sandbox.stop()
})

const people = Array.from({ length: 400 }, (_, index) => member(index))
  .filter(({ slug }) => contactsOf(slug).emails.length > 0 && contactsOf(slug).phones.length > 0)
  .slice(0, 4)

async function fileOf(name: string, urls: readonly string[]) {
  const input = join(house.context.config.dataDir, '..', `${name}.csv`)
  await writeFile(input, ['profnet_url', ...urls].join('\n'))
  return openInput(house.context.config, { input, object: 'person' })
}

async function enrich(recipe: string, urls: readonly string[]) {
  const name = `${recipe}-${(files += 1)}`
  const csv = await fileOf(name, urls)
  const out = join(house.context.config.dataDir, '..', `${name}.out.csv`)
  return enrichCsv(house.context, csv, { out, recipe, signal: new AbortController().signal })
}
let files = 0

/** Returns the price of the reveals that were paid for, in USD. */
async function revealed(): Promise<number> {
  const rows = await house.context.database.db
    .selectFrom('charges')
    .innerJoin('bundle_members', 'bundle_members.charge_id', 'charges.id')
    .select('bundle_members.amount_atomic')
    .where('operation', '=', 'contact.redeem')
    .where('state', '=', 'settled')
    .execute()
  const alone = await house.context.database.db
    .selectFrom('charges')
    .select('amount_atomic')
    .where('operation', '=', 'contact.redeem')
    .where('state', '=', 'settled')
    .where('id', 'not in', (query) =>
      query.selectFrom('bundle_members').select('charge_id').where('charge_id', 'is not', null),
    )
    .execute()
  return [...rows, ...alone].reduce((sum, row) => sum + Number(row.amount_atomic), 0) / 1e6
}

test('`contact` and then `full` buy the reveals of four people once, 1.80 USD', async () => {
  const urls = people.map(({ slug }) => `https://www.profnet.com/in/${slug}`)
  await enrich('contact', urls)
  expect(await revealed()).toBeCloseTo(1.8, 6)

  // The profiles may name other URLs, which only the lookups tell: at best the plan buys nothing but them.
  const plan = await planCsv(house.context, await fileOf('planned', urls), { recipe: 'full' })
  expect(plan.cost.low).toBe('0.040000')
  expect((await planCsv(house.context, await fileOf('again', urls), { recipe: 'contact' })).cost.high).toBe(
    '0.000000',
  )
  const { summary } = await enrich('full', urls)
  expect(summary.tasks).toMatchObject({ written: 4 })
  expect(await revealed()).toBeCloseTo(1.8, 6)

  // The same people as the service itself names them, and with a country in front.
  for (const host of ['www.profnet.example', 'de.profnet.example', 'profnet.com', 'touch.profnet.com']) {
    const again = await enrich(
      'full',
      people.map(({ slug }) => `https://${host}/in/${slug}`),
    )
    expect(again.summary.lookups).toMatchObject({ paid: 0 })
  }
  expect((await sandbox.stats()).keysPaidTwice).toBe(0)
})

test('one file with a person under two hosts has one lookup, and the second row is a duplicate', async () => {
  const slug = 'maria-rossi-4711'
  const { summary } = await enrich('profile', [
    `https://www.profnet.com/in/${slug}`,
    `https://fr.profnet.example/in/${slug.toUpperCase()}/`,
  ])
  expect(summary.lookups).toMatchObject({ unique: 1, duplicates: 1 })
})

test('what a file has found is searchable when the command ends, where nobody could search before', async () => {
  const { db, kind } = house.context.database
  const { rows } = await sql<{ read: number; left: number }>`
    select count(task_id)::int as read,
      count(*) filter (where seen_at is null or seen_at < date_trunc('milliseconds', updated_at))::int as left
    from tasks join runs on runs.id = run_id and runs.state <> 'planned' left join task_words on task_id = tasks.id`.execute(
    db,
  )
  if (kind === 'postgres') return
  expect(rows[0]?.read).toBeGreaterThan(20)
  expect(rows[0]?.left).toBe(0)
})
