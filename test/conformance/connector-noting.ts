import { expect, test } from 'vitest'
import { definitionOf } from '../../src/connectors/definitions.ts'
import type { NoteDraft, NoteKind, NoteResult, NoteWriter, WrittenNote } from '../../src/connectors/noting.ts'
import { markerOf } from '../../src/domain/notes/marker.ts'
import type { ConnectorStage, ConnectorSuiteOptions } from './connector-stage.ts'

/** The things that the suite needs to know of a CRM that takes notes and tasks. */
export interface NotingOptions {
  ownerId: string
  /** The owner whose user has left. */
  formerOwnerId: string
}

/** The notes and tasks behind a connector, past the connector. */
export interface NotingWorld {
  /** Returns the ids of those of a record, without removed ones. */
  of(kind: NoteKind, recordId: string): string[]
  /** Returns title and text as the CRM stores them, owner, and the day (YYYY-MM-DD) of a task. */
  read(kind: NoteKind, id: string): { text: string; owner: string | undefined; due: string | undefined }
  /** A person changes the text, or completes a task. */
  edit(kind: NoteKind, id: string): void
  complete(id: string): void
  /** Loses the answer to the next request that writes notes, after it was carried out. */
  loseAnswer(): void
  /** The next request that writes notes does not reach the CRM. */
  loseRequest(): void
  requests(): number
}

