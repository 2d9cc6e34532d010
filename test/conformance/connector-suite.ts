import { describe, expect, test } from 'vitest'
import { definitionOf } from '../../src/connectors/definitions.ts'
import type { ScanPage, Watermark } from '../../src/connectors/connector.ts'
import type { Patch } from '../../src/domain/record.ts'
import { given, openStage, where, type ConnectorSuiteOptions } from './connector-stage.ts'
import { connectorMaking } from './connector-making.ts'
import { connectorNoting } from './connector-noting.ts'
import { connectorWrites } from './connector-writes.ts'

/** Tests what every connector must do. A connector's test is one call of this for each entity. */
export function connectorSuite(options: ConnectorSuiteOptions): void {
  const { textField } = options
  const definition = definitionOf(options.connector)
  const { capabilities } = definition
  const object = definition.entities[options.entity]

  describe(`the ${options.connector} connector (${options.entity})`, () => {
    const { keepsValues } = capabilities
    const stage = openStage(options)
    const { store, write, scan, text } = stage

    test('is the one that its definition describes', () => {
      const { name, capabilities: own, entities } = stage.world.connector
      expect(name).toBe(options.connector)
      expect(own).toEqual(capabilities)
      expect(stage.world.connector.maker !== undefined).toBe(capabilities.makesRecords)
      expect(stage.world.connector.notes !== undefined).toBe(capabilities.takesNotes)
      expect(definition.entities).toMatchObject(entities)
      expect(entities).toHaveProperty(options.entity)
      expect(stage.world.store !== undefined).toBe(keepsValues)
      expect(options.blanks.length > 0).toBe(keepsValues)
    })

    test('says which account it is and finds nothing wrong once its fields are there', async () => {
      for (const entity of Object.keys(stage.world.connector.entities))
        await stage.world.connector.ensureFields(entity, { dryRun: false })
      const found = await stage.world.connector.check()
      expect(found.missingScopes).toEqual([])
      expect(found.problems).toEqual([])
      expect(found.apiVersion).toMatch(/\S/)
    })

    test('describes the fields it writes', async () => {
      const fields = await stage.world.connector.describe(options.entity)
      expect(fields.length).toBeGreaterThan(0)
      expect(new Set(fields.map((field) => field.name)).size).toBe(fields.length)
      for (const field of fields) {
        if (field.type === 'option' || field.type === 'options') expect(field.options).toBeDefined()
      }
    })

    test('creates its own fields once, and none in a dry run', async () => {
      const states = async (dryRun: boolean): Promise<string[]> =>
        (await stage.world.connector.ensureFields(options.entity, { dryRun })).map(({ status }) => status)
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
      expect(records.map(({ id }) => id).sort()).toEqual([...stage.world.ids].sort())
      expect(records.every((record) => record.object === object)).toBe(true)
      const identified = records.filter(({ identity }) => Object.keys(identity).length > 0)
      expect(identified.length).toBeGreaterThan(records.length / 2)
      for (const { identity } of identified)
        for (const value of Object.values(identity)) expect(String(value).trim()).not.toBe('')
    })

    test('continues after every page, wherever a scan was interrupted', async () => {
      const seen: string[] = []
      let after: Watermark | undefined
      for (let rounds = 0; seen.length < stage.world.ids.length && rounds < 1000; rounds++) {
        for await (const page of stage.world.connector.scan(
          options.entity,
          after === undefined ? {} : { after },
        )) {
          seen.push(...page.records.map(({ id }) => id))
          after = page.watermark
          break
        }
      }
      expect(seen.sort()).toEqual([...stage.world.ids].sort())
    })

    test('stops at a limit, and continues after it', async () => {
      const first = await scan({ limit: 7 })
      const ids = first.flatMap((page) => page.records.map(({ id }) => id))
      expect(ids).toHaveLength(7)
      const rest = await scan({ after: first.at(-1)!.watermark })
      expect([...ids, ...rest.flatMap((page) => page.records.map(({ id }) => id))].sort()).toEqual(
        [...stage.world.ids].sort(),
      )
      expect(await scan({ limit: 0 })).toEqual([])
    })

    test.each(given(options.idProperty))('finds one record by the property of its id', async (property) => {
      const id = stage.world.ids[5]!
      const pages = await scan({ filter: [{ property, is: 'equal', value: id }], limit: 1 })
      expect(pages.flatMap((page) => page.records.map((record) => record.id))).toEqual([id])
      await expect(scan({ filter: [{ property: 'no_such_field', is: 'blank' }] })).rejects.toThrow(
        'no_such_field',
      )
    })

    test.each(where(capabilities.filters))('hands out the properties that it is asked for', async () => {
      const id = stage.world.ids[1]!
      const property = stage.world.connector.mapping!.entities[options.entity]!.fields[textField]!.property
      store().edit(id, textField, 'Worth 12')
      const records = (await scan({ properties: [property] })).flatMap((page) => page.records)
      expect(records.find((record) => record.id === id)?.properties).toEqual({ [property]: 'Worth 12' })
      expect((await scan()).flatMap((page) => page.records).every((one) => !one.properties)).toBe(true)
      await expect(scan({ properties: ['no_such_field'] })).rejects.toThrow('no_such_field')
    })

    test.each(where(capabilities.scansChanges))('returns what has changed since the last page', async () => {
      const after = (await scan()).at(-1)!.watermark
      const id = stage.world.ids[2]!
      store().edit(id, textField, 'Changed since')
      const ids = (await scan({ after })).flatMap((page) => page.records.map((record) => record.id))
      expect(ids).toContain(id)
      expect(ids).toHaveLength(new Set(ids).size)
    })

    test('stops on abort', async () => {
      const controller = new AbortController()
      const seen: ScanPage[] = []
      const walk = async (): Promise<void> => {
        for await (const page of stage.world.connector.scan(options.entity, { signal: controller.signal })) {
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
      const asked = stage.world.ids.slice(0, 205)
      const found = await stage.world.connector.read(options.entity, asked)
      expect([...found.keys()]).toEqual(asked)
      for (const record of found.values()) expect(record.state).toBe('present')
      expect((await stage.world.connector.read(options.entity, [])).size).toBe(0)
    })

    test('returns the associations of every id that it is asked for', async () => {
      const asked = stage.world.ids.slice(0, 5)
      const [other = options.entity] = Object.keys(stage.world.connector.entities).filter(
        (it) => it !== options.entity,
      )
      const found = await stage.world.connector.associations(options.entity, other, asked)
      expect([...found.keys()]).toEqual(asked)
    })

    test('returns results in the order of the patches', async () => {
      await stage.world.connector.ensureFields(options.entity, { dryRun: false })
      const ids = stage.world.ids.slice(0, 230).reverse()
      const results = await write(
        ids.map((id, at): [string, Patch] => [id, at % 50 === 3 ? {} : text(`text ${at}`)]),
      )
      expect(results.map(({ id }) => id)).toEqual(ids)
      expect(results.map(({ status }) => status)).toEqual(
        ids.map((_, at) => (at % 50 === 3 ? 'unchanged' : 'written')),
      )
      expect(await write([])).toEqual([])
      if (stage.world.store)
        expect(ids.map((id) => store().value(id, textField)).filter((_, at) => at % 50 !== 3)).toEqual(
          ids.map((_, at) => `text ${at}`).filter((_, at) => at % 50 !== 3),
        )
    })

    test('reports the quota of the day', async () => {
      const quota = await stage.world.connector.quota()
      if (!capabilities.tellsQuota) return expect(quota).toBeNull()
      expect(quota!.used).toBeLessThanOrEqual(quota!.limit)
      expect(quota!.resetsAt.getTime()).not.toBeNaN()
    })

    connectorWrites(options, stage)
    connectorMaking(options, stage)
    connectorNoting(options, stage)
  })
}
