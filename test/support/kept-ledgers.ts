import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { PGlite as Client } from '@electric-sql/pglite'

/** An embedded database that a command of this process has closed, and that is still open. */
interface Kept {
  client: Client
  close: () => Promise<void>
  /** The state of its control file: a process that opens the database writes into it. */
  control: string
}

/** To open one costs a fifth of a second of a processor, and a test runs one command after the other on the same ledger. */
const kept = new Map<string, Kept>()
const mostKept = 2
let isKeeping = false
let isInstalled = false

/** Runs a command whose embedded database stays open for the next one. Any other opening of the same folder closes it first. */
export async function keepingLedgers<T>(work: () => Promise<T>): Promise<T> {
  if (!isInstalled) await install()
  isInstalled = true
  isKeeping = true
  try {
    return await work()
  } finally {
    isKeeping = false
  }
}

/** Closes what is kept, so that nothing of it outlives a test file. */
export async function closeKeptLedgers(): Promise<void> {
  for (const folder of kept.keys()) await closeKept(folder)
}

async function install(): Promise<void> {
  const { PGlite } = await import('@electric-sql/pglite')
  const create = PGlite.create.bind(PGlite) as (options: { fs?: { rootDir?: string } }) => Promise<Client>
  PGlite.create = (async (options: { fs?: { rootDir?: string } }) => {
    const folder = options.fs?.rootDir
    // A database that is being made is closed, and renamed.
    if (folder === undefined || folder.endsWith('.making')) return create(options)
    const found = isKeeping ? await reuse(folder) : undefined
    if (found) return found
    await closeKept(folder)
    const client = await create(options)
    if (isKeeping) keepOnClose(folder, client)
    return client
  }) as typeof PGlite.create
}

async function reuse(folder: string): Promise<Client | undefined> {
  const entry = kept.get(folder)
  if (!entry) return undefined
  kept.delete(folder)
  // Another process had the database meanwhile: this copy of it is old, and must not write any more.
  if (entry.control !== controlOf(folder)) return undefined
  await entry.client.exec('discard all')
  return entry.client
}

function keepOnClose(folder: string, client: Client): void {
  const close = client.close.bind(client)
  client.close = async () => {
    for (const other of [...kept.keys()].slice(0, Math.max(0, kept.size - mostKept + 1)))
      await closeKept(other)
    kept.set(folder, { client, close, control: controlOf(folder) })
  }
}

async function closeKept(folder: string): Promise<void> {
  const entry = kept.get(folder)
  kept.delete(folder)
  if (entry && entry.control === controlOf(folder)) await entry.close()
}

function controlOf(folder: string): string {
  const stats = statSync(join(folder, 'global/pg_control'), { bigint: true, throwIfNoEntry: false })
  return stats ? `${stats.ino} ${stats.mtimeNs}` : ''
}