/** The part of the suite about notes and tasks. */
export function connectorNoting(options: ConnectorSuiteOptions, stage: ConnectorStage): void {
  const { capabilities } = definitionOf(options.connector)
  const { entity, noting, textField } = options
  if (!capabilities.takesNotes) return
  if (noting === undefined) throw new Error(`the suite needs to know how ${options.connector} takes notes`)
  const world = (): NotingWorld => stage.world.noting!
  const writer = (): NoteWriter => stage.world.connector.notes!
  const record = (at = 0): string => stage.world.ids[at]!
  const draft = (number: number, kind: NoteKind = 'note', more: Partial<NoteDraft> = {}): NoteDraft => ({
    kind,
    marker: markerOf('suite', String(number)),
    recordId: record(number),
    title: `Title ${number} <b>`,
    body: `First ${number} & "more"\n\nSecond`,
    links: [{ title: 'The news', url: 'https://news.example/1' }],
    ...(kind === 'task' ? { dueAt: new Date('2026-12-01T09:00:00Z') } : {}),
    ...more,
  })
  const idOf = (result: NoteResult | undefined): string => {
    if (result?.status !== 'written') throw new Error(`nothing written: ${JSON.stringify(result)}`)
    return result.id
  }
  const states = (results: readonly { status: string }[]): string[] => results.map(({ status }) => status)
  const wanted = (drafts: readonly NoteDraft[]) => drafts.map((each) => ({ ...each, since: new Date(0) }))
  const writtenOf = (drafts: readonly NoteDraft[], results: readonly NoteResult[]): WrittenNote[] =>
    drafts.map(({ kind, recordId }, at) => ({ kind, recordId, id: idOf(results[at]) }))

  test('writes notes and tasks with their text, links, marker, owner and day, in the order of the drafts', async () => {
    const drafts = [
      draft(0),
      draft(1, 'task', { ownerId: noting.ownerId }),
      draft(2),
      draft(2, 'task', { marker: 'x' }),
    ]
    const results = await writer().write(entity, drafts)
    expect(results.map(({ marker }) => marker)).toEqual(drafts.map(({ marker }) => marker))
    const note = world().read('note', idOf(results[0]))
    for (const part of ['Title 0', 'First 0', 'Second', 'https://news.example/1', drafts[0]!.marker])
      expect(note.text).toContain(part)
    expect(world().read('task', idOf(results[1]))).toMatchObject({ owner: noting.ownerId, due: '2026-12-01' })
    expect(world().read('task', idOf(results[1])).text).toContain(drafts[1]!.marker)
    expect(world().of('note', record(0))).toEqual([idOf(results[0])])
    expect(world().of('task', record(2))).toEqual([idOf(results[3])])
    expect(await writer().write(entity, [])).toEqual([])
  })

  test('writes a full call by one request that makes notes', async () => {
    const count = writer().perWrite
    const drafts = Array.from({ length: count }, (_, at) => draft(at))
    const before = world().requests()
    expect(new Set(states(await writer().write(entity, drafts)))).toEqual(new Set(['written']))
    // The records are read before, and dated by our stamp after.
    expect(world().requests() - before).toBeLessThanOrEqual(2 + Math.ceil(count / 100) * 2)
  })

  test('finds what is there by its marker at once, and what is not there not', async () => {
    const drafts = [draft(0), draft(0, 'task', { marker: markerOf('other') }), draft(1)]
    const results = await writer().write(entity, drafts)
    const missing = [draft(7), draft(8, 'task')]
    expect(await writer().findByMarker(entity, wanted([...drafts, ...missing]))).toEqual(
      new Map(drafts.map(({ marker }, at) => [marker, idOf(results[at])])),
    )
    await writer().remove(entity, writtenOf(drafts, results).slice(0, 1))
    const left = await writer().findByMarker(entity, wanted(drafts))
    expect(new Set(left.keys())).toEqual(new Set(drafts.slice(1).map(({ marker }) => marker)))
    expect((await writer().findByMarker(entity, [])).size).toBe(0)
  })

  test('never repeats a request whose answer was lost, and says that it is unclear', async () => {
    world().loseAnswer()
    const drafts = [draft(0), draft(1)]
    expect(states(await writer().write(entity, drafts))).toEqual(['unclear', 'unclear'])
    expect((await writer().findByMarker(entity, wanted(drafts))).size).toBe(2)
    world().loseRequest()
    const others = [draft(2), draft(3)]
    expect(states(await writer().write(entity, others))).toEqual(['unclear', 'unclear'])
    expect((await writer().findByMarker(entity, wanted(others))).size).toBe(0)
    for (const at of [0, 1]) expect(world().of('note', record(at))).toHaveLength(1)
  })

  test('writes all but what the CRM refuses, and what is for a record that is gone', async () => {
    stage.world.remove!(record(3))
    const drafts = [
      draft(0, 'task'),
      draft(1, 'task', { ownerId: noting.formerOwnerId }),
      draft(2, 'task'),
      draft(3, 'task'),
      draft(4, 'task', { ownerId: 'nobody' }),
      draft(5, 'task', { title: 'T'.repeat(5000), body: 'B'.repeat(200_000) }),
    ]
    const results = await writer().write(entity, drafts)
    expect(states(results)).toEqual(['written', 'rejected', 'written', 'skipped', 'rejected', 'written'])
    for (const result of results) if ('reason' in result) expect(result.reason).not.toContain('Title')
    const found = await writer().findByMarker(entity, wanted([drafts[5]!]))
    expect(found.size).toBe(1)
  })

  test('a snapshot is equal until a person touches the note or task', async () => {
    const drafts = [draft(0), draft(1, 'task'), draft(2, 'task', { ownerId: noting.ownerId }), draft(3)]
    const written = writtenOf(drafts, await writer().write(entity, drafts))
    const before = await writer().snapshots(entity, written)
    expect(before.size).toBe(4)
    expect(JSON.stringify([...before.values()])).not.toMatch(/First|Title/)
    expect(await writer().snapshots(entity, written)).toEqual(before)
    world().edit('note', written[0]!.id)
    world().complete(written[1]!.id)
    const after = await writer().snapshots(entity, written)
    const changed = written.filter(
      ({ id }) => JSON.stringify(before.get(id)) !== JSON.stringify(after.get(id)),
    )
    expect(changed).toEqual(written.slice(0, 2))
    expect(after.get(written[2]!.id)?.owner).toBe(noting.ownerId)
  })

  test('removes notes and tasks, and tells those that are gone', async () => {
    const drafts = [draft(0), draft(1, 'task')]
    const written = writtenOf(drafts, await writer().write(entity, drafts))
    expect(states(await writer().remove(entity, written))).toEqual(['removed', 'removed'])
    expect(world().of('note', record(0))).toEqual([])
    expect(world().of('task', record(1))).toEqual([])
    expect(states(await writer().remove(entity, written))).toEqual(['gone', 'gone'])
    expect((await writer().snapshots(entity, written)).size).toBe(0)
  })

  test('neither a note nor its removal looks like an edit of the record to the next scan', async () => {
    for (const name of Object.keys(stage.world.connector.entities))
      await stage.world.connector.ensureFields(name, { dryRun: false })
    await stage.write([
      [record(0), stage.text('ours')],
      [record(1), stage.text('ours')],
    ])
    stage.store().edit(record(1), textField, 'a person')
    stage.passTime(120_000)
    const drafts = [draft(0), draft(1, 'task')]
    const written = writtenOf(drafts, await writer().write(entity, drafts))
    const ours = async (): Promise<string[]> =>
      (await stage.scan()).flatMap(({ ownWrites = new Set() }) => [...ownWrites] as string[])
    expect(await ours()).toEqual([record(0)])
    stage.passTime(120_000)
    await writer().remove(entity, written)
    expect(await ours()).toEqual([record(0)])
    // A person's edit after the note is one.
    stage.passTime(120_000)
    stage.store().edit(record(0), textField, 'a person')
    expect(await ours()).toEqual([])
  })

  test('says what is missing only where notes are wanted', async () => {
    expect(await writer().check(entity)).toEqual([])
  })
}
