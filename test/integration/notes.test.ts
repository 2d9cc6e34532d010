import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { undoNotes } from '../../src/app/notes/undo-notes.ts'
import { writeNotes } from '../../src/app/notes/write-notes.ts'
import { eraseNotes, notesInCrms } from '../../src/store/notes/erase-notes.ts'
import { openFreshLedger } from '../support/fresh-ledger.ts'
import type { Ledger } from '../support/idle-ledgers.ts'
import { sharedKinds } from './crm-worlds.ts'
import { noteDraft, openNoteCrm, type NoteCrm } from './notes.fixture.ts'

let ledger: Ledger
let crm: NoteCrm
let ahead = 0
const context = () => ({ database: ledger.database, now: () => new Date(Date.now() + ahead) })
const write = (...drafts: Parameters<typeof writeNotes>[2]) =>
  writeNotes(context(), crm.connector, drafts, { entity: crm.entity, runId: 'run-1' })
const undo = (plan = false) =>
  undoNotes(context(), crm.connector, 'run-1', { plan, signal: new AbortController().signal })
const states = (outcomes: readonly { status: string }[]): string[] => outcomes.map(({ status }) => status)
const rows = async (): Promise<
  { state: string; draft: unknown; note_id: string | null; snapshot: unknown }[]
> => (await sql<never>`select * from crm_notes order by id`.execute(ledger.database.db)).rows

