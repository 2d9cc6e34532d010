import { expect, test } from 'vitest'
import { sameValue } from '../../src/domain/field-policy/same-value.ts'
import { definitionOf } from '../../src/connectors/definitions.ts'
import type { Patch } from '../../src/domain/record.ts'
import { given, where, type ConnectorStage, type ConnectorSuiteOptions } from './connector-stage.ts'

/** The part of the suite about single writes: what is read back, restored, refused, left out, gone, or our own. */
export function connectorWrites(options: ConnectorSuiteOptions, stage: ConnectorStage): void {
  const { textField, can } = options
  const { capabilities } = definitionOf(options.connector)
  const { keepsValues } = capabilities
  const { store, write, scan, text } = stage

  const table: { what: string; patch: Patch; before?: string; after?: string }[] = [
    { what: 'a set on a blank', patch: text('New'), after: 'New' },
    { what: 'a set on a value', patch: text('New'), before: 'Old', after: 'New' },
    { what: 'a clear on a value', patch: { [textField]: { clear: true } }, before: 'Old' },
    { what: 'a clear on a blank', patch: { [textField]: { clear: true } } },
    { what: 'an absent field with a value', patch: {}, before: 'Old', after: 'Old' },
    { what: 'an absent field that is blank', patch: {} },
  ]
  test.each(keepsValues ? table : [])('writes and reads back: $what', async ({ patch, before, after }) => {
    await stage.world.connector.ensureFields(options.entity, { dryRun: false })
    const id = stage.world.ids[3]!
    if (before === undefined) store().blank(id, textField, options.blanks[0]!)
    else store().edit(id, textField, before)
    const [result] = await write([[id, patch]])
    expect(result).toEqual({ id, status: Object.keys(patch).length > 0 ? 'written' : 'unchanged' })
    expect(store().value(id, textField)).toBe(after)
    const read = (await stage.world.connector.read(options.entity, [id])).get(id)
    expect(read?.state === 'present' && read.values[textField]).toBe(after)
  })

  test.each(where(keepsValues))(
    'reads values to the byte, and restores them together with our own fields',
    async () => {
      await stage.world.connector.ensureFields(options.entity, { dryRun: false })
      const id = stage.world.ids[3]!
      const odd = 'Ünüsual\t value — “with”\r\nlines, 007 🚚'
      store().edit(id, textField, odd)
      const before = (await stage.world.connector.read(options.entity, [id])).get(id)
      expect(before).toMatchObject({ state: 'present', raw: { [textField]: odd }, own: {} })
      const state = store().all(id)

      const [written] = await write([[id, text('New')]])
      expect(written).toMatchObject({ status: 'written' })
      expect(store().all(id)).not.toEqual(state)
      const after = (await stage.world.connector.read(options.entity, [id])).get(id)
      if (after?.state !== 'present' || before?.state !== 'present') throw new Error('the record is gone')
      expect(after.own).toMatchObject({ status: 'enriched', source: expect.stringMatching(/^paydirt:/) })

      const patch: Patch = { [textField]: { restore: odd } }
      const restored = await stage.world.connector.write(options.entity, [
        { id, patch, own: before.own ?? {} },
      ])
      expect(restored).toEqual([{ id, status: 'written' }])
      expect(store().all(id)).toEqual(state)
    },
  )

  test.each(where(options.observed !== undefined))(
    'writes dates, times, numbers and yes or no as such, reads them back, and restores them to the byte',
    async () => {
      const observed = options.observed!
      const fields = Object.keys(observed)
      const { connector } = stage.world
      const ensured = await connector.ensureFields(options.entity, { dryRun: false, fields })
      expect(ensured.filter(({ status }) => status !== 'created' && status !== 'exists')).toEqual([])
      const again = await connector.ensureFields(options.entity, { dryRun: false, fields })
      expect(again.filter(({ status }) => status !== 'exists')).toEqual([])
      const described = await connector.describe(options.entity)
      const mapping = connector.mapping!.entities[options.entity]!
      const typeOf = (field: string) =>
        described.find(({ name }) => name === mapping.fields[field]!.property)?.type
      expect(Object.fromEntries(fields.map((field) => [field, typeOf(field)]))).toEqual(
        Object.fromEntries(fields.map((field) => [field, observed[field]!.type])),
      )

      const id = stage.world.ids[3]!
      const sent: Patch = Object.fromEntries(fields.map((field) => [field, { set: observed[field]!.set }]))
      expect(await write([[id, sent]])).toEqual([{ id, status: 'written' }])
      const read = (await connector.read(options.entity, [id])).get(id)
      if (read?.state !== 'present') throw new Error('the record is gone')
      const wrong = fields.filter(
        (field) => !sameValue(field, read.values[field] ?? '', observed[field]!.set),
      )
      expect(wrong).toEqual([])
      // Our own write is known again, although the CRM has its values in other forms.
      const pages = await stage.scan()
      expect(pages.some(({ ownWrites }) => ownWrites?.has(id))).toBe(true)

      const cleared: Patch = Object.fromEntries(fields.map((field) => [field, { clear: true }]))
      expect(await write([[id, cleared]])).toEqual([{ id, status: 'written' }])
      const blank = (await connector.read(options.entity, [id])).get(id)
      expect(blank?.state === 'present' && fields.filter((field) => field in blank.values)).toEqual([])

      const raw = Object.fromEntries(fields.map((field) => [field, { restore: read.raw![field]! }]))
      expect(await write([[id, raw]])).toEqual([{ id, status: 'written' }])
      const restored = (await connector.read(options.entity, [id])).get(id)
      const rawOf = (values: Readonly<Record<string, unknown>> = {}) => fields.map((field) => values[field])
      expect(restored?.state === 'present' && rawOf(restored.raw)).toEqual(rawOf(read.raw))
    },
  )

  test.each(options.blanks)('a blank that is %s is read as blank', async (how) => {
    const id = stage.world.ids[3]!
    store().edit(id, textField, 'Something')
    const before = (await stage.world.connector.read(options.entity, [id])).get(id)
    expect(before).toMatchObject({ state: 'present', values: { [textField]: 'Something' } })
    store().blank(id, textField, how)
    const read = (await stage.world.connector.read(options.entity, [id])).get(id)
    expect(read?.state === 'present' && Object.keys(read.values)).not.toContain(textField)
  })

  test.each(given(options.refused))(
    'writes all but the records that the CRM refuses, and names code and field of those',
    async (refused) => {
      await stage.world.connector.ensureFields(options.entity, { dryRun: false })
      const ids = stage.world.ids.slice(0, 100)
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
      await stage.world.connector.ensureFields(options.entity, { dryRun: false })
      const [a = '', b = ''] = stage.world.ids
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
      await stage.world.connector.ensureFields(options.entity, { dryRun: false })
      const id = stage.world.ids[1]!
      const found = await stage.world.connector.read(options.entity, [unknownId, id])
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
      await stage.world.connector.ensureFields(options.entity, { dryRun: false })
      const [gone = '', there = ''] = stage.world.ids
      stage.world.remove!(gone)
      expect((await stage.world.connector.read(options.entity, [gone])).get(gone)).toEqual({ state: 'gone' })
      const results = await write([
        [gone, text('Fine')],
        [there, text('Fine')],
      ])
      expect(results.map(({ status }) => status)).toEqual(['skipped', 'written'])
      const ids = (await scan()).flatMap((page) => page.records.map(({ id }) => id))
      expect(ids).not.toContain(gone)
      expect(ids).toHaveLength(stage.world.ids.length - 1)
    },
  )

  test.each(where(can.includes('merge')))(
    'reads a merged record as merged, and returns only the one that is left',
    async () => {
      const [winner = '', loser = ''] = stage.world.ids
      const left = stage.world.merge!(winner, loser)
      const found = await stage.world.connector.read(options.entity, [loser, winner, left])
      const merged = { state: 'merged', into: left }
      expect(found.get(loser)).toEqual(merged)
      expect(found.get(left)).toMatchObject({ state: 'present' })
      if (left !== winner) expect(found.get(winner)).toEqual(merged)
      const ids = (await scan()).flatMap((page) => page.records.map(({ id }) => id))
      const others = stage.world.ids.filter((id) => id !== loser && id !== winner)
      expect(ids.sort()).toEqual([...others, left].sort())
    },
  )

  test.each(where(can.includes('convert')))(
    'reads a converted lead as converted, and skips writing to it',
    async () => {
      await stage.world.connector.ensureFields(options.entity, { dryRun: false })
      const [id = ''] = stage.world.ids
      stage.world.convert!(id)
      expect((await stage.world.connector.read(options.entity, [id])).get(id)).toEqual({ state: 'converted' })
      expect((await write([[id, text('Fine')]]))[0]).toMatchObject({ status: 'skipped' })
    },
  )

  test.each(where(capabilities.marksOwnWrites))(
    'recognises its own writes until another change of the record',
    async () => {
      await stage.world.connector.ensureFields(options.entity, { dryRun: false })
      const after = (await scan()).at(-1)!.watermark
      const [a = '', b = '', c = ''] = stage.world.ids
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
}
