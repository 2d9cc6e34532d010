import { chmod, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { openDatabase } from './database.ts'
import { makePrivate } from './private-files.ts'

async function scratch(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'paydirt-private-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  return directory
}

/** Returns what others may do with anything in a directory, by path. */
async function openToOthers(directory: string): Promise<Record<string, string>> {
  const names = await readdir(directory, { recursive: true })
  const modes = await Promise.all(
    ['.', ...names].map(async (name) => [name, (await stat(join(directory, name))).mode & 0o7777] as const),
  )
  return Object.fromEntries(
    modes.filter(([, mode]) => mode & 0o077).map(([name, mode]) => [name, mode.toString(8)]),
  )
}

test('files of an earlier version are mended', async () => {
  const data = join(await scratch(), 'data')
  await mkdir(join(data, 'pglite/pg_wal'), { recursive: true })
  await writeFile(join(data, 'pglite/pg_wal/1'), 'x')
  await writeFile(join(data, 'owner'), 'x')
  await chmod(join(data, 'pglite/pg_wal/1'), 0o666)
  await chmod(data, 0o777)
  await makePrivate(data)
  expect(await openToOthers(data)).toEqual({})
  expect((await stat(join(data, 'owner'))).mode & 0o777).toBe(0o600)
  expect((await stat(join(data, 'pglite'))).mode & 0o777).toBe(0o700)
})

test('files that the embedded ledger makes are its owner’s alone, while it runs and afterwards', async () => {
  const dataDir = join(await scratch(), 'data')
  const { db, close } = await openDatabase({ dataDir })
  await sql`create table rights as select repeat(md5(i::text), 100) as text from generate_series(1, 3000) i`.execute(
    db,
  )
  await sql`select pg_switch_wal()`.execute(db)
  await sql`checkpoint`.execute(db)
  expect(await openToOthers(dataDir)).toEqual({})
  await close()
  expect(await openToOthers(dataDir)).toEqual({})
})
