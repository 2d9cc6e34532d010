import { describe, expect, test } from 'vitest'
import { collect, csvDirectory, errorOf } from '../../../test/fixtures/csv-files.ts'
import { createCsvConnector } from './csv-connector.ts'
import { openCsv, type OpenCsvOptions } from './read-csv.ts'
import { writeEnriched } from './write-csv.ts'

const people: OpenCsvOptions = { object: 'person' }
const bytes = (...parts: (string | number[])[]) =>
  Buffer.concat(
    parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(part))),
  )
const wide = (text: string, order: 'le' | 'be', mark: boolean) => {
  const little = Buffer.from(`${mark ? '\ufeff' : ''}${text}`, 'utf16le')
  return order === 'le' ? little : little.swap16()
}

async function opened(content: Uint8Array | string, options: OpenCsvOptions = people) {
  const directory = csvDirectory()
  const csv = await openCsv(directory.write('in.csv', content), options)
  const [page] = await collect(createCsvConnector({ csv }).scan(options.object, {}))
  const output = async () => {
    await writeEnriched({ input: csv, out: directory.at('out.csv'), fields: [], results: [] })
    return directory.read('out.csv')
  }
  return { csv, identities: (page?.records ?? []).map(({ identity }) => identity), output }
}
const refusal = (content: Uint8Array | string, options: OpenCsvOptions = people) =>
  errorOf(openCsv(csvDirectory().write('in.csv', content), options)).then(({ message }) =>
    message.replace(/^.*in\.csv/, 'in.csv'),
  )

