import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { forget, planForget } from '../../src/app/records/forget.ts'
import { reconcile } from '../../src/app/money/reconcile.ts'
import { readIdentifiers } from '../../src/app/records/suppress.ts'
import { enforceRetention } from '../../src/app/runs/retention.ts'
import { planSync } from '../../src/app/runs/sync.ts'
import type { LookupKey } from '../../src/domain/keys.ts'
import { openRedis } from '../../src/queues/connection.ts'
import { createQueues } from '../../src/queues/queues.ts'
import { personAnswer } from '../../src/sandbox/data/person.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openCrmHouse, type CrmHouse } from './crm-house.ts'

let sandbox: Sandbox
let house: CrmHouse

beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())
afterEach(async () => {
  await house?.close()
  house = undefined as never
})

const urlOf = (name: string) => `https://www.profnet.com/in/${name}`
const known = Array.from({ length: 60 }, (_, index) => `quita-zanders-${index}`).filter(
  (name) => personAnswer(urlOf(name)).data !== null,
)

function fill(count: number): string[] {
  return known.slice(0, count).map((name, index) =>
    house.add('contacts', {
      firstname: 'Quita',
      lastname: `Zanders${index}`,
      email: `quita.${index}@mail-of-zanders.example`,
      phone: `+49 30 9018 20${10 + index}`,
      profnet_url: urlOf(name),
    }),
  )
}

/** Every row of every table as text: what a dump of the database would show. */
async function dump(): Promise<string> {
  const { db } = house.context.database
  const { rows: tables } = await sql<{ name: string }>`
    select tablename as name from pg_tables where schemaname = 'public' order by 1`.execute(db)
  const parts = []
  for (const { name } of tables) {
    const { rows } = await sql<{
      row: string
    }>`select to_jsonb(t)::text as row from ${sql.table(name)} as t`.execute(db)
    parts.push(`${name}\n${rows.map(({ row }) => row).join('\n')}`)
  }
  return parts.join('\n')
}

const traces = (text: string, words: string[]) =>
  text.split('\n').filter((line) => words.some((word) => line.toLowerCase().includes(word.toLowerCase())))

describe('forgetting a subject', () => {
  test('leaves no trace of it in the database, keeps the amounts, and the accounts still balance', async () => {
    house = await openCrmHouse(sandbox)
    fill(4)
    const { summary } = await house.sync('contacts')
    expect(summary).toMatchObject({ records: 4, lookups: { paid: 4 }, tasks: { written: 4 } })
    const job = { entity: 'contacts', filter: [], since: new Date(0) }
    const signal = new AbortController().signal
    await planSync(house.context, house.connector, job, signal, 'p1')
    const words = ['quita.1@mail-of-zanders.example', 'Zanders1', `${known[1]}`, '9018 2011', '3090182011']
    expect(traces(await dump(), words).length).toBeGreaterThan(3)
    const before = await reconcile(house.context, house.wallet)
    expect(before).toMatchObject({ differences: [], difference: '0.000000' })

    const marks = readIdentifiers({ email: ['Quita.1@Mail-of-Zanders.example'] })
    const rows = await dump()
    const { identifiers, records, lookups, refusal, plan, ...planned } = await planForget(
      house.context,
      marks,
      { suppress: true },
    )
    expect({ plan, refusal }).toEqual({ plan: true, refusal: null })
    expect(identifiers.map(({ value }) => value)).toEqual(
      expect.arrayContaining(['quita.1@mail-of-zanders.example', `profnet.com/in/${known[1]}`]),
    )
    expect(records).toMatchObject([{ connector: 'hubspot', entity: 'contacts', file: null, runs: 1 }])
    expect(lookups).toEqual([expect.stringContaining(known[1] as string)])
    // A plan changes nothing.
    expect((await dump()) === rows).toBe(true)

    const { erased, suppressed, ...rest } = await forget(house.context, marks, { suppress: true })
    // And does not differ from what is done.
    expect({ erased, suppressed, rest }).toEqual({ ...planned, rest: { plan: false } })
    expect(erased).toMatchObject({ lookups: 1, tasks: 1, charges: 1, planRecords: 1 })
    expect(erased.fieldWrites).toBeGreaterThan(0)
    // By its address and by the profile that the record told.
    expect(suppressed).toBeGreaterThanOrEqual(2)
    expect(traces(await dump(), words)).toEqual([])
    expect(traces(await dump(), ['quita.2@mail-of-zanders.example']).length).toBeGreaterThan(0)
    expect(await reconcile(house.context, house.wallet)).toMatchObject({
      ledger: before.ledger,
      chain: before.chain,
      differences: [],
      difference: '0.000000',
    })

    const again = await house.sync('contacts', (inner) => inner, { since: new Date(0) })
    expect(again.summary).toMatchObject({ lookups: { paid: 0 } })
    const tasks = await house.context.database.db
      .selectFrom('tasks')
      .select(['status', 'reason'])
      .where('run_id', '=', again.summary.runId)
      .where('reason', '=', 'suppressed')
      .execute()
    expect(tasks).toEqual([{ status: 'skipped', reason: 'suppressed' }])
    expect(traces(await dump(), words)).toEqual([])
    expect(await house.transfers()).toHaveLength(4)
  })

  test('takes it out of what was told about others, and does not count it as theirs', async () => {
    house = await openCrmHouse(sandbox)
    fill(1)
    await house.sync('contacts')
    const answer = personAnswer(urlOf(known[0] as string)).data
    const neighbour = answer?.similar_profiles?.[0] ?? answer?.people_also_viewed?.[0]
    const url = neighbour?.profnet_url ?? ''
    const slug = url.slice(url.lastIndexOf('/') + 1)
    expect(traces(await dump(), [slug]).length).toBe(1)
    const { erased } = await forget(house.context, readIdentifiers({ profile_url: [url] }), {
      suppress: false,
    })
    expect(erased).toMatchObject({ lookups: 0, tasks: 0, mentions: 1 })
    expect(traces(await dump(), [slug])).toEqual([])
    expect(traces(await dump(), [known[0] as string]).length).toBeGreaterThan(0)
  })

  test('keeps nothing of a suppressed person and buys nothing about one', async () => {
    house = await openCrmHouse(sandbox)
    fill(3)
    const listed = readIdentifiers({
      phone: ['+49 30 90182010'],
      domain: [],
      email: ['QUITA.2@mail-of-zanders.example'],
    })
    expect(await house.context.suppressions.add(listed)).toBe(2)
    const { summary } = await house.sync('contacts')
    expect(summary).toMatchObject({
      lookups: { paid: 1 },
      tasks: { written: 1, skipped: 2 },
      reasons: [{ status: 'skipped', reason: 'suppressed', count: 2 }],
    })
    expect(traces(await dump(), ['quita.2@', 'Zanders2', 'Zanders0'])).toEqual([])
    await house.context.suppressions.remove(listed)
    expect(await house.context.suppressions.list()).toEqual([])
  })
})

