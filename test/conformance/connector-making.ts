// One file because the section follows records from their making to the archive on one stage.
import { expect, test } from 'vitest'
import type { CreateResult, RecordDraft, RecordMaker } from '../../src/connectors/creating.ts'
import { definitionOf } from '../../src/connectors/definitions.ts'
import type { Patch } from '../../src/domain/record.ts'
import type { RecordIdentity } from '../../src/domain/subjects/record-identities.ts'
import { given, where, type ConnectorStage, type ConnectorSuiteOptions } from './connector-stage.ts'

/** The things that the suite needs to know of a CRM in which records are made. */
export interface MakingOptions {
  /** Values of a new record, different for each number. */
  patch(number: number): Patch
  /** Values that fit, and that the CRM alone refuses, with the code of its refusal. */
  refused?: { patch: Patch; code: string }
  /** The calls in which this many records are made. */
  perCall: number
  /** An identity, and the values by the CRM's own names under which records have it, each in its own spelling. */
  spellings: readonly { identity: RecordIdentity; values: readonly Readonly<Record<string, string>>[] }[]
  /** Values of a record for which the CRM refuses a second one that has those of `patch`. */
  duplicate?: { existing: Readonly<Record<string, string>>; patch: Patch }
  /** An identity of each number, with the values that a record has for it: some hundred are looked for at once. */
  many(number: number): { identities: RecordIdentity[]; values: Readonly<Record<string, string>> }
  /** A property by the CRM's own name that takes this constant, and one that nothing writes. */
  set: { property: string; value: string }
  readOnly: string
  ownerId: string
  /** The owner whose user has left. */
  formerOwnerId: string
  ownerProperty: string
  /** Another entity, to whose records ours can be tied. */
  ties?: string
}

/** The records behind a connector that makes some, past the connector. */
export interface MakingWorld {
  /** Adds a record with values by the CRM's own names and returns its id. */
  add(values: Readonly<Record<string, string>>): string
  /** Sets values by the CRM's own names, as a person does. */
  edit(id: string, values: Readonly<Record<string, string>>): void
  /** Returns the id of every record that is not archived. */
  ids(): string[]
  isArchived(id: string): boolean
  tieDeal(id: string): void
  /** A record of `ties`. */
  tieTo?: string
  /** The requests so far. */
  requests(): number
  /** Loses the answer to the next request that makes records, after it was carried out. */
  loseAnswer(): void
  /** An admin deploys what brings the unique field of our key, where the connector cannot make it. */
  deploy?(): void
  /** Search sees new records only after this time, where the CRM's search lags. */
  lagSearch?(ms: number): void
}

