import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { InputError } from '../../domain/errors.ts'
import { parseIdentifiers, readSuppressionText } from './suppression-file.ts'

const columns = { networkName: 'profnet', synonyms: {} }
const read = (text: string, more: Partial<typeof columns> = {}) =>
  parseIdentifiers({ name: 'list.csv', text }, { ...columns, ...more })
const identifiersIn = (text: string, more?: Partial<typeof columns>) =>
  read(text, more).identifiers.map(({ kind, value }) => `${kind} ${value}`)

function refusal(text: string): string {
  try {
    read(text)
  } catch (error) {
    expect(error).toBeInstanceOf(InputError)
    return (error as InputError).message
  }
  throw new Error('it was read')
}

describe('a CSV', () => {
  test('is read by the names of its columns, in whatever dialect', () => {
    const wanted = [
      'email ada@acme.test',
      'phone +4930901820',
      'profile_url profnet.com/in/ada',
      'domain acme.de',
    ]
    const rows = ['ada@ACME.test', '+49 30 901820', 'https://www.profnet.com/in/Ada/?x=1', 'www.acme.de']
    expect(identifiersIn(`email,phone,profile_url,domain\n${rows.join(',')}\n`)).toEqual(wanted)
    expect(identifiersIn(`\n"E-Mail";Mobile;Person profnet URL;Domain\r\n${rows.join(';')}\r\n`)).toEqual(
      wanted,
    )
    expect(
      identifiersIn(
        `Opt-out,Ada\n`.replace('Opt-out,Ada', 'work_email\tcompany_profnet_url') +
          'ada@acme.test\thttps://profnet.com/company/acme',
      ),
    ).toEqual(['email ada@acme.test', 'profile_url profnet.com/company/acme'])
  })

  test('may begin with the line of a spreadsheet, and have words for nothing', () => {
    expect(identifiersIn('sep=;\r\nemail;domain\r\nada@acme.test;n/a\r\n-;acme.de\r\n')).toEqual([
      'email ada@acme.test',
      'domain acme.de',
    ])
  })

  test('may hold one column, names of the config, and the word of the network', () => {
    expect(identifiersIn('email\nada@acme.test\n')).toEqual(['email ada@acme.test'])
    expect(identifiersIn('Adresse\nada@acme.test\n', { synonyms: { email: ['adresse'] } })).toEqual([
      'email ada@acme.test',
    ])
    expect(identifiersIn('nexus_url\nhttps://nexus.com/in/ada\n', { networkName: 'nexus' })).toEqual([
      'profile_url nexus.com/in/ada',
    ])
  })

  test('does not keep out everybody at the employers of those whom it names', () => {
    const list = read('email,website,company domain\nada@acme.test,https://acme.test,acme.test\n')
    expect(list.identifiers).toEqual([{ kind: 'email', value: 'ada@acme.test' }])
    expect(list.ignored).toEqual(['website', 'company domain'])
  })

  test('returns each identifier once, and reports rows without one', () => {
    const list = read('name,email\nAda,ada@acme.test\nAda B.,ADA@acme.test\n\n"C\nD",\nE,e@acme.test\nF,\n')
    expect(list.counts).toEqual({ email: 2, phone: 0, profile_url: 0, domain: 0 })
    expect(list.blankLines).toEqual([5, 8])
  })

  test('of which anything cannot be read is refused whole, by line and never by value', () => {
    const message = refusal(
      'email,phone\nada@acme.test,+49 30 901820\nsecret at acme,\n"b@acme.test",030 901820\nc@acme.test\n',
    )
    expect(message).toMatch(/^list\.csv: nothing was done/)
    expect(message).toMatch(/\n {2}line 3, column email: /)
    expect(message).toMatch(/\n {2}line 4, column phone: it is not a phone number with its country prefix/)
    expect(message).toMatch(/\n {2}line 5: 1 cells where the header has 2$/)
    expect(message).not.toMatch(/secret|901820|c@acme/)
  })

  test('with many mistakes tells the first of them', () => {
    const message = refusal(`email\n${'x\n'.repeat(50)}`)
    expect(message.split('\n')).toHaveLength(22)
    expect(message).toMatch(/and 30 more$/)
  })

  test('whose quote is never closed is refused by its line', () => {
    expect(refusal('email,name\na@acme.test,a\n"b@acme.test,b\nc@acme.test,c\n')).toMatch(
      /^list\.csv, line \d: a row cannot be read \(CSV_QUOTE_NOT_CLOSED\)/,
    )
  })
})

describe('a list of lines', () => {
  test('tells by its form what each is', () => {
    expect(
      identifiersIn(
        'ada@acme.test\r\n\r\n  +49 30 901820\r\nprofnet.com/in/ada\r\nhttps://profnet.com/company/acme\r\nhttps://www.acme.de/\r\nacme.co.uk',
      ),
    ).toEqual([
      'email ada@acme.test',
      'phone +4930901820',
      'profile_url profnet.com/in/ada',
      'profile_url profnet.com/company/acme',
      'domain acme.de',
      'domain acme.co.uk',
    ])
  })

  test.each([
    ['a profile without a name must not stand for everybody at the network', 'https://profnet.com/in/'],
    ['nor a page of another kind', 'https://profnet.com/school/acme'],
    ['a public suffix has too many below it', 'co.uk'],
    ['a name is no mark', 'Ada Lovelace'],
    ['nor are two in one line', 'ada@acme.test,bob@acme.test'],
    ['a number without its country could be anybody’s', '030 901820'],
  ])('%s', (_, line) => {
    expect(refusal(`good@acme.test\n${line}\n`)).toMatch(/^list\.csv: nothing was done.*\n {2}line 2: it /)
  })

  test('says what a header may be when the first line is none', () => {
    expect(refusal('Kontakt,Datum\nada@acme.test,2026\n')).toMatch(
      /line 1: .*header: email, phone, profile_url, domain/,
    )
  })

  test.each(['', '\n\n', 'email\n', 'email\n""\n'])('without an identifier is refused: %j', (text) => {
    expect(refusal(text)).toBe('list.csv: it has no identifiers')
  })
})

describe('a file', () => {
  async function textOf(bytes: string | Buffer): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'marks-'))
    try {
      await writeFile(join(folder, 'list'), bytes)
      return (await readSuppressionText(join(folder, 'list'))).text
    } finally {
      await rm(folder, { recursive: true })
    }
  }

  test('may begin with a byte order mark, and be UTF-16 with one', async () => {
    expect(await textOf('\ufeffemail')).toBe('email')
    expect(await textOf(Buffer.from('\ufeffemail', 'utf16le'))).toBe('email')
    expect(await textOf(Buffer.from('\ufeffemail', 'utf16le').swap16())).toBe('email')
  })

  test('that is not text is refused by its line, and one that is not there by its name', async () => {
    const latin1 = Buffer.from('email\nada@acme.test\nj\xfcrgen@acme.test\n', 'latin1')
    await expect(textOf(latin1)).rejects.toThrow(/list, line 3: it is not UTF-8/)
    await expect(readSuppressionText('/nowhere/list.csv')).rejects.toThrow(
      /^\/nowhere\/list\.csv: it cannot be read \(ENOENT\)$/,
    )
    for (const [given, option] of [
      ['nobody@nowhere.test', '--email'],
      ['nowhere.test', '--domain'],
      ['+49 30 1234567', '--phone'],
      ['https://nowhere.test/in/nobody', '--profile-url'],
    ] as const)
      await expect(readSuppressionText(given)).rejects.toThrow(`${option} names one identifier`)
  })
})
