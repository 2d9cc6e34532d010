import { createHash } from 'node:crypto'
import { chmod, mkdir, readdir, readFile, stat, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { createDice } from '../../src/sandbox/random.ts'
import { openDatabase } from '../../src/store/database/database.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openDesk, type Desk } from '../support/cli.ts'
import { sized } from '../support/full-size.ts'
import { openSecondLedger } from '../support/second-ledger.ts'
import { testSeed } from '../support/seed.ts'

const rows = 'https://www.profnet.com/company/filed-1\nhttps://www.profnet.com/company/filed-2\n'

let sandbox: Sandbox
let desk: Desk
let second: Awaited<ReturnType<typeof openSecondLedger>>
let env: Record<string, string | undefined>

beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())
beforeEach(async () => {
  desk = await openDesk(sandbox)
  second = await openSecondLedger()
  env = second.env
  await desk.write('in.csv', `profnet_url\n${rows}`)
  const bought = await desk.run(['csv', 'in.csv', '--object', 'company', '--out', 'out.csv'])
  if (bought.status !== 0) throw new Error(bought.stderr)
})
afterEach(async () => {
  await desk.close()
  await second.cleanup()
})

async function backUp(): Promise<Buffer> {
  const ended = await desk.run(['backup', 'ledger.backup'])
  expect([ended.status, ended.stderr]).toEqual([0, ''])
  return readFile(desk.at('ledger.backup'))
}

/** A file whose end fits to its lines, as somebody would make who knows the format. */
function sealed(lines: readonly string[]): Buffer {
  const text = lines.map((line) => `${line}\n`).join('')
  const sha256 = createHash('sha256').update(text).digest('hex')
  return gzipSync(`${text}${JSON.stringify({ end: { lines: lines.length, sha256 } })}\n`)
}

test('a file that was cut off, changed or is another is refused before anything is begun, without a word of its rows', async () => {
  const whole = await backUp()
  const lines = gunzipSync(whole).toString().trimEnd().split('\n').slice(0, -1)
  const [header = '', ...rest] = lines
  const changed = (from: string, to: string) => lines.map((line) => line.replace(from, to))
  const charge = rest.findIndex((line) => line.includes('"table":"charges"')) + 1
  const cases: Record<string, Buffer> = {
    empty: Buffer.alloc(0),
    'a CSV': Buffer.from(`profnet_url\n${rows}`),
    'a CSV that is compressed': gzipSync(`profnet_url\n${rows}`),
    'no document': gzipSync('null\n'),
    numbers: sealed(['1', '2']),
    'another document': sealed([JSON.stringify({ format: 'other' })]),
    'no rows at all': sealed([header]),
    'rows without their end': gzipSync(`${lines.join('\n')}\n`),
    'more after its end': Buffer.concat([whole, gzipSync('{}\n')]),
    'a charge left out': sealed(lines.filter((_, index) => index !== charge + 1)),
    'another amount': sealed(changed('"settled":"0.020000"', '"settled":"0.010000"')),
    'an unknown table': sealed(changed('"table":"charges"', '"table":"pg_authid"')),
    'a row of no table': sealed([header, '["1"]', ...rest]),
    'a value of another kind': sealed([
      ...lines.slice(0, charge + 1),
      lines[charge + 1]!.replaceAll('"10000"', '"many"'),
      ...lines.slice(charge + 2),
    ]),
  }
  const dice = createDice(`${testSeed()} flips`)
  for (let flip = 0; flip < sized(60, 12); flip += 1) {
    const bytes = Buffer.from(whole)
    const at = dice.integer(10, bytes.length - 1)
    bytes[at] = bytes[at]! ^ (1 << dice.integer(0, 7))
    cases[`bit ${flip} at ${at}`] = bytes
  }
  for (const share of [0.1, 0.5, 0.99]) cases[`cut at ${share}`] = whole.subarray(0, whole.length * share)
  for (const [name, bytes] of Object.entries(cases)) {
    await writeFile(desk.at('bad.backup'), bytes)
    const ended = await desk.run(['restore', 'bad.backup'], env)
    expect({ name, status: ended.status, said: ended.stderr }).toEqual({
      name,
      status: 2,
      said: expect.stringMatching(/not a (whole )?backup of paydirt|the backup|newer paydirt/),
    })
    expect(ended.stderr).not.toMatch(/filed-|profnet/)
  }
  expect((await desk.run(['restore', 'ledger.backup'], env)).status).toBe(0)
})

