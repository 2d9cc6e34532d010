import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { historyText } from '../../src/cli/records/history.ts'
import { explain } from '../../src/app/records/explain.ts'
import { historyOf } from '../../src/app/records/history.ts'
import { writeSignals, type WritingPipeline } from '../../src/app/signals/writing/write-signals.ts'
import { salesforceMapping } from '../../src/connectors/salesforce/mapping.ts'
import { hubspotMapping } from '../../src/connectors/hubspot/mapping.ts'
import { signalFieldNames, type SignalField } from '../../src/domain/fields.ts'
import { signalTypes, type SignalType } from '../../src/domain/signals/signal.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openCrmWorld, sharedKinds, type CrmKind, type CrmWorld } from '../integration/crm-worlds.ts'

let sandbox: Sandbox
let world: CrmWorld | undefined
let at: Date

beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())
afterEach(async () => {
  await world?.close()
  world = undefined
})

const dayMs = 86_400_000
const inCrm = {
  hubspot: { entity: 'companies', mapping: hubspotMapping, names: { name: 'name', domain: 'domain' } },
  salesforce: { entity: 'Account', mapping: salesforceMapping, names: { name: 'Name', domain: 'Website' } },
} as const
const propertyOf = (kind: CrmKind, field: SignalField) =>
  inCrm[kind].mapping.entities[inCrm[kind].entity]!.fields[field]!.property

const pipeline: WritingPipeline = {
  name: 'accounts',
  types: signalTypes,
  days: { job: 7, news: 3, advertisement: 14, cloud: 30, expansion: 7 },
  score: { halfLifeDays: 30, points: [{ type: 'job', points: 10 }] },
  write: true,
}

async function open(kind: CrmKind) {
  at = new Date('2026-11-23T12:00:00.500Z')
  const crm = await openCrmWorld(sandbox, kind, inCrm[kind].entity, {}, { now: () => at })
  world = crm
  const { db } = crm.context.database
  const { names } = inCrm[kind]
  return {
    ...crm,
    async account(name: string): Promise<{ record: string; id: bigint }> {
      const record = crm.add({ [names.name]: name, [names.domain]: `${name}.com` })
      const { rows } = await sql<{ id: bigint }>`
        insert into signal_accounts (connector, entity, record_id, name, identity, stage, direction, markets, seen_at)
        values (${kind}, ${crm.entity}, ${record}, ${name}, ${JSON.stringify({ domain: `${name}.com` })}::jsonb,
          'Committing', 'new', '["Spain", "Portugal"]', ${at}) returning id`.execute(db)
      return { record, id: BigInt(rows[0]!.id) }
    },
    async observe(id: bigint, type: SignalType, key: string, more: { about?: object; ended?: boolean } = {}) {
      await sql`
        insert into signals (account_id, type, key, title, about, happened_at, first_seen_at, last_seen_at, ended_at, lookup_key)
        values (${String(id)}::bigint, ${type}, ${key}, ${`${key} title`}, ${JSON.stringify(more.about ?? {})}::jsonb,
          ${at}, ${at}, ${at}, ${more.ended ? at : null}::timestamptz, 'job.search|x')
        on conflict (account_id, type, key) do update set ended_at = excluded.ended_at`.execute(db)
    },
    async check(id: bigint, types: readonly SignalType[], isMatched = true) {
      for (const type of types)
        await sql`
          insert into signal_checks (pipeline, account_id, type, checked_at, whole_at, is_matched, lookup_key)
          values ('accounts', ${String(id)}::bigint, ${type}, ${at}, ${at}, ${isMatched}, ${`${type}.search|x`})
          on conflict (pipeline, account_id, type) do update set checked_at = excluded.checked_at,
            is_matched = excluded.is_matched`.execute(db)
    },
    write: (ids: readonly bigint[], more: Partial<WritingPipeline> = {}) =>
      writeSignals(crm.context, { ...pipeline, ...more }, ids, {
        target: { connector: crm.connector, entity: crm.entity },
        signal: new AbortController().signal,
      }),
    /** Returns what stands in the record's fields of signals. */
    fields(record: string, fields: readonly SignalField[]) {
      const values = crm.state().get(record) ?? {}
      return Object.fromEntries(fields.map((field) => [field, values[propertyOf(kind, field)]]))
    },
  }
}

