import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { describe, expect, test } from 'vitest'
import { guardFormula } from '../../src/connectors/csv/formula-guard.ts'
import { createCsvConnector, openCsv, writeEnriched } from '../../src/connectors/csv/index.ts'
import { fieldRules } from '../../src/domain/field-policy/field-policy.ts'
import type { FieldValue } from '../../src/domain/record.ts'
import { typesOf, type Type, words, cases, sourceOf } from './nothing-replaces.fixture.ts'
import { type Row, table, fitting, writeBack, crms } from './nothing-replaces-crms.fixture.ts'

/** Salesforce writes times with an offset of its own, and whole seconds. */
function read(value: FieldValue | null | undefined): string {
  return value === undefined || value === null || value === ''
    ? '(blank)'
    : JSON.stringify(String(value).replace(/(\.000)(Z|\+0000)?$/, '$1'))
}

describe.each(crms)('in %s nothing good is replaced by nothing', (_, object, open, entity) => {
  test.each(fieldRules)('under %s', async (rule) => {
    const world = await open()
    try {
      const rows = (await table(object, fitting)).map((row) => ({
        id: world.add(row.type, row.isFilled),
        row,
      }))
      await writeBack(world.connector, entity, rows, rule, world.mapping)

      const found = rows.map(({ id, row: { type, answer, isFilled } }) => {
        const value = world.value(id, type)
        return `${type} ${isFilled ? 'filled' : 'blank'}, answered ${answer}: ${read(value)}`
      })
      const expected = rows.map(({ row: { type, answer, isFilled, becomes } }) => {
        const mayWrite = rule !== 'never' && (!isFilled || rule !== 'fill_blank')
        const value = mayWrite && becomes !== undefined ? becomes : isFilled ? cases[type].old : undefined
        return `${type} ${isFilled ? 'filled' : 'blank'}, answered ${answer}: ${read(value)}`
      })
      expect(found).toEqual(expected)
      // Neither a null nor an empty text went out: nothing was cleared, and nothing was tried.
      const sent = world.sent()
      expect(sent.filter((value) => value === null || value === undefined || value === '')).toEqual([])
      if (rule === 'never') expect(sent).toEqual([])
      else expect(sent.length).toBeGreaterThan(typesOf(object).length)
    } finally {
      await world.close()
    }
  })
})

describe.each(['company', 'person'] as const)(
  'in a CSV of a %s nothing good is replaced by nothing',
  (object) => {
    // A CSV holds what the service says as it says it, where that is a value of the field's kind: a text may be "N/A".
    const asTold = (type: Type, name: string): string | undefined => {
      const isContact = object === 'person' && (type === 'email' || type === 'phone')
      if (name === 'good') {
        if (type === 'logo' || isContact) return guardFormula(cases[type].becomes)
        return guardFormula(String(cases[type].good))
      }
      if (type === 'logo' || type === 'url' || type === 'country' || isContact) return undefined
      if (type === 'number' || type === 'flag') return name === '0' ? '0' : undefined
      return words[name as keyof typeof words]
    }

    test.each(fieldRules)('under %s', async (rule) => {
      const folder = await mkdtemp(join(tmpdir(), 'paydirt-nothing-'))
      try {
        const rows = await table(object, asTold)
        const fields = typesOf(object).map((type) => sourceOf(object, type))
        // Values that an earlier run has filled come back in columns of our own.
        const header = ['profnet_url', ...fields.map((name) => `paydirt_${name}`)]
        const earlier = (row: Row) =>
          typesOf(object).map((type) =>
            row.isFilled && type === row.type ? JSON.stringify(String(cases[type].old)) : '',
          )
        const lines = rows.map((row, index) =>
          [`https://www.profnet.com/x/${index}`, ...earlier(row)].join(','),
        )
        const path = join(folder, 'in.csv')
        await writeFile(
          path,
          `${header.join(',')}\n${lines.map((line) => line.replaceAll('\\n', ' ')).join('\n')}\n`,
        )
        const csv = await openCsv(path, { object })
        const connector = createCsvConnector({ csv })
        const results = await writeBack(
          connector,
          object,
          rows.map((row, index) => ({ id: String(index + 2), row })),
          rule,
          {},
        )
        const byIndex = new Map(results.map((result) => [Number(result.id), result]))
        const out = join(folder, 'out.csv')
        await writeEnriched({
          input: csv,
          out,
          fields,
          results: rows.map((_, index) => ({
            ordinal: index + 1,
            status: byIndex.get(index)?.status ?? 'unchanged',
            reason: null,
            patch: byIndex.get(index)?.patch ?? null,
            enrichedAt: null,
          })),
        })
        const written = parse(await readFile(out), { columns: true, bom: true }) as Record<string, string>[]
        const found = rows.map(
          ({ type, answer, isFilled }, index) =>
            `${type} ${isFilled}, answered ${answer}: ${written[index]?.[sourceOf(object, type)]}`,
        )
        const expected = rows.map(({ type, answer, isFilled, becomes }) => {
          const old = isFilled ? String(cases[type].old).replaceAll('\n', ' ') : ''
          return `${type} ${isFilled}, answered ${answer}: ${rule !== 'never' && becomes !== undefined ? becomes : old}`
        })
        expect(found).toEqual(expected)
      } finally {
        await rm(folder, { recursive: true, force: true })
      }
    })
  },
)