describe.each(sharedKinds)('notes and tasks in %s', (kind) => {
  beforeEach(async () => {
    ahead = 0
    ledger = await openFreshLedger()
    crm = await openNoteCrm(kind)
  })
  afterEach(async () => {
    await crm.connector.close()
    await crm.stop()
    await ledger.close()
  })

  test('are written once, however often they are asked for, and keep no text in the ledger', async () => {
    const drafts = crm.records.slice(0, 3).flatMap((id, at) => [noteDraft(id, at), noteDraft(id, at, 'task')])
    expect(states(await write(...drafts))).toEqual(Array.from({ length: 6 }, () => 'written'))
    expect(states(await write(...drafts, ...drafts))).toEqual(Array.from({ length: 12 }, () => 'already'))
    expect(crm.markers().toSorted()).toEqual(drafts.map(({ marker }) => marker).toSorted())
    const kept = await rows()
    expect(kept.map(({ state, draft }) => [state, draft])).toEqual(
      Array.from({ length: 6 }, () => ['done', null]),
    )
    expect(JSON.stringify(kept.map(({ snapshot }) => snapshot))).not.toMatch(/Title|Body/)
  })

  test('are looked for by their marker when an answer is lost, and sent again when the request was', async () => {
    const [first = '', second = ''] = crm.records
    crm.loseAnswer()
    expect(states(await write(noteDraft(first, 1)))).toEqual(['written'])
    crm.loseRequest()
    expect(states(await write(noteDraft(second, 1)))).toEqual(['waiting'])
    // The CRM may still be at work on it.
    expect(states(await write(noteDraft(second, 1)))).toEqual(['waiting'])
    expect(crm.markers()).toHaveLength(1)
    ahead += 121_000
    // Any call for the object goes on with what is left over.
    expect(await write()).toEqual([])
    expect(crm.markers()).toHaveLength(2)
    expect(states(await write(noteDraft(first, 1), noteDraft(second, 1)))).toEqual(['already', 'already'])
  })

  test('two calls at once write one of each marker', async () => {
    const drafts = crm.records.slice(0, 4).map((id) => noteDraft(id, 1))
    const both = await Promise.all([write(...drafts), write(...drafts)])
    expect(crm.markers()).toHaveLength(4)
    expect(both.flat().filter(({ status }) => status === 'written').length).toBeGreaterThanOrEqual(4)
    expect((await rows()).map(({ state }) => state)).toEqual(Array.from({ length: 4 }, () => 'done'))
  })

  test('a task belongs to the owner of its record, where that is there', async () => {
    const [own = '', left = ''] = crm.records
    crm.own(own, crm.owners[1])
    crm.own(left, crm.formerOwner)
    const [mine, theirs, given] = await write(noteDraft(own, 1, 'task'), noteDraft(left, 1, 'task'), {
      ...noteDraft(own, 2, 'task'),
      ownerId: crm.owners[0],
    })
    expect(crm.ownerOf('task', mine!.noteId!)).toBe(crm.owners[1])
    expect(crm.ownerOf('task', theirs!.noteId!)).toBe(kind === 'hubspot' ? undefined : crm.owners[0])
    expect(crm.ownerOf('task', given!.noteId!)).toBe(crm.owners[0])
  })

  test('a missing right stops them before anything is sent, and they are written when it is there', async () => {
    const draft = noteDraft(crm.records[0]!, 1)
    expect(await crm.connector.notes!.check(crm.entity)).toEqual([])
    crm.permit(false)
    if (kind === 'hubspot') await expect(write(draft)).rejects.toThrow(/crm\.objects\.contacts\.write/)
    else expect(states(await write(draft))).toEqual(['left'])
    expect((await rows())[0]?.state).toBe(kind === 'hubspot' ? 'intent' : 'left')
    crm.permit(true)
    expect(states(await write(draft))).toEqual(['written'])
    expect(crm.markers()).toEqual([draft.marker])
  })

  test('an undo removes those that nobody has touched and names the others, after a plan', async () => {
    const drafts = crm.records.slice(0, 3).flatMap((id, at) => [noteDraft(id, at), noteDraft(id, at, 'task')])
    const written = await write(...drafts)
    crm.edit('note', written[0]!.noteId!)
    crm.complete(written[3]!.noteId!)
    expect(await undo(true)).toMatchObject({ removed: 4, left: 2, already: 0 })
    expect(crm.markers().length).toBe(5)
    if (kind === 'salesforce') {
      // Tasks belong to the owners of their records: without the right to delete those, they stay.
      const refused = await undo()
      expect(refused).toMatchObject({ removed: 2, left: 4 })
      expect(refused?.rows[1]?.reason).toMatch(/may not delete it/)
      crm.permitRemoval()
    }
    const undone = await undo()
    expect(undone).toMatchObject({ removed: kind === 'salesforce' ? 2 : 4, left: 2 })
    expect(undone?.rows.map(({ note, reason }) => [note, reason])).toEqual([
      [written[0]!.noteId, 'changed since: text'],
      [written[3]!.noteId, expect.stringMatching(/^changed since: status \(completed\)$/i)],
    ])
    expect(crm.markers()).toEqual([drafts[3]!.marker])
    expect(await undo()).toMatchObject({ removed: 0, already: 4, left: 2 })
    // A person took them back: they do not come again.
    expect(states(await write(...drafts))).toEqual([
      'already',
      'undone',
      'undone',
      'already',
      'undone',
      'undone',
    ])
    expect(crm.markers()).toHaveLength(1)
  })

  test('an undo keeps what was never sent from being sent', async () => {
    crm.permit(false)
    await write(noteDraft(crm.records[0]!, 1)).catch(() => {})
    crm.permit(true)
    if (kind === 'salesforce') return
    expect(await undo()).toMatchObject({ removed: 0, already: 1 })
    ahead += 1_000_000
    await write()
    expect(crm.markers()).toEqual([])
  })

  test('a forgotten subject leaves the ledger, and its notes in the CRM are named', async () => {
    const people = [{ kind: 'email', value: 'ada@engines.com' }] as const
    const [first = '', second = ''] = crm.records
    const [about] = await write({ ...noteDraft(first, 1), people }, noteDraft(second, 1))
    crm.loseRequest()
    await write({ ...noteDraft(first, 2), people })
    const subject = { identities: people, taskIds: [] }
    const { db } = ledger.database
    expect(await notesInCrms(db, subject)).toEqual([{ connector: kind, entity: 'note', id: about!.noteId }])
    let token = 0
    const options = { now: () => new Date(), token: () => `t${++token}` }
    expect(await eraseNotes(db, subject, options)).toBe(2)
    expect(await eraseNotes(db, subject, options)).toBe(0)
    const forgotten = (await rows()).filter(({ note_id: id }) => id === null)
    const kept = JSON.stringify(forgotten, (_, value: unknown) =>
      typeof value === 'bigint' ? `${value}` : value,
    )
    for (const text of ['ada@', first, noteDraft(first, 1).marker, 'Body']) expect(kept).not.toContain(text)
    ahead += 1_000_000
    await write()
    expect(crm.markers()).toHaveLength(2)
  })
})
