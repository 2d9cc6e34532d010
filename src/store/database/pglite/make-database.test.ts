import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { sized } from '../../../../test/support/full-size.ts'
import { openDatabase } from '../database.ts'
import { compileAnew, pgliteModule } from './module.ts'

let dataDir: string

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'paydirt-making-'))
})

afterEach(() => rm(dataDir, { recursive: true, force: true }))

/** Files from its beginning, its middle and its end, and its name. */
const places = ['PG_VERSION', '/base/4/1259', 'postgresql.conf', '/pglite']

test.each(places.slice(sized(0, 2)))(
  'a process that is killed at %s while it makes a ledger leaves none, and the next one makes it',
  async (killAt) => {
    await expect(make(killAt)).rejects.toMatchObject({ signal: 'SIGKILL' })
    expect(existsSync(join(dataDir, 'pglite'))).toBe(false)
    await opens()
    expect(folders()).toEqual(['pglite'])
  },
  60_000,
)

test('what an earlier version has left half made stays under another name', async () => {
  mkdirSync(join(dataDir, 'pglite', 'base'), { recursive: true })
  writeFileSync(join(dataDir, 'pglite', 'base', 'left'), '')
  await opens()
  expect(folders()).toEqual(['pglite', 'pglite.unfinished-1'])
  expect(readdirSync(join(dataDir, 'pglite.unfinished-1', 'base'))).toEqual(['left'])
}, 60_000)

test('a ledger that has lost a file is not replaced', async () => {
  const table = join(dataDir, 'pglite', 'base', '5', '16384')
  mkdirSync(join(table, '..'), { recursive: true })
  writeFileSync(table, 'rows')
  await expect(openDatabase({ dataDir })).rejects.toMatchObject({ code: 'ledger_incomplete' })
  expect(readdirSync(join(table, '..'))).toEqual(['16384'])
  expect(folders()).toEqual(['pglite'])
})

test('a ledger that cannot be looked at is not replaced', async () => {
  symlinkSync('pglite', join(dataDir, 'pglite'))
  await expect(openDatabase({ dataDir })).rejects.toMatchObject({ code: 'ELOOP' })
  expect(folders()).toEqual(['pglite'])
})

test('the module that makes a ledger shares nothing with the one that runs it', async () => {
  expect(sectionsOf(await compileAnew())).toHaveLength(1)
  expect(sectionsOf(await pgliteModule())).toHaveLength(0)
})

test('a ledger is made with none of the memory in which V8 optimises', async () => {
  mkdirSync(join(dataDir, 'pglite'))
  expect(await make()).toBeLessThan(250)
  expect(folders()).toEqual(['pglite'])
}, 60_000)

/** The sections of a module by the name of the one that V8 skips. Node's types leave the function out. */
function sectionsOf(module: unknown): unknown[] {
  const { Module } = WebAssembly as unknown as {
    Module: { customSections: (module: unknown, name: string) => unknown[] }
  }
  return Module.customSections(module, 'a')
}

async function make(...killAt: string[]): Promise<number> {
  const program = join(import.meta.dirname, 'making.fixture.ts')
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--no-warnings',
    program,
    dataDir,
    ...killAt,
  ])
  return Number(stdout)
}

async function opens(): Promise<void> {
  const { db, close } = await openDatabase({ dataDir })
  expect((await sql<{ one: number }>`select 1 as one`.execute(db)).rows).toEqual([{ one: 1 }])
  await close()
}

const folders = (): string[] => readdirSync(dataDir).filter((name) => name.startsWith('pglite'))