describe('a file in another encoding', () => {
  // Excel saves this as CSV in Western Europe: semicolons, CRLF, the euro sign and typographic quotes in one byte each.
  const western = bytes(
    'Vorname;Nachname;E-Mail;Notiz\r\nJos',
    [0xe9],
    ';M',
    [0xfc],
    'ller;jose@acme.example;',
    [0x80],
    '5 ',
    [0x93],
    'x',
    [0x94],
    '\r\n',
  )

  test('is refused with the option that reads it', async () => {
    expect(await refusal(western)).toMatch(
      /^in\.csv, line 2: byte 0xE9 is not UTF-8; it looks like Windows-1252.*add --encoding windows-1252/,
    )
    expect(await refusal(wide('email;x\r\na@b.example;y\r\n', 'le', false))).toMatch(
      /it looks like UTF-16 without a byte order mark: add --encoding utf-16le$/,
    )
    expect(await refusal(wide('email;x\r\na@b.example;y\r\n', 'be', false))).toMatch(
      /add --encoding utf-16be$/,
    )
    const cyrillic = bytes('email;x\r\na@b.example;', [0xcf, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2], '\r\n')
    expect(await refusal(cyrillic)).toMatch(/name its encoding with --encoding \(such as windows-1251/)
  })

  test.each(['windows-1252', 'cp1252', 'latin1', 'Windows1252'])(
    'is read when told %s, and written as UTF-8',
    async (encoding) => {
      const { csv, identities, output } = await opened(western, {
        ...people,
        encoding,
        map: { firstName: 'Vorname', lastName: 'Nachname' },
      })
      expect(identities).toEqual([{ firstName: 'José', lastName: 'Müller', email: 'jose@acme.example' }])
      expect(csv).toMatchObject({ encoding: 'windows-1252', delimiter: ';', hasBom: true })
      expect(await output()).toContain('\ufeffVorname;Nachname;E-Mail;Notiz;paydirt_status')
      expect(await output()).toContain('José;Müller;jose@acme.example;€5 “x”;')
    },
  )

  test.each(['utf-16', 'utf-16le', 'UTF16LE'])(
    'UTF-16 without a mark is read when told %s',
    async (encoding) => {
      const { identities } = await opened(wide('email\tx\r\nö@b.example\t株\r\n', 'le', false), {
        ...people,
        encoding,
      })
      expect(identities).toEqual([{ email: 'ö@b.example' }])
    },
  )

  test('utf-16 stands for both orders', async () => {
    const { csv } = await opened(wide('email\tx\r\na@b.example\t1\r\n', 'be', true), {
      ...people,
      encoding: 'utf-16',
    })
    expect(csv.encoding).toBe('utf-16be')
  })

  test('other scripts are read when told', async () => {
    const sjis = bytes('email,company\n', 'a@b.example,', [0x8a, 0x94, 0x8e, 0xae], '\n')
    const { identities } = await opened(sjis, { ...people, encoding: 'shift_jis' })
    expect(identities).toEqual([{ email: 'a@b.example', company: '株式' }])
  })

  test('a character that two chunks of the file share is read whole', async () => {
    const rows = Array.from(
      { length: 20_000 },
      (_, index) => `${index},a@b.example,Zoë Müller${'é'.repeat(index % 3)}\n`,
    )
    const text = `id,email,note\n${rows.join('')}`
    const { csv } = await opened(wide(text, 'le', false), { ...people, encoding: 'utf-16le' })
    expect(csv).toMatchObject({ rowCount: 20_000, problemCount: 0 })
  })

  test('is refused when what is told cannot be', async () => {
    expect(await refusal('\ufeffemail\na@b.example\n', { ...people, encoding: 'windows-1252' })).toContain(
      'its byte order mark says utf-8, and --encoding says windows-1252; leave out --encoding',
    )
    expect(await refusal('email\na@b.example\n', { ...people, encoding: 'utf-16' })).toContain(
      'it is not utf-16',
    )
    expect(await refusal('email\na@b.example\n', { ...people, encoding: 'klingon' })).toContain(
      '--encoding "klingon" is not known; usual ones are utf-8, windows-1252',
    )
    expect(
      await refusal(bytes('email\n\x81@b.example', [0x82], '\n'), { ...people, encoding: 'shift_jis' }),
    ).toContain('not valid SHIFT_JIS, which --encoding says it is')
  })

  test('is warned about when it is UTF-8 after all', async () => {
    const { csv } = await opened('email,x\na@b.example,é\n', { ...people, encoding: 'windows-1252' })
    expect(csv.warnings[0]).toContain('it looks like UTF-8, and --encoding says windows-1252')
  })
})

describe('an export of a spreadsheet', () => {
  test('with a line that declares its separator is read, and keeps the line', async () => {
    const { csv, identities, output } = await opened(
      'sep=;\r\nemail;Amount\r\na@b.example;1,5\r\n"c@d.example";2,5\r\n',
    )
    expect(identities).toEqual([{ email: 'a@b.example' }, { email: 'c@d.example' }])
    expect((await collect(csv.rows())).map(({ line }) => line)).toEqual([3, 4])
    expect((await output()).split('\r\n').slice(0, 3)).toEqual([
      'sep=;',
      'email;Amount;paydirt_status;paydirt_reason;paydirt_enriched_at',
      'a@b.example;1,5;queued;not reached by this run;',
    ])
  })

  test('with values kept as text, marks without a width and words for nothing', async () => {
    const { identities } = await opened(
      'profnet_url,email,phone,last_name\n' +
        '"=""https://profnet.com/in/a""",n/a,\'+491701234567,Null\n' +
        '\u200bhttps://profnet.com/in/b\u00a0,-,none,—\n',
    )
    expect(identities).toEqual([
      { profileUrl: 'https://profnet.com/in/a', phone: '+491701234567', lastName: 'Null' },
      { profileUrl: 'https://profnet.com/in/b' },
    ])
  })

  test.each([
    ['bars', 'email|last_name|notes\na@b.example|Ünal|x, y; z\n'],
    ['tabs and lone carriage returns', 'email\tlast_name\tnotes\ra@b.example\tÜnal\t"one\rtwo"\r'],
    [
      'semicolons and quoted line breaks',
      '"email";"last_name";"notes"\r\n"a@b.example";"Ünal";"one\ntwo\r\nthree, four"\r\n',
    ],
    [
      'a title with commas in one column',
      'notes, all of them\temail\tlast_name\n"a, b"\ta@b.example\tÜnal\n',
    ],
  ])('with %s', async (_, content) => {
    expect((await opened(content)).identities).toEqual([{ email: 'a@b.example', lastName: 'Ünal' }])
  })
})

describe('a column under a name that is not known', () => {
  const profiles = (kind: string, count: number) =>
    Array.from(
      { length: count },
      (_, index) => `https://www.profnet.com/${kind}/p${index};p${index}@b.example`,
    ).join('\n')

  test('is proposed with the exact options, also where nothing else is recognised', async () => {
    expect(await refusal(`LinkedIn URL;Kontakt\n${profiles('in', 5)}\n`)).toContain(
      `But column "LinkedIn URL" looks like profile URLs (5 of the first 5 values); column "Kontakt" looks like e-mail addresses (5 of the first 5 values): add --map 'profile=LinkedIn URL' --map email=Kontakt`,
    )
    const { csv } = await opened(`LinkedIn URL;email\n${profiles('in', 5)}\n`)
    expect(csv.warnings.join()).toContain(`add --map 'profile=LinkedIn URL'`)
    expect(csv.warnings.join()).not.toContain('no column holds a profile URL')
  })

  test('is proposed by its place where it has no name, and where the known name holds none', async () => {
    expect((await opened(`;email\n${profiles('in', 3)}\n`)).csv.warnings.join()).toContain(
      `--map 'profile=#1'`,
    )
    const { csv } = await opened(
      'profile,Link,email\nyes,profnet.com/in/a,a@b.example\nno,profnet.com/in/b,b@b.example\n',
    )
    expect(csv.warnings.join()).toContain('add --map profile=Link')
  })

  test('is asked about where its profiles are those of the other object', async () => {
    expect(await refusal(`LinkedIn URL;x\n${profiles('in', 5)}\n`, { object: 'company' })).toContain(
      `looks like profile URLs of people: is --object person --map 'profile=LinkedIn URL' meant?`,
    )
  })

  test('is not proposed where the user has said which it is, or few of its values are alike', async () => {
    const text = `LinkedIn URL;email\n${profiles('in', 3)}\n`
    expect((await opened(text, { ...people, map: { profileUrl: '' } })).csv.warnings).toEqual([])
    expect((await opened(text, { ...people, map: { profileUrl: 'LinkedIn URL' } })).csv.warnings).toEqual([])
    const few =
      'profnet_url,notes\nprofnet.com/in/a,see profnet.com/in/b\nprofnet.com/in/c,profnet.com/in/d\n'
    expect((await opened(few)).csv.warnings).toEqual([])
  })
})

test('the reading names each column, counts its values, and shows three rows before and after', async () => {
  const { csv } = await opened(
    'LinkedIn URL;E-Mail;Owner\n' +
      'https://DE.profnet.com/in/Ada-M/?x=1;ADA@Acme.example;me\n' +
      'ragged;row\n' +
      'n/a;"Bo <bo@acme.example>";me\n' +
      'nothing;;me\n' +
      'profnet.com/in/four;four@acme.example;me\n',
    { ...people, map: { profileUrl: 'LinkedIn URL' } },
  )
  expect(csv.reading).toEqual({
    columns: [
      { field: 'profile', column: 'LinkedIn URL', by: '--map', rows: 3 },
      { field: 'email', column: 'E-Mail', by: 'name', rows: 3 },
    ],
    unread: ['Owner'],
    samples: [
      {
        line: 2,
        cells: [
          { field: 'profile', from: 'https://DE.profnet.com/in/Ada-M/?x=1', to: 'profnet.com/in/ada-m' },
          { field: 'email', from: 'ADA@Acme.example', to: 'ada@acme.example' },
        ],
      },
      {
        line: 4,
        cells: [
          { field: 'profile', from: 'n/a', to: null },
          { field: 'email', from: 'Bo <bo@acme.example>', to: 'bo@acme.example' },
        ],
      },
      {
        line: 5,
        cells: [
          { field: 'profile', from: 'nothing', to: null, problem: 'it has no host name' },
          { field: 'email', from: '', to: null },
        ],
      },
    ],
  })
})
