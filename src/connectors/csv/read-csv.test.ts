import { appendFileSync, statSync, symlinkSync, utimesSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { collect, csvDirectory, errorOf } from '../../../test/fixtures/csv-files.ts'
import { ConfigError, InputError } from '../../domain/errors.ts'
import { maxRowCharacters } from './dialect.ts'
import { openCsv, readCsv } from './read-csv.ts'

const company = { object: 'company' } as const

async function rowsOf(content: string | Uint8Array) {
  return collect(readCsv(csvDirectory().write('in.csv', content), company))
}

describe('rows', () => {
  test('have ordinal, physical line and unchanged cells', async () => {
    expect(await rowsOf('domain,notes\n a.com ,"x, ""y"""\nb.com,\n')).toEqual([
      { ordinal: 1, line: 2, cells: [' a.com ', 'x, "y"'] },
      { ordinal: 2, line: 3, cells: ['b.com', ''] },
    ])
  })

  test.each(['\n', '\r\n', '\r'])(
    'lines are counted through quoted breaks and blank lines, %j',
    async (eol) => {
      const text = ['', 'domain,notes', '"a', 'b","c', '', 'd"', '', '', 'e,f', '"",', 'x,y', '', ''].join(
        eol,
      )
      expect((await rowsOf(text)).map(({ ordinal, line }) => [ordinal, line])).toEqual([
        [1, 3],
        [2, 9],
        [3, 10],
        [4, 11],
      ])
    },
  )

  test('line ends of both kinds are read in one file', async () => {
    const rows = await rowsOf('domain,notes\r\na,b\nc,d\r\ne,"f\ng"\nh,i')
    expect(rows.map(({ cells }) => cells.join('|'))).toEqual(['a|b', 'c|d', 'e|f\ng', 'h|i'])
    expect(rows.map(({ line }) => line)).toEqual([2, 3, 4, 6])
  })

  test('a ragged row has a problem with line and counts, and the others are read', async () => {
    const rows = await rowsOf('domain,notes,city\na,b\nc,d,e\nf,g,h,i\nj,k,l\n')
    expect(rows.map(({ problem }) => problem)).toEqual([
      'line 2: too few cells, 2 where the header has 3',
      undefined,
      'line 4: too many cells, 4 where the header has 3',
      undefined,
    ])
    expect(rows[2]?.cells).toEqual(['f', 'g', 'h', 'i'])
  })

  test('a quote that was left open and closed rows later is suspected', async () => {
    const rows = await rowsOf('domain,notes\na,"b\nc,d\ne",f\ng,h\n')
    expect(rows[0]?.problem).toContain('the row runs on to line 4, is a quote left open?')
    expect(rows[1]).toEqual({ ordinal: 2, line: 5, cells: ['g', 'h'] })
  })

  test.each([
    ['a quote within a cell', 'domain,notes\n5" pipe,x\n', ['5" pipe', 'x']],
    ['text behind a closing quote', 'domain,notes\n"a"b,x\n', ['"a"b', 'x']],
    ['an empty quoted cell', 'domain,notes\n"",""\n', ['', '']],
    ['other scripts', 'domain,notes\n株式会社,Ωmega 🚀\n', ['株式会社', 'Ωmega 🚀']],
    ['a cell of white space', 'domain,notes\n  ,\t\n', ['  ', '\t']],
    ['no line end at the end', 'domain,notes\na,b', ['a', 'b']],
  ])('%s is read unchanged', async (_, content, cells) => {
    expect((await rowsOf(content))[0]?.cells).toEqual(cells)
  })

  test('a single column is read, a quoted blank one as a row', async () => {
    expect((await rowsOf('domain\na.com\n""\n\nb.com\n')).map(({ line, cells }) => [line, ...cells])).toEqual(
      [
        [2, 'a.com'],
        [3, ''],
        [5, 'b.com'],
      ],
    )
  })

  test('characters are whole however the file is cut into chunks', async () => {
    const rows = await rowsOf(`domain,notes\n${'é€🚀,ü\n'.repeat(30_000)}`)
    expect(rows).toHaveLength(30_000)
    expect(new Set(rows.map(({ cells }) => cells.join('|')))).toEqual(new Set(['é€🚀|ü']))
  })
})

describe('encodings', () => {
  const text = 'company;domain\r\nÜber 株;a.com\r\n'
  const big = Buffer.from(`\ufeff${text}`, 'utf16le').swap16()

  test.each([
    ['utf-8', Buffer.from(text), false],
    ['utf-8', Buffer.from(`\ufeff${text}`), true],
    ['utf-16le', Buffer.from(`\ufeff${text}`, 'utf16le'), true],
    ['utf-16be', big, true],
  ])('%s is read', async (encoding, bytes, hasBom) => {
    const csv = await openCsv(csvDirectory().write('in.csv', bytes), company)
    expect(csv).toMatchObject({
      encoding,
      hasBom,
      delimiter: ';',
      eol: '\r\n',
      columns: ['company', 'domain'],
    })
    expect(await collect(csv.rows())).toEqual([{ ordinal: 1, line: 2, cells: ['Über 株', 'a.com'] }])
  })

  test.each([
    [
      'Latin-1',
      Buffer.from('domain,notes\na,b\nc,caf\xe9\nd,e\n', 'latin1'),
      'line 3: byte 0xE9 is not UTF-8',
    ],
    ['a cut character at the end', Buffer.from([...Buffer.from('domain\na\n'), 0xc3]), 'line 3: byte 0xC3'],
    ['UTF-16 without a BOM', Buffer.from('domain\na\n', 'utf16le'), 'line 1: NUL bytes'],
    [
      'a lone surrogate in UTF-16',
      Buffer.from('\ufeffdomain\na\n\ud800b\n', 'utf16le'),
      'line 3: not valid UTF-16LE',
    ],
    [
      'a spreadsheet',
      Buffer.from('PK\x03\x04\x14\0', 'latin1'),
      'line 1: it is a ZIP archive or a spreadsheet',
    ],
    ['an old spreadsheet', Buffer.from('\xd0\xcf\x11\xe0\xa1', 'latin1'), 'it is a spreadsheet (.xls)'],
    ['gzip', Buffer.from([0x1f, 0x8b, 8]), 'it is a gzip archive'],
  ])('%s is refused by file and line', async (_, bytes, message) => {
    const path = csvDirectory().write('in.csv', bytes)
    const error = await errorOf(openCsv(path, company))
    expect(error).toBeInstanceOf(InputError)
    expect(error.code).toBe('csv_not_text')
    expect(error.message).toContain(`${path}, `)
    expect(error.message).toContain(message)
  })

  test('the line is right far into a long file', async () => {
    const head = Buffer.from(`domain,notes\n${'aé,b\n'.repeat(50_000)}`)
    const path = csvDirectory().write('in.csv', Buffer.concat([head, Buffer.from([0x61, 0xff, 0x0a])]))
    expect((await errorOf(openCsv(path, company))).message).toContain('line 50002: byte 0xFF')
  })
})

describe('files that are refused', () => {
  test.each([
    ['an empty file', ''],
    ['a BOM alone', '\ufeff'],
    ['blank lines alone', '\n\r\n\n'],
  ])('%s', async (_, content) => {
    const error = await errorOf(openCsv(csvDirectory().write('in.csv', content), company))
    expect(error).toBeInstanceOf(InputError)
    expect(error.message).toContain('in.csv, line 1: the file is empty')
  })

  test('a missing file, and a directory', async () => {
    const directory = csvDirectory()
    const missing = await errorOf(openCsv(directory.at('none.csv'), company))
    expect(missing).toBeInstanceOf(ConfigError)
    expect(missing.message).toBe(`${directory.at('none.csv')}: there is no such file`)
    expect((await errorOf(openCsv(directory.path, company))).message).toContain('it is a directory')
  })

  test.each([
    ['in the first cell', 'domain,notes\na,b\n"c,d\ne,f\n', 'line 3: the quote that opens in column 1'],
    ['behind quoted breaks', 'domain,notes\n"a\nb\nc","d\ne\n', 'line 4: the quote that opens in column 2'],
    ['behind broken quotes', 'domain,notes\nx,"y\nz"\n\n"a"b,"c', 'line 5: the quote that opens in column 2'],
    ['in the header', 'domain,"notes\na,b\n', 'line 1: the quote that opens in column 2'],
  ])('a quote that is never closed, %s', async (_, content, message) => {
    const path = csvDirectory().write('in.csv', content)
    const error = await errorOf(openCsv(path, company))
    expect(error).toBeInstanceOf(InputError)
    expect(error.message).toBe(`${path}, ${message} is never closed`)
  })

  test('a row that does not end within bounds is refused, not held in memory', async () => {
    const path = csvDirectory().write('in.csv', `domain,notes\na,b\nc,"${'d\n'.repeat(maxRowCharacters)}`)
    const error = await errorOf(openCsv(path, company))
    expect(error.message).toContain(`${path}, line 3: the row that begins here is longer than`)
  })

  test('the header is named by its own line when blank lines precede it', async () => {
    const path = csvDirectory().write('in.csv', '\n\na,domain,domain\n')
    expect((await errorOf(openCsv(path, company))).message).toContain(
      `${path}, line 3: columns 2 ("domain") and 3 ("domain")`,
    )
  })
})

describe('an opened file', () => {
  test('has names, counts and hash before the first row', async () => {
    const csv = await openCsv(csvDirectory().write('in.csv', 'Name,Website,Extra\na,b,c\nd,e\n'), company)
    expect(csv).toMatchObject({ rowCount: 2, problemCount: 1, wrongObject: undefined })
    expect(csv.recognised).toMatchObject({ company: 'Name', domain: 'Website', profileUrl: undefined })
    expect(csv.sha256).toMatch(/^[0-9a-f]{64}$/)
    expect(csv.warnings).toEqual([expect.stringContaining('no column holds a profile URL')])
  })

  test('with a header alone has no rows, and says so', async () => {
    const csv = await openCsv(csvDirectory().write('in.csv', 'profnet_url\n'), company)
    expect(csv.warnings).toEqual([expect.stringContaining('it has a header and no rows')])
    expect(await collect(csv.rows())).toEqual([])
  })

  test('hints at a wrong object', async () => {
    const path = csvDirectory().write('in.csv', 'profnet_url\nhttps://profnet.com/in/jane\n')
    expect((await openCsv(path, company)).wrongObject).toContain('--object person')
    expect((await openCsv(path, { object: 'person' })).wrongObject).toBeUndefined()
  })

  test('can be read again and again, and left in the middle', async () => {
    const csv = await openCsv(csvDirectory().write('in.csv', `domain\n${'a\n'.repeat(50_000)}`), company)
    for await (const row of csv.rows()) if (row.ordinal === 3) break
    expect(await collect(csv.rows())).toHaveLength(50_000)
  })

  test('stops reading on abort', async () => {
    const csv = await openCsv(csvDirectory().write('in.csv', `domain\n${'a\n'.repeat(50_000)}`), company)
    const stop = new AbortController()
    const reading = (async () => {
      for await (const row of csv.rows({ signal: stop.signal })) if (row.ordinal === 3) stop.abort()
    })()
    expect((await errorOf(reading)).name).toBe('AbortError')
  })

  test('that has changed is refused; one that was only touched is not', async () => {
    const path = csvDirectory().write('in.csv', 'domain\na\n')
    const csv = await openCsv(path, company)
    utimesSync(path, 1, 1)
    expect(await collect(csv.rows())).toHaveLength(1)
    appendFileSync(path, 'b\n')
    const error = await errorOf(collect(csv.rows()))
    expect(error.code).toBe('csv_changed')
    expect(error.message).toContain(`${path}: it has changed`)
  })

  test('that changes while it is read is refused at the end of the pass', async () => {
    const path = csvDirectory().write('in.csv', `domain\n${'a\n'.repeat(200_000)}`)
    const csv = await openCsv(path, company)
    const { size } = statSync(path)
    const reading = (async () => {
      for await (const row of csv.rows()) if (row.ordinal === 1) appendFileSync(path, 'b\n')
    })()
    expect((await errorOf(reading)).code).toBe('csv_changed')
    expect(statSync(path).size).toBe(size + 2)
  })

  test('may be named through a symbolic link', async () => {
    const directory = csvDirectory()
    symlinkSync(directory.write('in.csv', 'domain\na\n'), directory.at('link.csv'))
    expect((await openCsv(directory.at('link.csv'), company)).rowCount).toBe(1)
  })
})
