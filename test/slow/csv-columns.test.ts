import { afterAll, beforeAll, expect, test } from 'vitest'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openDesk, type Desk } from '../support/cli.ts'

let sandbox: Sandbox
let desk: Desk

beforeAll(async () => {
  sandbox = await startSandbox()
  desk = await openDesk(sandbox)
})
afterAll(async () => {
  await desk.close()
  await sandbox.stop()
})

/** A spreadsheet's export of leads: Windows-1252, semicolons, names that are not known, words for nothing, ragged lines. */
const messy = Buffer.from(
  [
    'sep=;',
    'LinkedIn URL;Kontakt;Größe',
    'https://DE.profnet.example/in/Ada-Moreau/?trk=x;ADA@Moreau.example;groß',
    'n/a;-;klein',
    'https://www.profnet.example/in/jonas-weber;jonas@weber.example',
    'https://www.profnet.example/company/acme;;mittel',
    'https://www.profnet.example/in/jonas-weber;jonas@weber.example;klein',
    'https://www.profnet.example/in/ada-moreau;;',
    'x;y;z;too many',
    'https://www.profnet.example/in/jonas-weber;jonas@weber.example',
    '',
  ].join('\r\n'),
  'latin1',
)
const csv = (...args: string[]) => desk.run(['csv', 'leads export.csv', '--object', 'person', ...args])
const encoding = ['--encoding', 'windows-1252']
/** The words of a printed command, as a shell takes them. */
const wordsOf = (command: string) =>
  [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '').slice(1)