describe.each(sharedKinds)('what was observed, in %s', (kind) => {
  const no = kind === 'hubspot' ? 'false' : 'No'
  const yes = kind === 'hubspot' ? 'true' : 'Yes'
  const number = (value: number) => (kind === 'hubspot' ? String(value) : value)

  test('is written once, replaced, cleared, locked by an edit, and taken back', async () => {
    const crm = await open(kind)
    const [norvik, other, unknown] = [
      await crm.account('norvik'),
      await crm.account('other'),
      await crm.account('unknown'),
    ]
    const ids = [norvik.id, other.id, unknown.id]
    for (const { id } of [norvik, other]) {
      await crm.check(id, signalTypes)
      await crm.observe(id, 'job', 'seller')
      await crm.observe(id, 'advertisement', 'campaign')
      await crm.observe(id, 'cloud', 'aws', { about: { provider: 'AWS' } })
      await crm.observe(id, 'news', 'opening')
    }
    await crm.check(unknown.id, signalTypes, false)
    const before = new Map(crm.state())

    const first = await crm.write(ids)
    expect(first).toMatchObject({ written: 2, skipped: 0, rejected: 0, end: 'finished' })
    expect(crm.state().get(unknown.record)).toEqual(before.get(unknown.record))
    const some = [
      'open_jobs',
      'advertising',
      'cloud_providers',
      'expansion_markets',
      'last_news_at',
      'signal_score',
    ] as const
    const firstValues = {
      open_jobs: number(1),
      advertising: yes,
      cloud_providers: 'AWS',
      expansion_markets: 'Portugal; Spain',
      last_news_at: '2026-11-23',
      signal_score: number(10),
    }
    expect(crm.fields(norvik.record, some)).toEqual(firstValues)
    const time = kind === 'hubspot' ? '2026-11-23T12:00:00.500Z' : '2026-11-23T12:00:00.000+0000'
    expect(crm.fields(norvik.record, ['signals_checked_at'])).toEqual({ signals_checked_at: time })

    // A repeat reads no record, writes none and opens no run.
    crm.wire.forget()
    expect(await crm.write(ids)).toMatchObject({ runId: undefined, written: 0 })
    expect(crm.readsAndWrites()).toEqual([])

    // A person changes one of the fields.
    crm.edit(other.record, { [propertyOf(kind, 'cloud_providers')]: 'On premises' })
    at = new Date(at.getTime() + dayMs)
    for (const { id } of [norvik, other]) {
      await crm.check(id, signalTypes)
      await crm.observe(id, 'job', 'seller', { ended: true })
      await crm.observe(id, 'advertisement', 'campaign', { ended: true })
      await crm.observe(id, 'cloud', 'aws', { ended: true })
    }
    const second = await crm.write(ids)
    expect(second).toMatchObject({ written: 2 })
    const zeros = { open_jobs: number(0), advertising: no, cloud_providers: undefined }
    expect(crm.fields(norvik.record, ['open_jobs', 'advertising', 'cloud_providers'])).toEqual(zeros)
    expect(crm.fields(other.record, ['open_jobs', 'cloud_providers'])).toEqual({
      open_jobs: number(0),
      cloud_providers: 'On premises',
    })
    const name = { connector: kind, object: crm.entity, id: norvik.record }
    const text = historyText(await historyOf(crm.context, name))
    expect(text).toContain('cloud_providers: "AWS" → (cleared)')
    expect(text).toContain('from cloud.search|x')
    expect(text).toMatch(/open_jobs: \d+ → 0\n.*from job\.search\|x/)

    const explained = await explain(crm.context, crm.connector, name, undefined)
    expect(explained.pipelines).toEqual(['accounts'])

    // The first run is taken back after the second: what the second one wrote over stays with the second.
    const undone = await crm.undo(second.runId!)
    expect(undone).toMatchObject({ unfinished: undefined })
    expect(crm.fields(norvik.record, some)).toEqual(firstValues)
    expect(crm.fields(other.record, ['cloud_providers'])).toEqual({ cloud_providers: 'On premises' })
    // An undone value is not written again.
    expect(await crm.write(ids)).toMatchObject({ written: 0, rejected: 0 })
    await crm.undo(first.runId!)
    expect(crm.fields(norvik.record, some)).toEqual(
      Object.fromEntries(some.map((field) => [field, undefined])),
    )
    expect(await crm.write(ids)).toMatchObject({ written: 0 })
  })

  test('of a company before goes when the record names one that nobody knows', async () => {
    const crm = await open(kind)
    const { record, id } = await crm.account('norvik')
    await crm.check(id, signalTypes)
    await crm.observe(id, 'job', 'seller')
    await crm.write([id])
    expect(crm.fields(record, ['open_jobs'])).toEqual({ open_jobs: number(1) })
    crm.edit(record, { [propertyOf(kind, 'last_news_title')]: 'Written by a person' })

    await crm.check(id, signalTypes, false)
    const cleared = await crm.write([id])
    expect(cleared).toMatchObject({ written: 1, rejected: 0, end: 'finished' })
    const left = Object.fromEntries(signalFieldNames.map((field) => [field, undefined]))
    expect(crm.fields(record, signalFieldNames)).toEqual({ ...left, last_news_title: 'Written by a person' })
    expect(await crm.write([id])).toMatchObject({ runId: undefined, written: 0 })

    expect(await crm.undo(cleared.runId!)).toMatchObject({ left: 0 })
    expect(crm.fields(record, ['open_jobs'])).toEqual({ open_jobs: number(1) })
  })
})

