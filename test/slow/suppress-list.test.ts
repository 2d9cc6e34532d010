import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createAuditLog } from '../../src/store/access/audit.ts'
import { openDatabase } from '../../src/store/database/database.ts'
import { paydirt } from '../support/cli.ts'
import { layLedger } from '../support/ledger-template.ts'
import { freshStores, type FreshStores } from '../support/stores.ts'

const main = join(import.meta.dirname, '../../src/cli/main.ts')
let stores: FreshStores

beforeAll(async () => {
  stores = await freshStores()
  await layLedger(join(stores.dataDir, 'data'))
})
afterAll(() => stores.cleanup())

const suppress = (...args: string[]) => paydirt(['suppress', ...args], { stores })
const write = (name: string, text: string) => writeFile(join(stores.dataDir, name), text)

/** The same from standard input, which the other commands are not given. */
async function suppressFrom(input: string, ...args: string[]) {
  const { PATH, HOME } = process.env
  const child = spawn(process.execPath, [main, 'suppress', ...args], {
    cwd: stores.dataDir,
    env: {
      PATH,
      HOME,
      PAYDIRT_DATA_DIR: join(stores.dataDir, 'data'),
      ...(stores.databaseUrl === undefined ? {} : { DATABASE_URL: stores.databaseUrl }),
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const out: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk))
  child.stdin.end(input)
  const [status] = (await once(child, 'close')) as [number]
  return { status, document: JSON.parse(Buffer.concat(out).toString()) as unknown }
}

test('a list is put on and taken off as a whole, from a file and from standard input', async () => {
  // More than one statement could name one by one.
  const many = Array.from({ length: 30_000 }, (_, index) => `p${index}@acme.test`)
  await write(
    'many.csv',
    `Name,E-Mail,Website\n${many.map((email) => `x,${email},acme.test`).join('\n')}\nNobody,,\n`,
  )
  const added = await suppress('add', 'many.csv', '--domain', 'evil.test', '--json')
  expect(added.status).toBe(0)
  expect(added.json()).toEqual({
    added: 30_001,
    given: 30_001,
    list: { email: 30_000, phone: 0, profile_url: 0, domain: 0 },
    blankRows: 1,
  })
  expect(added.stderr).toContain('columns that were ignored: "Name", "Website"')
  expect(added.stderr).toContain('1 row without an identifier (line 30002)')

  await write('bad.txt', 'new@acme.test\nnonsense\n')
  const refused = await suppress('add', 'bad.txt')
  expect(refused).toMatchObject({ status: 2, stdout: '' })
  expect(refused.stderr).toMatch(/^paydirt: bad\.txt: nothing was done.*\n {2}line 2: /)

  expect(await suppressFrom('P1@acme.test\np2@acme.test\nnew@acme.test\n', 'remove', '-', '--json')).toEqual({
    status: 0,
    document: { removed: 2, given: 3, list: { email: 3, phone: 0, profile_url: 0, domain: 0 }, blankRows: 0 },
  })

  const database = await openDatabase({
    dataDir: join(stores.dataDir, 'data'),
    ...(stores.databaseUrl === undefined ? {} : { url: stores.databaseUrl }),
  })
  try {
    const { count } = database.db.fn
    const listed = database.db.selectFrom('suppressions').select(count<bigint>('kind').as('count'))
    expect(Number((await listed.executeTakeFirstOrThrow()).count)).toBe(29_999)
    const rows = await createAuditLog(database.db, { now: () => new Date() }).list(10)
    expect(rows.map(({ action, details }) => [action, details])).toEqual([
      ['suppress.remove', { removed: 2, given: 3 }],
      ['suppress.add', { added: 30_001, given: 30_001 }],
    ])
  } finally {
    await database.close()
  }
})
