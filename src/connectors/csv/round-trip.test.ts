import fc from 'fast-check'
import { expect, test } from 'vitest'
import { collect, csvDirectory } from '../../../test/fixtures/csv-files.ts'
import { sized } from '../../../test/support/full-size.ts'
import { testSeed } from '../../../test/support/seed.ts'
import { guardFormula } from './formula-guard.ts'
import { openCsv } from './read-csv.ts'
import { writeEnriched, type RowResult } from './write-csv.ts'

const seed = testSeed()
const awkward = fc.constantFrom(
  ',',
  ';',
  '\t',
  '"',
  '""',
  '\n',
  '\r\n',
  '\r',
  ' ',
  "'",
  '=',
  '\ufeff',
  'é',
  '株',
  '🚀',
)
const plain = fc.string({ unit: 'grapheme', maxLength: 8 }).map((text) => text.replaceAll('\0', ''))
const cell = fc.array(fc.oneof(awkward, plain), { maxLength: 5 }).map((parts) => parts.join(''))

const file = fc.integer({ min: 1, max: 5 }).chain((width) =>
  fc.record({
    // A single column has no delimiter to be told by: the comma is taken.
    delimiter: width === 1 ? fc.constant(',') : fc.constantFrom(',', ';', '\t', '|'),
    eol: fc.constantFrom('\n', '\r\n'),
    bom: fc.boolean(),
    utf16: fc.boolean(),
    lastEol: fc.boolean(),
    extraNames: fc.array(cell, { minLength: width - 1, maxLength: width - 1 }),
    rows: fc.array(fc.array(cell, { minLength: width, maxLength: width }), { maxLength: 8 }),
    ragged: fc.option(fc.array(cell, { minLength: width + 1, maxLength: width + 3 }), { nil: undefined }),
    filled: fc.array(cell, { minLength: 9, maxLength: 9 }),
  }),
)

test(`any cells come out as they went in (seed ${seed})`, async () => {
  const directory = csvDirectory()
  await fc.assert(
    fc.asyncProperty(
      file,
      async ({ delimiter, eol, bom, utf16, lastEol, extraNames, rows, ragged, filled }) => {
        // Numbered, so that no two columns have the same name.
        const columns = ['profnet_url', ...extraNames.map((name, index) => `${name}x${index}`)]
        const all = ragged ? [...rows, ragged] : rows
        const text = [columns, ...all].map((cells) => cells.map(quoted).join(delimiter)).join(eol)
        const whole = `${bom || utf16 ? '\ufeff' : ''}${text}${lastEol ? eol : ''}`
        const path = directory.write('in.csv', utf16 ? Buffer.from(whole, 'utf16le') : whole)

        const input = await openCsv(path, { object: 'company' })
        expect(input).toMatchObject({
          delimiter,
          columns,
          eol: all.length > 0 || lastEol ? eol : '\n',
          rowCount: all.length,
        })
        const read = await collect(input.rows())
        expect(read.map(({ cells }) => cells)).toEqual(all)
        expect(read.map(({ line }) => line)).toEqual(linesOf([columns, ...all]).slice(1))
        expect(read.filter(({ problem }) => problem !== undefined)).toHaveLength(ragged ? 1 : 0)

        const results = all.map((_, index): RowResult => ({
          ordinal: index + 1,
          status: 'written',
          reason: null,
          patch: { tagline: { set: filled[index] ?? '' } },
          enrichedAt: null,
        }))
        await writeEnriched({ input, out: directory.at('out.csv'), fields: ['tagline'], results })

        const output = await openCsv(directory.at('out.csv'), { object: 'company' })
        expect(output).toMatchObject({
          delimiter: input.delimiter,
          eol: input.eol,
          hasBom: input.hasBom,
          columns: [...columns, 'tagline', 'paydirt_status', 'paydirt_reason', 'paydirt_enriched_at'],
          problemCount: 0,
        })
        const written = await collect(output.rows())
        expect(written.map(({ cells }) => cells.slice(0, columns.length)).slice(0, rows.length)).toEqual(rows)
        const values = written.slice(0, rows.length).map(({ cells }) => cells[columns.length])
        expect(values).toEqual(rows.map((_, index) => guardFormula(filled[index] ?? '')))
        if (ragged) {
          const surplus = ragged.slice(columns.length - 1).join(input.delimiter)
          expect(written.at(-1)?.cells[columns.length - 1]).toBe(surplus)
          expect(written.at(-1)?.cells.at(-3)).toBe('rejected')
        }
      },
    ),
    { seed, numRuns: sized(300, 100) },
  )
})

function quoted(cell: string): string {
  return `"${cell.replaceAll('"', '""')}"`
}

/** The physical line on which each record begins, counted by line feeds. */
function linesOf(records: string[][]): number[] {
  let line = 1
  return records.map((cells) => {
    const start = line
    line += cells.map(quoted).join('').split('\n').length
    return start
  })
}