test('a messy export is read by following what each message says', async () => {
  await desk.write('leads export.csv', messy)
  const first = await csv('--plan')
  expect(first).toMatchObject({ status: 2, stdout: '' })
  expect(first.stderr).toMatch(/line 2: byte 0xF6 is not UTF-8; .*add --encoding windows-1252/)

  const second = await csv('--plan', ...encoding)
  expect(second).toMatchObject({ status: 2, stdout: '' })
  const proposed = /add (--map .*)$/.exec(second.stderr.trimEnd())?.[1] ?? ''
  expect(proposed).toBe(`--map 'profile=LinkedIn URL' --map email=Kontakt`)
  const map = wordsOf(`x ${proposed}`)

  const third = await csv('--plan', ...encoding, ...map)
  expect(third.status).toBe(0)
  expect(third.stdout).toContain(
    [
      'leads export.csv: 8 rows, windows-1252, separated by semicolons; 3 with too few or too many cells',
      '  profile     LinkedIn URL  4 of 8 rows (--map)',
      '  email       Kontakt       2 of 8 rows (--map)',
      '  not read    Größe',
      '  line 3      profile     https://DE.profnet.example/in/Ada-Moreau/?trk=x → profnet.com/in/ada-moreau',
      '              email       ADA@Moreau.example → ada@moreau.example',
      '  line 4      profile     n/a → (blank)',
      '              email       - → (blank)',
      '  line 6      profile     https://www.profnet.example/company/acme → not read: it is the profile of a company, not of a person',
      '              email       (blank)',
      '  2 rejected: too few cells, 2 where the header has 3 (first in line 5)',
      '  1 skipped: no profile URL to look up by (line 4)',
      '  1 rejected: broken profile URL: it is the profile of a company, not of a person (line 6)',
      '  1 rejected: too many cells, 4 where the header has 3 (line 9)',
      '',
    ].join('\n'),
  )

  // The plan's own command carries it out as it is printed: same columns, same encoding.
  const command = /`(paydirt apply [^`]+)`/.exec(third.stdout)?.[1] ?? ''
  expect(command).toMatch(/^paydirt apply p\w+ --out 'leads export-enriched\.csv'$/)
  const bare = await desk.run(['apply', wordsOf(command)[1] ?? ''])
  expect(bare.status).toBe(2)
  expect(bare.stderr).toContain(command)
  const applied = await desk.run(wordsOf(command))
  expect(applied.status).toBe(0)
  expect(applied.stdout).toMatch(/^ {2}written +\d/m)
  expect(applied.stdout).not.toMatch(/^ {2}filled/m)
  expect(applied.stdout).toContain('2 rejected: too few cells, 2 where the header has 3 (first in line 5)')
  const out = await desk.read('leads export-enriched.csv')
  expect(out.startsWith('\ufeffsep=;\r\nLinkedIn URL;Kontakt;Größe;')).toBe(true)
  expect(out).toContain('Ada-Moreau/?trk=x;ADA@Moreau.example;groß;')
  expect(out).toContain('"line 5: too few cells, 2 where the header has 3"'.replaceAll('"', ''))

  // The head of a run names the columns, and no value of a row where it may be a log.
  const run = await csv('--out', 'again.csv', '--json', ...encoding, ...map)
  expect(run.status).toBe(0)
  expect(run.stderr).toContain('  profile     LinkedIn URL  4 of 8 rows (--map)\n')
  expect(run.stderr).not.toContain('moreau')
  expect(run.json()).toMatchObject({ lookups: { paid: 0 } })

  const runs = await desk.run(['runs', '--json'])
  expect(runs.json()).toEqual([
    expect.objectContaining({ connector: 'csv', file: 'leads export.csv' }),
    expect.objectContaining({ connector: 'csv', file: 'leads export.csv' }),
  ])
  expect((await desk.run(['runs'])).stdout).toContain('leads export.csv')
})

test('an existing file is replaced with --force, or as the unedited output of the same input', async () => {
  await desk.write('in.csv', 'profnet_url\nhttps://www.profnet.example/in/ada-moreau\n')
  await desk.write('other.csv', 'profnet_url\nhttps://www.profnet.example/in/jonas-weber\n')
  await desk.write('precious.csv', 'mine')
  const run = (file: string, out: string, ...args: string[]) =>
    desk.run(['csv', file, '--object', 'person', '--out', out, '--json', ...args])
  const paid = (await desk.transfers()).length

  const refused = await run('in.csv', 'precious.csv')
  expect(refused).toMatchObject({ status: 2, stdout: '' })
  expect(refused.stderr).toContain(
    'precious.csv: there is a file of this name already. Name another file with --out, or add --force to replace it',
  )
  expect(await desk.read('precious.csv')).toBe('mine')
  expect((await desk.transfers()).length).toBe(paid)
  expect((await run('in.csv', 'precious.csv', '--force')).status).toBe(0)
  expect(await desk.read('precious.csv')).toContain('paydirt_status')

  // The same command again, also when the input has grown.
  expect((await run('in.csv', 'out.csv')).status).toBe(0)
  expect((await run('in.csv', 'out.csv')).status).toBe(0)
  await desk.write('in.csv', 'profnet_url\nhttps://www.profnet.example/in/ada-moreau\n\n')
  expect((await run('in.csv', 'out.csv')).status).toBe(0)

  expect((await run('other.csv', 'out.csv')).stderr).toContain(
    'out.csv: there is a file of this name already',
  )
  await desk.write('out.csv', `${await desk.read('out.csv')}edited\n`)
  const edited = await run('in.csv', 'out.csv')
  expect(edited.status).toBe(2)
  expect(edited.stderr).toMatch(/out\.csv: run r\w+ wrote it, and it has been changed since\. .*--force/)

  const plan = await desk.run(['csv', 'in.csv', '--object', 'person', '--plan', '--json'])
  const { apply } = plan.json<{ apply: string }>()
  await desk.write('in-enriched.csv', 'appeared')
  expect((await desk.run(wordsOf(apply))).stderr).toContain(
    'in-enriched.csv: there is a file of this name already',
  )
  expect((await desk.run([...wordsOf(apply), '--force'])).status).toBe(0)
})

test('a run goes on only under the columns under which it began', async () => {
  await desk.write(
    'two.csv',
    'Private,Work,email\nhttps://www.profnet.example/in/a-one,https://www.profnet.example/in/b-one,x@y.example\n',
  )
  const run = (map: string, ...args: string[]) =>
    desk.run(
      ['csv', 'two.csv', '--object', 'person', '--map', map, '--out', `${map.slice(8)}.csv`, '--json'],
      args.length > 0 ? { PAYDIRT_MAX_PRICE_USD: args[0] } : {},
    )
  const parked = await run('profile=Private', '0.000001')
  expect(parked).toMatchObject({ status: 3 })
  const other = await run('profile=Work')
  expect(other.status).toBe(0)
  expect(other.json<{ runId: string }>().runId).not.toBe(parked.json<{ runId: string }>().runId)
  const same = await run('profile=Private')
  expect(same.json<{ runId: string }>().runId).toBe(parked.json<{ runId: string }>().runId)
})
