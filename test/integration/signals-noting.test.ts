import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { undoNotes } from '../../src/app/notes/undo-notes.ts'
import { noteAccounts, type NotingPipeline } from '../../src/app/signals/noting/note-accounts.ts'
import { scoreAccounts } from '../../src/app/signals/writing/score-accounts.ts'
import { markersIn } from '../../src/domain/notes/marker.ts'
import { signalTypes, type SignalType } from '../../src/domain/signals/signal.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { holdAccounts } from '../../src/store/signals/accounts.ts'
import { openCrmWorld, sharedKinds, type CrmKind, type CrmWorld } from './crm-worlds.ts'

let sandbox: Sandbox
let world: CrmWorld | undefined
let at: Date
beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())
afterEach(async () => {
  await world?.close()
  world = undefined
})

const inCrm = {
  hubspot: { entity: 'companies', name: 'name', owner: 'hubspot_owner_id' },
  salesforce: { entity: 'Account', name: 'Name', owner: 'OwnerId' },
} as const
const pipeline: NotingPipeline = {
  name: 'dach',
  types: signalTypes,
  rules: { halfLifeDays: 3650, points: [{ type: 'job', points: 10 }] },
  note: true,
  task: { title: 'Call them', when: { scoreAtLeast: 15 }, dueDays: 2 },
}
const passDays = (days: number): void => void (at = new Date(at.getTime() + days * 86_400_000))

async function open(kind: CrmKind) {
  // A Monday.
  at = new Date('2026-11-23T12:00:00Z')
  const crm = await openCrmWorld(sandbox, kind, inCrm[kind].entity, {}, { now: () => at })
  world = crm
  const { db } = crm.context.database
  return {
    ...crm,
    async account(name: string) {
      const recordId = crm.add({ [inCrm[kind].name]: name, [inCrm[kind].owner]: crm.owners[0] })
      const given = { connector: kind, entity: crm.entity, recordId, name, identity: {} }
      return (await holdAccounts(db, [given], at))[0]!
    },
    async observe(id: bigint, key: string, type: SignalType = 'job') {
      await sql`
        insert into signals (account_id, type, key, title, link, about, first_seen_at, last_seen_at, lookup_key)
        values (${String(id)}::bigint, ${type}, ${key}, ${`Title ${key}`}, ${`https://x.example/${key}`}, '{}', ${at}, ${at}, 'x')`.execute(
        db,
      )
    },
    async note(accounts: Parameters<typeof noteAccounts>[2], more: Partial<NotingPipeline> = {}) {
      const { name, types, rules } = pipeline
      await scoreAccounts(crm.context, name, { types, rules }, { accounts: accounts.map(({ id }) => id), at })
      // Whatever is told is seen some time before.
      at = new Date(at.getTime() + 1_000)
      return noteAccounts(crm.context, { ...pipeline, ...more }, accounts, {
        connector: crm.connector,
        entity: crm.entity,
        runId: undefined,
        signal: new AbortController().signal,
      })
    },
    /** The bodies of the requests that wrote notes or tasks, as texts. */
    told: () =>
      crm.wire.log.flatMap(({ method, body }) => {
        const text = JSON.stringify(body ?? '').replaceAll('\\n', ' ')
        return method === 'POST' && markersIn(text).length > 0 ? [text] : []
      }),
  }
}

describe.each(sharedKinds)('what is new of accounts, in %s', (kind) => {
  test('is told by one note an account and week, and by one task when the score is reached', async () => {
    const crm = await open(kind)
    const [busy, quiet] = [await crm.account('busy'), await crm.account('quiet')]
    const accounts = [busy, quiet]
    for (const key of ['a', 'b', 'c']) await crm.observe(busy.id, key)
    const first = await crm.note(accounts)
    expect(first).toMatchObject({ notes: 1, tasks: 1, waiting: 0, left: 0 })
    const [note = '', task = ''] = crm.told()
    for (const key of ['a', 'b', 'c']) expect(note).toContain(`Title ${key}`)
    expect(note).toContain('https://x.example/a')
    expect(note).toContain('seen first 2026-11-23')
    expect(task).toContain('Call them')
    expect(task).toContain('Score 30')
    expect(task).toContain('2026-11-25')
    expect(task).toContain(crm.owners[0])

    // The next day there is more, and it waits for the next week.
    crm.wire.forget()
    passDays(1)
    await crm.observe(busy.id, 'd')
    expect(await crm.note(accounts)).toMatchObject({ notes: 0, tasks: 0 })
    passDays(7)
    await crm.observe(quiet.id, 'q', 'news')
    const second = await crm.note(accounts)
    expect(second).toMatchObject({ notes: 2, tasks: 0 })
    const told = crm.told().join(' ')
    expect(told).toContain('Title d')
    expect(told).toContain('Title q')
    expect(told).not.toContain('https://x.example/a')
    expect(second?.runId).not.toBe(first?.runId)

    // A quiet week tells nothing.
    crm.wire.forget()
    passDays(7)
    expect(await crm.note(accounts)).toMatchObject({ runId: undefined, notes: 0, tasks: 0 })
    expect(crm.told()).toEqual([])

    const { signal } = new AbortController()
    expect((await crm.context.runs.get(first!.runId!))?.state).toBe('finished')
    expect(await undoNotes(crm.context, crm.connector, first!.runId!, { plan: false, signal })).toMatchObject(
      {
        removed: 2,
        left: 0,
      },
    )
    expect(await crm.note(accounts)).toMatchObject({ notes: 0, tasks: 0 })
  })

  test('nothing is told where the pipeline wants no notes, and a task comes again only after the score was below', async () => {
    const crm = await open(kind)
    const account = await crm.account('busy')
    await crm.observe(account.id, 'a')
    await crm.observe(account.id, 'b')
    expect(await crm.note([account], { note: false, task: undefined })).toBeUndefined()
    expect(await crm.note([account], { note: false })).toMatchObject({ notes: 0, tasks: 1 })
    passDays(8)
    expect(await crm.note([account], { note: false })).toMatchObject({ tasks: 0 })
    await sql`delete from signals where key = 'b'`.execute(crm.context.database.db)
    passDays(1)
    expect(await crm.note([account], { note: false })).toMatchObject({ tasks: 0 })
    passDays(1)
    await crm.observe(account.id, 'c')
    expect(await crm.note([account], { note: false })).toMatchObject({ tasks: 1 })
  })
})
