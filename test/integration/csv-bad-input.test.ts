import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
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

const good = 'name,profnet_url\nAcme,https://www.profnet.example/company/acme\n'
const utf16 = (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le')

describe('a file that cannot be used', () => {
  test.each<[what: string, name: string, content: string | Buffer, message: RegExp, object?: string]>([
    ['is empty', 'empty.csv', '', /^paydirt: empty\.csv, line 1: the file is empty/],
    [
      'is not text',
      'sheet.csv',
      Buffer.from('504b030414000600080000002100', 'hex'),
      /^paydirt: sheet\.csv, line 1: it is .* not text/,
    ],
    [
      'is not UTF-8',
      'latin.csv',
      Buffer.from(`${good}Caf\xe9,https://www.profnet.example/company/cafe\n`, 'latin1'),
      /^paydirt: latin\.csv, line 3: byte 0xE9 is not UTF-8/,
    ],
    [
      'has a column twice',
      'twice.csv',
      'profnet_url,name,Profnet URL\na,b,c\n',
      /^paydirt: twice\.csv, line 1: columns 1 \("profnet_url"\) and 3 \("Profnet URL"\) have the same name: choose one by its place, such as --map 'profile=#1'/,
    ],
    [
      'has a quote left open',
      'quote.csv',
      `${good}"Beta,https://www.profnet.example/company/beta\n`,
      /^paydirt: quote\.csv, line 3: the quote that opens in column 1 is never closed/,
    ],
    [
      'has no column that is known',
      'unknown.csv',
      'a,b\n1,2\n',
      /^paydirt: unknown\.csv, line 1: no column tells which company/,
    ],
    [
      'holds the other kind of record',
      'people.csv',
      'profnet_url\nhttps://www.profnet.example/in/ada\n',
      /^paydirt: people\.csv: .*is --object person meant\?/,
    ],
  ])(
    '%s: exit status 2, one line that says where, nothing on standard output',
    async (_, name, content, message) => {
      await desk.write(name, content)
      const ended = await desk.run(['csv', name, '--object', 'company', '--out', 'never.csv', '--json'])
      expect(ended).toMatchObject({ status: 2, stdout: '' })
      expect(ended.stderr).toMatch(message)
      expect(ended.stderr.trimEnd().split('\n')).toHaveLength(1)
      expect(existsSync(desk.at('never.csv'))).toBe(false)
      expect(sandbox.stats().requests).toBe(0)
    },
  )
})

describe('a command line that cannot be right', () => {
  test.each<[what: string, args: string[], message: RegExp]>([
    [
      'no such object',
      ['csv', 'good.csv', '--object', 'deal', '--out', 'x.csv'],
      /'deal' is invalid.*must be company or person/s,
    ],
    [
      'no such file',
      ['csv', 'none.csv', '--object', 'company', '--out', 'x.csv'],
      /none\.csv: .*(no such|not exist|there is no)/,
    ],
    [
      'the input as the output',
      ['csv', 'good.csv', '--object', 'company', '--out', './good.csv'],
      /input file itself/,
    ],
    ['no such command', ['cvs'], /unknown command 'cvs'/],
  ])('%s: exit status 2', async (_, args, message) => {
    await desk.write('good.csv', good)
    const ended = await desk.run(args)
    expect(ended).toMatchObject({ status: 2, stdout: '' })
    expect(ended.stderr).toMatch(message)
    expect(await desk.read('good.csv')).toBe(good)
  })
})

describe('a setting that is garbage is refused by its name, and its value is kept to itself', () => {
  test.each<[name: string, value: string]>([
    ['PAYDIRT_WALLET_KEY', '0xsecret'],
    ['DATABASE_URL', 'mysql://secret@db'],
  ])('%s', async (name, value) => {
    await desk.write('good.csv', good)
    const ended = await desk.run(['csv', 'good.csv', '--object', 'company', '--out', 'x.csv'], {
      [name]: value,
    })
    expect(ended).toMatchObject({ status: 2, stdout: '' })
    expect(ended.stderr).toContain(`paydirt: ${name} `)
    expect(ended.stderr).not.toContain('secret')
  })
})

describe('what does not answer is named by its address', () => {
  let nobody: string
  beforeAll(async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    nobody = `127.0.0.1:${(server.address() as AddressInfo).port}`
    server.close()
    await once(server, 'close')
  })

  test.each<[what: string, env: (address: string) => Record<string, string | undefined>]>([
    ['service', (address) => ({ PAYDIRT_SERVICE_URL: `http://${address}` })],
    ['chain', (address) => ({ PAYDIRT_RPC_URL: `http://user:secret@${address}` })],
    ['Redis', (address) => ({ REDIS_URL: `redis://:secret@${address}` })],
    ['database', (address) => ({ DATABASE_URL: `postgres://user:secret@${address}/paydirt` })],
  ])('the %s', async (_, env) => {
    await desk.write('good.csv', good)
    const settings = env(nobody)
    const ended = await desk.run(
      ['csv', 'good.csv', '--object', 'company', '--out', 'x.csv', '--json'],
      settings,
    )
    expect(ended).toMatchObject({ status: 2, stdout: '' })
    expect(ended.stderr).toContain(nobody)
    expect(ended.stderr).toContain(Object.keys(settings)[0])
    expect(ended.stderr).not.toContain('secret')
  })

  test('and a wallet that is not set by the name of its variable', async () => {
    await desk.write('good.csv', good)
    const ended = await desk.run(['csv', 'good.csv', '--object', 'company', '--out', 'x.csv'], {
      PAYDIRT_WALLET_KEY: undefined,
    })
    expect(ended).toMatchObject({ status: 2, stdout: '' })
    expect(ended.stderr).toContain('PAYDIRT_WALLET_KEY')
  })

  test('and none of these starts leaves a run', async () => {
    expect((await desk.run(['runs', '--json'])).json()).toEqual([])
  })
})