/** The part of the suite about records that are found, made, archived, tied and compared. */
export function connectorMaking(options: ConnectorSuiteOptions, stage: ConnectorStage): void {
  const { capabilities } = definitionOf(options.connector)
  const { entity, textField, making } = options
  if (!capabilities.makesRecords) return
  if (making === undefined) throw new Error(`the suite needs to know how ${options.connector} makes records`)
  const world = (): MakingWorld => stage.world.making!
  const maker = (): RecordMaker => stage.world.connector.maker!
  const value = (id: string, field = textField): string | undefined => stage.store().value(id, field)
  const ready = (): Promise<unknown> => {
    world().deploy?.()
    return stage.world.connector.ensureFields(entity, { dryRun: false, forCreating: true })
  }
  const draft = (number: number, more: Partial<RecordDraft> = {}): RecordDraft => ({
    key: number.toString(16).padStart(32, '0'),
    patch: { ...making.patch(number), ...stage.text(`text ${number}`) },
    ...more,
  })
  const drafts = (count: number): RecordDraft[] => Array.from({ length: count }, (_, at) => draft(at))
  const idOf = (result: CreateResult | undefined): string => {
    if (result?.status !== 'created' && result?.status !== 'present')
      throw new Error(`no record: ${JSON.stringify(result)}`)
    return result.id
  }
  const states = (results: readonly { status: string }[]): string[] => results.map(({ status }) => status)

  test('creates the unique field of our key only when records are to be made, and makes none without it', async () => {
    await stage.world.connector.ensureFields(entity, { dryRun: false })
    const before = world().ids()
    await expect(maker().create(entity, [draft(1)])).rejects.toThrow(/unique|external id/i)
    expect(world().ids()).toEqual(before)
    const planned = await stage.world.connector.ensureFields(entity, { dryRun: true, forCreating: true })
    expect(planned.filter(({ status }) => status !== 'exists')).toHaveLength(1)
    await ready()
    const again = await stage.world.connector.ensureFields(entity, { dryRun: false, forCreating: true })
    expect(again.filter(({ status }) => status !== 'exists')).toEqual([])
  })

  test('makes a full call of records by one request, in the order of the drafts', async () => {
    await ready()
    const count = making.perCall
    expect(maker().perCreate).toBe(count)
    await maker().create(entity, [draft(count + 1)])
    const [before, requests] = [world().ids().length, world().requests()]
    const results = await maker().create(entity, drafts(count))
    expect(world().requests() - requests).toBe(1)
    expect(new Set(states(results))).toEqual(new Set(['created']))
    expect(results.map(({ key }) => key)).toEqual(drafts(count).map(({ key }) => key))
    expect(world().ids()).toHaveLength(before + count)
    expect(results.map((result) => value(idOf(result)))).toEqual(drafts(count).map((_, at) => `text ${at}`))
    expect(await maker().create(entity, [])).toEqual([])
  })

  test('meets the record of the first attempt, and leaves an edit of it as it is', async () => {
    await ready()
    const [first] = await maker().create(entity, [draft(1)])
    stage.store().edit(idOf(first), textField, 'Edited')
    const repeat = { isRepeat: true }
    const results = await maker().create(entity, [draft(1, repeat), draft(2, repeat), draft(3)])
    expect(states(results)).toEqual(['present', 'created', 'created'])
    expect(idOf(results[0])).toBe(idOf(first))
    expect(value(idOf(first))).toBe('Edited')
    // The same draft twice in one call is one record.
    const twice = await maker().create(entity, [draft(4), draft(4)])
    expect(states(twice)).toEqual(['created', 'present'])
    expect(idOf(twice[0])).toBe(idOf(twice[1]))
  })

  test('finds records by our key at once, and none that was archived', async () => {
    await ready()
    world().lagSearch?.(30_000)
    const made = (await maker().create(entity, drafts(2))).map(idOf)
    const keys = drafts(3).map(({ key }) => key)
    expect(await maker().findByKey(entity, keys)).toEqual(
      new Map([
        [keys[0], made[0]],
        [keys[1], made[1]],
      ]),
    )
    await maker().archive(entity, made.slice(0, 1))
    expect(await maker().findByKey(entity, keys)).toEqual(new Map([[keys[1], made[1]]]))
    expect((await maker().findByKey(entity, [])).size).toBe(0)
  })

  test('makes nothing twice when an answer is lost', async () => {
    await ready()
    const before = world().ids().length
    world().loseAnswer()
    let results = await maker().create(entity, drafts(3))
    // A connector may look for the records itself, or leave that to the repeat.
    if (states(results).includes('retry'))
      results = await maker().create(
        entity,
        drafts(3).map((each) => ({ ...each, isRepeat: true })),
      )
    expect(states(results).filter((status) => !['created', 'present'].includes(status))).toEqual([])
    expect(new Set(results.map(idOf)).size).toBe(3)
    expect(world().ids()).toHaveLength(before + 3)
  })

  test.each(given(making.refused))('makes all but the record that the CRM refuses', async (refused) => {
    await ready()
    const all = drafts(100).map((each, at) =>
      at === 57 ? { ...each, patch: { ...each.patch, ...refused.patch } } : each,
    )
    const results = await maker().create(entity, all)
    expect(results[57]).toMatchObject({ status: 'rejected', code: refused.code })
    expect(states(results.filter((_, at) => at !== 57))).toEqual(Array.from({ length: 99 }, () => 'created'))
    const texts = all
      .flatMap(({ patch }) => Object.values(patch))
      .flatMap((it) => ('set' in it ? [it.set] : []))
    for (const text of texts) expect(JSON.stringify(results[57])).not.toContain(`"${String(text)}"`)
  })

  test.each(given(making.duplicate))(
    'takes the CRM’s own word that there is such a record, with its id',
    async ({ existing, patch }) => {
      await ready()
      const id = world().add(existing)
      const before = stage.store().all(id)
      const all = drafts(20).map((each, at) =>
        at === 7 ? { ...each, patch: { ...each.patch, ...patch } } : each,
      )
      const results = await maker().create(entity, all)
      expect(results[7]).toMatchObject({ status: 'exists', ids: [id] })
      expect(states(results.filter((_, at) => at !== 7))).toEqual(Array.from({ length: 19 }, () => 'created'))
      expect(stage.store().all(id)).toEqual(before)
      const alone = await maker().create(entity, [{ ...draft(50), patch: { ...making.patch(50), ...patch } }])
      expect(alone).toMatchObject([{ status: 'exists', ids: [id] }])
    },
  )

  test('writes constants and the owner, and refuses a constant for no property', async () => {
    await ready()
    const { property, value: constant } = making.set
    const [made] = await maker().create(entity, [
      draft(1, { set: { [property]: constant }, ownerId: making.ownerId }),
    ])
    expect(stage.store().all(idOf(made))).toMatchObject({
      [property]: constant,
      [making.ownerProperty]: making.ownerId,
    })
    for (const name of ['no_such_property', making.readOnly])
      await expect(maker().create(entity, [draft(2, { set: { [name]: 'x' } })])).rejects.toThrow(name)
  })

  test('tells owners who are there from those who have left, and reads whose a record is', async () => {
    await ready()
    const { ownerId, formerOwnerId } = making
    const owners = await maker().owners(entity, [ownerId, formerOwnerId, '404'])
    expect([...owners].map(([id, { isActive }]) => [id, isActive])).toEqual([
      [ownerId, true],
      [formerOwnerId, false],
    ])
    expect(owners.get(ownerId)!.name).toMatch(/\S/)
    const made = await maker().create(entity, [
      draft(1, { ownerId }),
      draft(2, { ownerId: formerOwnerId }),
      draft(3),
    ])
    expect(states(made)).toEqual(['created', 'rejected', 'created'])
    const requests = world().requests()
    const found = await maker().ownersOf(entity, [idOf(made[0]), ...given(options.unknownId)])
    expect([...found]).toEqual([[idOf(made[0]), ownerId]])
    expect(world().requests() - requests).toBe(1)
    expect((await maker().ownersOf(entity, [])).size).toBe(0)
    const companies = maker().companiesOf(entity)
    if (making.ties !== undefined) expect(companies).toBe(making.ties)
  })

  test.each(making.spellings)(
    'finds records by $identity.kind in several spellings',
    async ({ identity, values }) => {
      const ids = values.map((each) => world().add(each))
      const other = world().add({ ...values[0], ...making.many(7).values })
      const found = await maker().find(entity, [identity])
      expect(found.map(({ id }) => id)).toEqual(expect.arrayContaining(ids))
      expect(found.map(({ id }) => id)).not.toContain(other)
      for (const record of found) expect(Object.keys(record.identity)).not.toEqual([])
    },
  )

  test('finds a hundred among others by five calls', async () => {
    const all = Array.from({ length: 100 }, (_, at) => making.many(at))
    const ids = all.filter((_, at) => at % 5 < 2).map(({ values }) => world().add(values))
    // Reading the account's fields is not a call for these.
    await maker().find(entity, [])
    const requests = world().requests()
    const found = await maker().find(
      entity,
      all.flatMap(({ identities }) => identities),
    )
    expect(world().requests() - requests).toBeLessThanOrEqual(5)
    expect(found.map(({ id }) => id).sort()).toEqual(ids.sort())
    expect(await maker().find(entity, [])).toEqual([])
  })

  test('meets a record that the search does not show yet', async () => {
    await ready()
    world().lagSearch?.(30_000)
    const [first] = await maker().create(entity, [draft(1)])
    const [again] = await maker().create(entity, [draft(1, { isRepeat: true })])
    expect(again).toMatchObject({ status: 'present', id: idOf(first) })
    expect([...(await maker().snapshots(entity, [idOf(first)])).keys()]).toEqual([idOf(first)])
  })

  test('archives records once, and no longer finds them', async () => {
    await ready()
    const made = (await maker().create(entity, drafts(3))).map(idOf)
    const before = world().ids()
    const unknown = given(options.unknownId)
    const results = await maker().archive(entity, [...made.slice(0, 2), ...unknown])
    expect(states(results)).toEqual(['archived', 'archived', ...unknown.map(() => 'gone')])
    expect(made.map((id) => world().isArchived(id))).toEqual([true, true, false])
    expect(world().ids()).toEqual(before.filter((id) => !made.slice(0, 2).includes(id)))
    expect(states(await maker().archive(entity, made))).toEqual(['gone', 'gone', 'archived'])
    expect((await maker().snapshots(entity, made)).size).toBe(0)
    expect(maker().bin.keptDays).toBeGreaterThan(0)
    expect(maker().bin.place).toMatch(/\S/)
  })

  test.each(where(options.can.includes('merge')))(
    'never archives the record into which one was merged',
    async () => {
      const [winner = '', loser = ''] = stage.world.ids
      const left = stage.world.merge!(winner, loser)
      expect(states(await maker().archive(entity, [loser]))).toEqual(['gone'])
      expect(world().isArchived(left)).toBe(false)
    },
  )

  test.each(given(making.ties))('ties records, and names the pair that was refused', async (toEntity) => {
    await ready()
    const to = world().tieTo!
    const made = (await maker().create(entity, drafts(3))).map(idOf)
    const gone = await maker().archive(entity, made.slice(2))
    expect(states(gone)).toEqual(['archived'])
    const pairs = made.map((from) => ({ from, to }))
    const refused = await maker().associate(entity, toEntity, pairs)
    expect([...refused.keys()]).toEqual([2])
    expect(refused.get(2)).toMatch(/\S/)
    const links = await stage.world.connector.associations(entity, toEntity, made.slice(0, 2))
    expect([...links.values()].map((each) => each.map(({ id }) => id))).toEqual([[to], [to]])
    // A tie that exists stays.
    expect((await maker().associate(entity, toEntity, pairs.slice(0, 2))).size).toBe(0)
  })

  test('a snapshot shows an edit, an owner and a tied deal, and nothing else', async () => {
    await ready()
    const made = (await maker().create(entity, drafts(4))).map(idOf)
    const before = await maker().snapshots(entity, made)
    expect([...before.keys()].sort()).toEqual([...made].sort())
    expect(await maker().snapshots(entity, made)).toEqual(before)
    const [edited = '', owned = '', dealt = '', same = ''] = made
    stage.store().edit(edited, textField, 'Edited')
    world().edit(owned, { [making.ownerProperty]: making.ownerId })
    world().tieDeal(dealt)
    const after = await maker().snapshots(entity, made)
    expect(after.get(edited)!.properties).not.toEqual(before.get(edited)!.properties)
    expect(after.get(owned)!.properties).toEqual({
      ...before.get(owned)!.properties,
      [making.ownerProperty]: making.ownerId,
    })
    expect(after.get(dealt)!.properties).toEqual(before.get(dealt)!.properties)
    expect(after.get(dealt)!.tied).not.toEqual(before.get(dealt)!.tied)
    expect(after.get(same)).toEqual(before.get(same))
    expect((await maker().snapshots(entity, [])).size).toBe(0)
  })

  test.each(where(capabilities.marksOwnWrites))(
    'recognises the records that it made as its own',
    async () => {
      await ready()
      const after = (await stage.scan()).at(-1)!.watermark
      const made = (await maker().create(entity, drafts(2))).map(idOf)
      stage.store().edit(made[1]!, textField, 'Theirs')
      const pages = await stage.scan({ after })
      const own = pages.flatMap((page) => [...(page.ownWrites ?? [])])
      expect(own.filter((id) => made.includes(id))).toEqual([made[0]])
    },
  )
}
