import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type {
  Connector,
  ScanOptions,
  ScanPage,
  Watermark,
  WriteResult,
} from '../../src/connectors/connector.ts'
import { crmOf, definitionOf, type ConnectorName } from '../../src/connectors/definitions.ts'
import type { Patch } from '../../src/domain/record.ts'

/** One connector with records behind it. Every test opens its own. */
interface ConnectorWorld {
  connector: Connector
  /** Every record that a scan must return: more than two pages of them. */
  ids: string[]
  /** The records past the connector, under the CRM's own names. Present where the source keeps values. */
  store?: {
    /** Returns the value of `field` (canonical) as it is stored, undefined for a blank of any kind. */
    value(id: string, field: string): string | undefined
    /** Returns all values of the record without its blanks. */
    all(id: string): Record<string, unknown>
    /** A person edits the record. */
    edit(id: string, field: string, value: string): void
    /** Makes the field blank in one of the ways in which the CRM may store a blank. */
    blank(id: string, field: string, how: 'null' | 'empty' | 'missing'): void
  }
  remove?(id: string): void
  merge?(winner: string, loser: string): void
  /** A lead becomes a contact. */
  convert?(id: string): void
  stop(): Promise<void>
}

export interface ConnectorSuiteOptions {
  /** The name in the registry. What the suite asks of the connector follows from the capabilities of its definition. */
  connector: ConnectorName
  entity: string
  open(): Promise<ConnectorWorld>
  /** A canonical text field that is mapped and may be cleared. Must not identify the record. */
  textField: string
  /** The ways in which the source stores a blank. Empty for one that keeps no values. */
  blanks: readonly ('null' | 'empty' | 'missing')[]
  /** A patch that the CRM refuses when it gets it, and only then, with the code and field that name the refusal. */
  refused?: { patch: Patch; code: string; field: string }
  /** A value that does not fit its field: it is left out and the rest written. Alone, it is rejected. */
  unfit?: { field: string; value: string | number; code: string }
  /** How many of our own fields the source lacks at first. */
  ownFields: number
  /** What may become of a record in the source. */
  can: readonly ('remove' | 'merge' | 'convert')[]
  /** A well-formed id that no record has; absent where every id is accepted. */
  unknownId?: string
}