test('a forgotten lookup leaves the queue, and its neighbours stay', async () => {
  const redis = await openRedis(process.env['REDIS_URL'])
  const prefix = `paydirt_test_forget_${process.pid}`
  const queues = createQueues(redis.redis, { prefix, onError: () => {} })
  try {
    const [one, other] = ['person.profile|profnet.com/in/a', 'person.profile|profnet.com/in/b'] as LookupKey[]
    await queues.addLookups('background', [one, other] as LookupKey[])
    await queues.addLookups('hot', [one as LookupKey])
    expect(await queues.dropLookups([one as LookupKey])).toBe(2)
    expect(await queues.dropLookups([one as LookupKey])).toBe(0)
    expect([await queues.countLookups('background'), await queues.countLookups('hot')]).toEqual([1, 0])
    await queues.dropLookups([other as LookupKey])
  } finally {
    await queues.close()
    await redis.close()
  }
})

describe('the retention of answers', () => {
  test('erases those that are older, and the next run buys them anew and no others', async () => {
    let ahead = 0
    house = await openCrmHouse(sandbox, {
      config: { retention: { answersDays: 10 } },
      overrides: { now: () => new Date(Date.now() + ahead) },
    })
    fill(2)
    await house.sync('contacts')
    expect(await enforceRetention(house.context)).toBe(0)
    ahead = 11 * 86_400_000
    expect(await enforceRetention(house.context)).toBe(2)
    const answers = await house.context.database.db
      .selectFrom('lookups')
      .select(['answer', 'outcome'])
      .execute()
    expect(answers).toEqual([
      { answer: null, outcome: 'found' },
      { answer: null, outcome: 'found' },
    ])
    // One more record of the same person: the others have everything, and nothing is bought for them.
    const [known] = [...house.seen('contacts').values()]
    house.add('contacts', { profnet_url: known?.['profnet_url'] ?? '' })
    const { summary } = await house.sync('contacts', (inner) => inner, {
      since: new Date(Date.now() - 60_000),
    })
    expect(summary.lookups.paid).toBe(summary.lookups.unique)
    expect(await house.transfers()).toHaveLength(2 + summary.lookups.paid)
    expect(summary.lookups.paid).toBeGreaterThan(0)
  })
})
