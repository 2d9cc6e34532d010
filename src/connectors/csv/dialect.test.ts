import { stringify } from 'csv-stringify/sync'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { testSeed } from '../../../test/support/seed.ts'
import { countRecognised } from './columns.ts'
import { csvLines, detectDialect, type Delimiter, type Dialect } from './dialect.ts'

const recognised = (names: string[]) => countRecognised(names, { object: 'company' })

test.each([
  ['commas', 'company,domain\na,b\n', ',', '\n'],
  ['semicolons', 'company;domain\r\na;b\r\n', ';', '\r\n'],
  ['tabs', 'company\tdomain\na\tb\n', '\t', '\n'],
  ['old Mac line ends', 'company;domain\ra;b\r', ';', '\r'],
  ['commas within cells of a semicolon file', 'company;domain\n"A, B, C";a.com\nD, E;d.com\n', ';', '\n'],
  ['more semicolons than commas within cells', 'notes,domain\na;b;c;d,e\nf;g;h;i,j\n', ',', '\n'],
  ['a header in quotes with a delimiter in it', '"a;b;c",domain\n1,2\n', ',', '\n'],
  ['a line break within a quoted header name', '"my\nnotes";domain\r\n1;2\r\n', ';', '\r\n'],
  ['other line breaks within quoted names', '"a\rb";"c\rd";domain\n1;2;3\n', ';', '\n'],
  ['another delimiter within a quoted name', '"domain"\t",x"\n', '\t', '\n'],
  ['blank lines at the start', '\r\n\r\ncompany;domain\r\n', ';', '\r\n'],
  ['a single column', 'domain\na.com\nb.com\n', ',', '\n'],
  ['a single column of texts with semicolons', 'domain\na;b\n', ',', '\n'],
  ['nothing at all', '', ',', '\n'],
  ['no line end', 'company\tdomain', '\t', '\n'],
])('detects delimiter and line ending of a file with %s', (_, sample, delimiter, eol) => {
  expect(detectDialect(sample, { whole: true, recognised })).toEqual({ delimiter, eol })
})

test('a sample that ends within a quoted cell is enough', () => {
  const sample = 'company;domain;notes\nA, B;a.com;x\nC;c.com;"begins, and'
  expect(detectDialect(sample, { whole: false, recognised }).delimiter).toBe(';')
})

test('lines are those of csv-stringify, whatever is in the cells', () => {
  const cells = fc.array(fc.string({ unit: fc.constantFrom(...',;\t|"\r\n a$&é\\') }), {
    minLength: 1,
    maxLength: 5,
  })
  const delimiters = fc.constantFrom<Delimiter>(',', ';', '\t', '|')
  const eols = fc.constantFrom<Dialect['eol']>('\n', '\r\n', '\r')
  fc.assert(
    fc.property(fc.array(cells), delimiters, eols, (records, delimiter, eol) => {
      const options = { delimiter, record_delimiter: eol, quote_record_delimiter: true }
      expect(records.map(csvLines({ delimiter, eol })).join('')).toBe(stringify(records, options))
    }),
    { seed: testSeed(), numRuns: 500 },
  )
})