describe('a data directory that cannot be one is named with its setting', () => {
  test.each<[what: string, below: string, why: RegExp]>([
    ['a file', 'file', /file is a file, not a folder.*PAYDIRT_DATA_DIR/],
    ['below a file', 'file/data', /data is below a file, not in a folder.*PAYDIRT_DATA_DIR/],
  ])('%s', async (_, below, why) => {
    await desk.write('file', 'not a folder')
    await desk.write('good.csv', good)
    const env = { PAYDIRT_DATA_DIR: desk.at(below), DATABASE_URL: undefined }
    for (const args of [
      ['csv', 'good.csv', '--object', 'company', '--out', 'x.csv'],
      ['wallet', 'new'],
    ]) {
      const ended = await desk.run(args, env)
      expect(ended).toMatchObject({ status: 2, stdout: '' })
      expect(ended.stderr).toMatch(why)
      expect(ended.stderr.trimEnd().split('\n')).toHaveLength(1)
    }
  })
})

test('rows that cannot be used come out rejected with their reason, and the others are enriched', async () => {
  const lines = [
    '\ufeffProfnet_URL;Name;Note',
    'https://www.profnet.example/company/row-one;One;',
    ';No URL;kept',
    'not a url at all;Broken;',
    'https://www.profnet.example/in/somebody;A person;',
    'https://www.profnet.example/company/too-few;Ragged',
    'https://www.profnet.example/company/too-many;Ragged;a;b',
    'https://www.profnet.example/company/%ff%ff;Wrongly escaped;',
    '',
    'https://www.profnet.example/company/row-two;"Two; quoted\nover lines";end',
  ]
  await desk.write('rows.csv', `${lines.join('\r\n')}\r\n`)
  const ended = await desk.run(['csv', 'rows.csv', '--object', 'company', '--out', 'rows-out.csv', '--json'])
  expect(ended.status).toBe(0)
  const summary = JSON.parse(ended.stdout) as { tasks: object; lookups: object }
  expect(ended.stdout.trimEnd().split('\n')).toHaveLength(1)
  expect(summary).toMatchObject({
    records: 8,
    lookups: { unique: 2, paid: 2, duplicates: 0 },
    tasks: { skipped: 1, rejected: 5, parked: 0 },
  })
  expect(await desk.transfers()).toHaveLength(2)
  const out = (await desk.read('rows-out.csv')).replace('\ufeff', '').split('\r\n')
  const results = out
    .slice(1)
    .map((line) => /(written|unchanged|skipped|rejected);([^;]*);[^;]*$/.exec(line)?.slice(1, 3))
  expect(results.slice(0, 7)).toEqual([
    [expect.stringMatching(/written|unchanged/), expect.any(String)],
    ['skipped', expect.stringContaining('no profile URL')],
    ['rejected', expect.stringContaining('white space')],
    ['rejected', expect.stringContaining('profile of a person')],
    ['rejected', expect.stringContaining('line 6: too few cells, 2 where the header has 3')],
    ['rejected', expect.stringContaining('line 7: too many cells, 4 where the header has 3')],
    ['rejected', expect.stringContaining('percent-encoded')],
  ])
  for (const [index, line] of lines.slice(1, 5).entries())
    expect(out[index + 1]).toContain(line.replace(/;$/, ''))
})

test('a file in UTF-16, as spreadsheets write it, is read', async () => {
  await desk.write(
    'wide.csv',
    utf16('profnet_url\tname\r\nhttps://www.profnet.example/company/row-one\tÉin\r\n'),
  )
  const plan = await desk.run(['csv', 'wide.csv', '--object', 'company', '--plan', '--json'])
  expect(plan.status).toBe(0)
  expect(plan.json()).toMatchObject({ records: 1, lookups: { unique: 1, cached: 1, toBuy: 0 } })
})