test('a pipeline writes only the fields that it names, or none', async () => {
  const crm = await open('hubspot')
  const { id, record } = await crm.account('norvik')
  await crm.check(id, signalTypes)
  expect(await crm.write([id], { write: false })).toMatchObject({ runId: undefined, written: 0 })
  expect(crm.sent()).toEqual([])
  expect(await crm.write([id], { write: ['open_jobs'] })).toMatchObject({ written: 1 })
  expect(crm.fields(record, ['open_jobs', 'signal_score', 'advertising'])).toEqual({ open_jobs: '0' })
  // No lookup was made for the run: it has nothing to pay with, either.
  expect(await crm.context.database.db.selectFrom('charges').select('id').execute()).toEqual([])
})

test('values of an earlier run that sent nothing give way to newer ones', async () => {
  const crm = await open('hubspot')
  const { id, record } = await crm.account('norvik')
  await crm.check(id, signalTypes)
  const { db } = crm.context.database
  const first = await crm.write([id], { write: ['open_jobs'] })
  // As after a kill before the record was written.
  await sql`delete from field_writes`.execute(db)
  await sql`update tasks set status = 'ready'`.execute(db)
  await sql`update runs set state = 'working', finished_at = null`.execute(db)
  crm.edit(record, { [propertyOf('hubspot', 'open_jobs')]: '' })
  await crm.observe(id, 'job', 'seller')
  const second = await crm.write([id], { write: ['open_jobs'] })
  expect(second).toMatchObject({ written: 1 })
  expect(crm.fields(record, ['open_jobs'])).toEqual({ open_jobs: '1' })
  const tasks = await db.selectFrom('tasks').select(['run_id', 'status']).orderBy('id').execute()
  expect(tasks).toEqual([
    { run_id: first.runId, status: 'skipped' },
    { run_id: second.runId, status: 'written' },
  ])
})
