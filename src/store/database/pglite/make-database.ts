import { readdirSync } from 'node:fs'
import { mkdir, rename, rm, rmdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { ConfigError } from '../../../domain/errors.ts'
import { isThere } from '../../pages/folders.ts'
import { collectGarbage } from './collect-garbage.ts'
import { LedgerFiles } from './files.ts'
import { compileAnew, withoutOptimising } from './module.ts'

/**
 * Two other programs of Postgres make a database, each with a memory of its own: small here, as a fresh database is. It stays in the
 * settings of the folder; those of the ledger are said at each start.
 */
const small = ['-c', 'shared_buffers=2MB']

/** The last two files of a database that is made, in the order in which earlier versions wrote them. */
const lastFiles = ['PG_VERSION', 'postgresql.conf']

/** Postgres gives its own tables smaller numbers. */
const firstOwn = 16_384

/** Returns the folder of a data directory's database. Where there is none yet, a new one is made. The caller holds the lock. */
export async function databaseFolder(dataDir: string): Promise<string> {
  const folder = join(dataDir, 'pglite')
  if (isWhole(folder)) return folder
  await makeDatabase(dataDir, folder)
  // Nothing else tells V8 that 200 MB outside of its heap are garbage.
  collectGarbage()
  return folder
}

/**
 * Makes a database in a folder beside the one that it is for, and renames it once it is whole. Killed before that, the process leaves
 * a folder that the next one begins anew; killed in the place itself it left a database that could not be opened. A power cut is
 * another matter: nothing is flushed, as PGlite flushes nothing.
 *
 * V8 is told to optimise none of it: what it takes for that, 150 MB, is lost on programs that run once. What is optimised is decided
 * for all instances of a module, so this one is its own. A program that opens another ledger in the same moment has functions that it
 * calls first then left as they are, for as long as it runs.
 */
async function makeDatabase(dataDir: string, folder: string): Promise<void> {
  assertNoLedger(folder)
  const making = join(dataDir, 'pglite.making')
  await rm(making, { recursive: true, force: true })
  await mkdir(making, { mode: 0o700 })
  const module = await compileAnew().catch(() => undefined)
  const make = async (): Promise<void> => {
    const made = await PGlite.create({
      fs: new LedgerFiles(making),
      ...(module && { pgliteWasmModule: module }),
      initDbStartParams: small,
      startParams: [...PGlite.defaultStartParams, ...small],
    })
    await made.close()
  }
  // Without a module of its own it is that of the ledger.
  await (module ? withoutOptimising(make) : make())
  await setAside(folder)
  await rename(making, folder)
}

function isWhole(folder: string): boolean {
  return lastFiles.every((name) => isThere(join(folder, name)))
}

/** Throws where the folder has tables of a ledger: one whose files were lost, or are still being copied, is not to be replaced. */
function assertNoLedger(folder: string): void {
  if (!isThere(folder)) return
  const own =
    isThere(join(folder, 'paydirt_pages')) ||
    tableFiles(folder).some((name) => Number.parseInt(name, 10) >= firstOwn)
  if (!own) return
  const missing = lastFiles.filter((name) => !isThere(join(folder, name))).join(' and ')
  throw new ConfigError(
    'ledger_incomplete',
    `${folder} holds a ledger without its ${missing}: wait until it is copied, or restore it from a backup. To begin a new one, name another folder with PAYDIRT_DATA_DIR`,
  )
}

function tableFiles(folder: string): string[] {
  const base = join(folder, 'base')
  return isThere(base)
    ? readdirSync(base, { recursive: true, encoding: 'utf8' }).map((path) => basename(path))
    : []
}

/** Earlier versions made a database in its place: what is there without being one stays, under another name. */
async function setAside(folder: string): Promise<void> {
  try {
    await rmdir(folder)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return
    if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error
    assertNoLedger(folder)
    let number = 1
    while (isThere(`${folder}.unfinished-${number}`)) number += 1
    await rename(folder, `${folder}.unfinished-${number}`)
  }
}