/** Tests what every connector must do. A connector's test is one call of this for each entity. */
export function connectorSuite(options: ConnectorSuiteOptions): void {
  const { textField, can } = options
  const definition = definitionOf(options.connector)
  const { capabilities } = definition
  const object = definition.entities[options.entity]

  describe(`the ${options.connector} connector (${options.entity})`, () => {
    let world: ConnectorWorld
    const { keepsValues } = capabilities
    const store = (): NonNullable<ConnectorWorld['store']> => world.store!
    const write = (patches: [id: string, patch: Patch][]): Promise<WriteResult[]> =>
      world.connector.write(
        options.entity,
        patches.map(([id, patch]) => ({ id, patch })),
      )
    const scan = async (begin: ScanOptions = {}): Promise<ScanPage[]> => {
      const pages: ScanPage[] = []
      for await (const page of world.connector.scan(options.entity, begin)) pages.push(page)
      return pages
    }
    const text = (value: string): Patch => ({ [textField]: { set: value } })

    beforeEach(async () => {
      world = await options.open()
    })
    afterEach(async () => {
      await world.connector.close()
      await world.stop()
    })

    test('is the one that its definition describes', () => {
      const { name, capabilities: own, entities } = world.connector
      expect(name).toBe(options.connector)
      expect(own).toEqual(capabilities)
      expect(definition.entities).toMatchObject(entities)
      expect(entities).toHaveProperty(options.entity)
      expect(world.store !== undefined).toBe(keepsValues)
      expect(options.blanks.length > 0).toBe(keepsValues)
    })

    test('says which account it is and finds nothing wrong once its fields are there', async () => {
      for (const entity of Object.keys(world.connector.entities))
        await world.connector.ensureFields(entity, { dryRun: false })
      const found = await world.connector.check()
      expect(found.missingScopes).toEqual([])
      expect(found.problems).toEqual([])
      expect(found.apiVersion).toMatch(/\S/)
    })

    test('describes the fields it writes', async () => {
      const fields = await world.connector.describe(options.entity)
      expect(fields.length).toBeGreaterThan(0)
      expect(new Set(fields.map((field) => field.name)).size).toBe(fields.length)
      for (const field of fields) {
        if (field.type === 'option' || field.type === 'options') expect(field.options).toBeDefined()
      }
    })

    test('creates its own fields once, and none in a dry run', async () => {
      const states = async (dryRun: boolean): Promise<string[]> =>
        (await world.connector.ensureFields(options.entity, { dryRun })).map(({ status }) => status)
      const planned = await states(true)
      expect(planned.filter((status) => status === 'would_create')).toHaveLength(options.ownFields)
      expect(await states(true)).toEqual(planned)
      expect((await states(false)).filter((status) => status === 'created')).toHaveLength(options.ownFields)
      expect((await states(false)).filter((status) => status !== 'exists')).toEqual([])
    })

    test('returns every record once', async () => {
      const pages = await scan()
      expect(pages.length).toBeGreaterThan(2)
      const records = pages.flatMap((page) => page.records)
      expect(records.map(({ id }) => id).sort()).toEqual([...world.ids].sort())
      expect(records.every((record) => record.object === object)).toBe(true)
      const identified = records.filter(({ identity }) => Object.keys(identity).length > 0)
      expect(identified.length).toBeGreaterThan(records.length / 2)
      for (const { identity } of identified)
        for (const value of Object.values(identity)) expect(String(value).trim()).not.toBe('')
    })

    test('continues after every page, wherever a scan was interrupted', async () => {
      const seen: string[] = []
      let after: Watermark | undefined
      for (let rounds = 0; seen.length < world.ids.length && rounds < 1000; rounds++) {
        for await (const page of world.connector.scan(options.entity, after === undefined ? {} : { after })) {
          seen.push(...page.records.map(({ id }) => id))
          after = page.watermark
          break
        }
      }
      expect(seen.sort()).toEqual([...world.ids].sort())
    })

    test('stops at a limit, and continues after it', async () => {
      const first = await scan({ limit: 7 })
      const ids = first.flatMap((page) => page.records.map(({ id }) => id))
      expect(ids).toHaveLength(7)
      const rest = await scan({ after: first.at(-1)!.watermark })
      expect([...ids, ...rest.flatMap((page) => page.records.map(({ id }) => id))].sort()).toEqual(
        [...world.ids].sort(),
      )
      expect(await scan({ limit: 0 })).toEqual([])
    })

    test.each(where(capabilities.filters))('finds one record by the property of its id', async () => {
      const id = world.ids[5]!
      const { idProperty: property } = crmOf(options.connector)
      const pages = await scan({ filter: [{ property, is: 'equal', value: id }], limit: 1 })
      expect(pages.flatMap((page) => page.records.map((record) => record.id))).toEqual([id])
      await expect(scan({ filter: [{ property: 'no_such_field', is: 'blank' }] })).rejects.toThrow(
        'no_such_field',
      )
    })

    test.each(where(capabilities.scansChanges))('returns what has changed since the last page', async () => {
      const after = (await scan()).at(-1)!.watermark
      const id = world.ids[2]!
      store().edit(id, textField, 'Changed since')
      const ids = (await scan({ after })).flatMap((page) => page.records.map((record) => record.id))
      expect(ids).toContain(id)
      expect(ids).toHaveLength(new Set(ids).size)
    })

    test('stops on abort', async () => {
      const controller = new AbortController()
      const seen: ScanPage[] = []
      const walk = async (): Promise<void> => {
        for await (const page of world.connector.scan(options.entity, { signal: controller.signal })) {
          seen.push(page)
          controller.abort(new Error('enough'))
        }
      }
      // Ending quietly and throwing are both allowed.
      await walk().catch((error: Error) =>
        expect(`${error.name} ${error.message}`).toMatch(/AbortError|enough/),
      )
      expect(seen).toHaveLength(1)
    })

    test('reads every id that it is asked for', async () => {
      const asked = world.ids.slice(0, 205)
      const found = await world.connector.read(options.entity, asked)
      expect([...found.keys()]).toEqual(asked)
      for (const record of found.values()) expect(record.state).toBe('present')
      expect((await world.connector.read(options.entity, [])).size).toBe(0)
    })

    test('returns the associations of every id that it is asked for', async () => {
      const asked = world.ids.slice(0, 5)
      const [other = options.entity] = Object.keys(world.connector.entities).filter(
        (it) => it !== options.entity,
      )
      const found = await world.connector.associations(options.entity, other, asked)
      expect([...found.keys()]).toEqual(asked)
    })

    test('returns results in the order of the patches', async () => {
      await world.connector.ensureFields(options.entity, { dryRun: false })
      const ids = world.ids.slice(0, 230).reverse()
      const results = await write(
        ids.map((id, at): [string, Patch] => [id, at % 50 === 3 ? {} : text(`text ${at}`)]),
      )
      expect(results.map(({ id }) => id)).toEqual(ids)
      expect(results.map(({ status }) => status)).toEqual(
        ids.map((_, at) => (at % 50 === 3 ? 'unchanged' : 'written')),
      )
      expect(await write([])).toEqual([])
      if (world.store)
        expect(ids.map((id) => store().value(id, textField)).filter((_, at) => at % 50 !== 3)).toEqual(
          ids.map((_, at) => `text ${at}`).filter((_, at) => at % 50 !== 3),
        )
    })

    test('reports the quota of the day', async () => {
      const quota = await world.connector.quota()
      if (!capabilities.tellsQuota) return expect(quota).toBeNull()
      expect(quota!.used).toBeLessThanOrEqual(quota!.limit)
      expect(quota!.resetsAt.getTime()).not.toBeNaN()
    })

    const table: { what: string; patch: Patch; before?: string; after?: string }[] = [
      { what: 'a set on a blank', patch: text('New'), after: 'New' },
      { what: 'a set on a value', patch: text('New'), before: 'Old', after: 'New' },
      { what: 'a clear on a value', patch: { [textField]: { clear: true } }, before: 'Old' },
      { what: 'a clear on a blank', patch: { [textField]: { clear: true } } },
      { what: 'an absent field with a value', patch: {}, before: 'Old', after: 'Old' },
      { what: 'an absent field that is blank', patch: {} },
    ]
    test.each(keepsValues ? table : [])('writes and reads back: $what', async ({ patch, before, after }) => {
      await world.connector.ensureFields(options.entity, { dryRun: false })
      const id = world.ids[3]!
      if (before === undefined) store().blank(id, textField, options.blanks[0]!)
      else store().edit(id, textField, before)
      const [result] = await write([[id, patch]])
      expect(result).toEqual({ id, status: Object.keys(patch).length > 0 ? 'written' : 'unchanged' })
      expect(store().value(id, textField)).toBe(after)
      const read = (await world.connector.read(options.entity, [id])).get(id)
      expect(read?.state === 'present' && read.values[textField]).toBe(after)
    })

    test.each(where(keepsValues))(
      'reads values to the byte, and restores them together with our own fields',
      async () => {
        await world.connector.ensureFields(options.entity, { dryRun: false })
        const id = world.ids[3]!
        const odd = 'Ünüsual\t value — “with”\r\nlines, 007 🚚'
        store().edit(id, textField, odd)
        const before = (await world.connector.read(options.entity, [id])).get(id)
        expect(before).toMatchObject({ state: 'present', raw: { [textField]: odd }, own: {} })
        const state = store().all(id)

        const [written] = await write([[id, text('New')]])
        expect(written).toMatchObject({ status: 'written' })
        expect(store().all(id)).not.toEqual(state)
        const after = (await world.connector.read(options.entity, [id])).get(id)
        if (after?.state !== 'present' || before?.state !== 'present') throw new Error('the record is gone')
        expect(after.own).toMatchObject({ status: 'enriched', source: expect.stringMatching(/^paydirt:/) })

        const patch: Patch = { [textField]: { restore: odd } }
        const restored = await world.connector.write(options.entity, [{ id, patch, own: before.own ?? {} }])
        expect(restored).toEqual([{ id, status: 'written' }])
        expect(store().all(id)).toEqual(state)
      },
    )

    test.each(options.blanks)('a blank that is %s is read as blank', async (how) => {
      const id = world.ids[3]!
      store().edit(id, textField, 'Something')
      const before = (await world.connector.read(options.entity, [id])).get(id)
      expect(before).toMatchObject({ state: 'present', values: { [textField]: 'Something' } })
      store().blank(id, textField, how)
      const read = (await world.connector.read(options.entity, [id])).get(id)
      expect(read?.state === 'present' && Object.keys(read.values)).not.toContain(textField)
    })

    test.each(given(options.refused))(
      'writes all but the records that the CRM refuses, and names code and field of those',
      async (refused) => {
        await world.connector.ensureFields(options.entity, { dryRun: false })
        const ids = world.ids.slice(0, 100)
        const bad = new Set([ids[0], ids[41], ids[99]])
        const results = await write(
          ids.map((id): [string, Patch] => [id, bad.has(id) ? refused.patch : text('Fine')]),
        )
        expect(results.map(({ id }) => id)).toEqual(ids)
        for (const result of results) {
          if (!bad.has(result.id)) expect(result).toEqual({ id: result.id, status: 'written' })
          else expect(result).toMatchObject({ status: 'rejected', code: refused.code, field: refused.field })
        }
        for (const id of ids) if (!bad.has(id)) expect(store().value(id, textField)).toBe('Fine')
      },
    )

    test.each(given(options.unfit))(
      'leaves out what does not fit its field, and rejects a patch of nothing else',
      async (unfit) => {
        await world.connector.ensureFields(options.entity, { dryRun: false })
        const [a = '', b = ''] = world.ids
        const wrong: Patch = { [unfit.field]: { set: unfit.value } }
        const results = await write([
          [a, { ...wrong, ...text('Fine') }],
          [b, wrong],
        ])
        expect(results).toMatchObject([
          { id: a, status: 'written', leftOut: [{ field: unfit.field, code: unfit.code }] },
          { id: b, status: 'rejected', field: unfit.field, code: unfit.code },
        ])
        expect(store().value(a, textField)).toBe('Fine')
        expect(JSON.stringify(results)).not.toContain(String(unfit.value))
      },
    )

    test.each(given(options.unknownId))(
      'reads an unknown record as gone, and skips writing to it',
      async (unknownId) => {
        await world.connector.ensureFields(options.entity, { dryRun: false })
        const id = world.ids[1]!
        const found = await world.connector.read(options.entity, [unknownId, id])
        expect([...found].map(([key, { state }]) => [key, state])).toEqual([
          [unknownId, 'gone'],
          [id, 'present'],
        ])
        const results = await write([
          [unknownId, text('Fine')],
          [id, text('Fine')],
        ])
        expect(results.map(({ status }) => status)).toEqual(['skipped', 'written'])
      },
    )

    test.each(where(can.includes('remove')))(
      'reads a removed record as gone, skips writing to it, and no longer returns it',
      async () => {
        await world.connector.ensureFields(options.entity, { dryRun: false })
        const [gone = '', there = ''] = world.ids
        world.remove!(gone)
        expect((await world.connector.read(options.entity, [gone])).get(gone)).toEqual({ state: 'gone' })
        const results = await write([
          [gone, text('Fine')],
          [there, text('Fine')],
        ])
        expect(results.map(({ status }) => status)).toEqual(['skipped', 'written'])
        const ids = (await scan()).flatMap((page) => page.records.map(({ id }) => id))
        expect(ids).not.toContain(gone)
        expect(ids).toHaveLength(world.ids.length - 1)
      },
    )

    test.each(where(can.includes('merge')))(
      'reads a merged record as merged, and returns only the winner',
      async () => {
        const [winner = '', loser = ''] = world.ids
        world.merge!(winner, loser)
        const found = await world.connector.read(options.entity, [loser, winner])
        expect(found.get(loser)).toEqual({ state: 'merged', into: winner })
        expect(found.get(winner)).toMatchObject({ state: 'present' })
        const ids = (await scan()).flatMap((page) => page.records.map(({ id }) => id))
        expect(ids.sort()).toEqual(world.ids.filter((id) => id !== loser).sort())
      },
    )

    test.each(where(can.includes('convert')))(
      'reads a converted lead as converted, and skips writing to it',
      async () => {
        await world.connector.ensureFields(options.entity, { dryRun: false })
        const [id = ''] = world.ids
        world.convert!(id)
        expect((await world.connector.read(options.entity, [id])).get(id)).toEqual({ state: 'converted' })
        expect((await write([[id, text('Fine')]]))[0]).toMatchObject({ status: 'skipped' })
      },
    )

    test.each(where(capabilities.marksOwnWrites))(
      'recognises its own writes until another change of the record',
      async () => {
        await world.connector.ensureFields(options.entity, { dryRun: false })
        const after = (await scan()).at(-1)!.watermark
        const [a = '', b = '', c = ''] = world.ids
        await write([
          [a, text('Ours')],
          [b, text('Ours')],
        ])
        store().edit(b, textField, 'Theirs')
        store().edit(c, textField, 'Theirs')
        const pages = await scan({ after })
        const ids = pages.flatMap((page) => page.records.map(({ id }) => id))
        expect(ids).toEqual(expect.arrayContaining([a, b, c]))
        expect(pages.flatMap((page) => [...(page.ownWrites ?? [])])).toEqual([a])
        expect(ids).toHaveLength(new Set(ids).size)
      },
    )
  })
}

/** Returns one case where the source has the feature, none where it has not. */
function where(can: boolean): readonly true[] {
  return can ? [true] : []
}

function given<T>(value: T | undefined): readonly T[] {
  return value === undefined ? [] : [value]
}

/** Returns the values of a record without its blanks. */
export function filled(values: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== '' && value !== null))
}