test('the file is for its owner alone, whatever is there, and two at once are both whole', async () => {
  await writeFile(desk.at('open.txt'), '')
  await chmod(desk.at('open.txt'), 0o644)
  await writeFile(desk.at('ledger.backup'), '')
  await chmod(desk.at('ledger.backup'), 0o666)
  await symlink(desk.at('open.txt'), desk.at('ledger.backup.unfinished'))
  const [dead, recent] = ['0123456789ab', 'ba9876543210'].map((id) =>
    desk.at(`ledger.backup.${id}.unfinished`),
  )
  await writeFile(dead!, 'of a process that was killed')
  await utimes(dead!, new Date(0), new Date(0))
  await writeFile(recent!, 'of a process that goes on')
  await backUp()
  expect((await stat(desk.at('ledger.backup'))).mode & 0o777).toBe(0o600)
  expect(await readFile(desk.at('open.txt'), 'utf8')).toBe('')
  const left = (await readdir(desk.folder)).filter((name) => name.endsWith('.unfinished'))
  expect(left.toSorted()).toEqual(['ledger.backup.ba9876543210.unfinished', 'ledger.backup.unfinished'])

  const both = [0, 1].map(() => desk.start(['backup', 'ledger.backup']))
  for (const { ended } of both) expect([0, 2]).toContain((await ended).status)
  expect((await desk.run(['restore', 'ledger.backup'], env)).status).toBe(0)
})

test('no secret of the settings is in it: no key, token, password or signing secret', async () => {
  const secret = (name: string) => `secret-of-${name.toLowerCase().replaceAll('_', '-')}-0123456789abcdef`
  const names = [
    'HUBSPOT_ACCESS_TOKEN',
    'HUBSPOT_CLIENT_SECRET',
    'PAYDIRT_API_KEY',
    'PAYDIRT_METRICS_TOKEN',
    'PAYDIRT_MONITOR_SECRET',
    'PAYDIRT_MONITOR_SIGNING_SECRET',
  ]
  const env = {
    ...Object.fromEntries(names.map((name) => [name, secret(name)])),
    PAYDIRT_RPC_URL: `${sandbox.rpcUrl}/?key=${secret('rpc')}`,
    PAYDIRT_SERVICE_URL: `${sandbox.serviceUrl}/?key=${secret('service')}`,
  }
  const created = await desk.run(['token', 'create', 'for-a-test', '--json'])
  const { token = '' } = created.json<{ token?: string }>()
  expect(token.length).toBeGreaterThan(20)
  const ended = await desk.run(['backup', 'ledger.backup'], env)
  expect([ended.status, ended.stderr]).toEqual([0, ''])
  const text = gunzipSync(await readFile(desk.at('ledger.backup'))).toString()
  expect(text).toContain('for-a-test')
  expect(text).not.toContain('secret-of-')
  expect(text).not.toContain(token)
  expect(text.toLowerCase()).not.toContain(desk.walletKey.slice(2).toLowerCase())
  expect(text).not.toMatch(/0x[0-9a-f]{130}/i)
})

test('a place that cannot be written is named, and nothing is left there', async () => {
  await mkdir(desk.at('folder'))
  for (const [file, why] of [
    ['none/ledger.backup', 'there is no such folder'],
    ['in.csv/ledger.backup', 'there is no such folder'],
    ['folder', 'it is a folder'],
  ] as const) {
    const ended = await desk.run(['backup', file])
    expect([ended.status, ended.stderr]).toEqual([
      2,
      expect.stringContaining(`${desk.at(file)} was not written: ${why}`),
    ])
  }
  expect((await readdir(desk.folder)).filter((name) => name.endsWith('.unfinished'))).toEqual([])
})

test('tables of others in the schema are not copied, and do not stand in the way', async () => {
  const place = { url: desk.stores.databaseUrl, dataDir: join(desk.stores.dataDir, 'data') }
  const { db, close } = await openDatabase(place)
  await sql`create table spatial_ref_sys (id serial primary key, note text)`.execute(db)
  await sql`insert into spatial_ref_sys (note) values ('of somebody else')`.execute(db)
  await close()
  const text = gunzipSync(await backUp()).toString()
  expect(text).not.toContain('spatial_ref_sys')
  expect(text).toContain('"table":"charges"')
  expect((await desk.run(['restore', 'ledger.backup'], env)).status).toBe(0)
  const runs = await Promise.all([desk.run(['runs', '--json']), desk.run(['runs', '--json'], env)])
  expect(runs[1].stdout).toBe(runs[0].stdout)
})
