import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { ConfigError, InputError } from '../../domain/errors.ts'
import { readBackupFile, verifyBackupFile } from '../../store/backup/backup-file.ts'
import { analyseAll, filledTables, loadBackup } from '../../store/backup/load-backup.ts'
import {
  ledgerHead,
  type BackupHeader,
  type BackupLine,
  type LedgerHead,
} from '../../store/backup/write-backup.ts'
import { openDatabase, type OpenDatabase } from '../../store/database/database.ts'
import { migrate } from '../../store/database/migrating/migrate.ts'
import { migrations } from '../../store/database/migrating/migrations.ts'
import { readSchema } from '../../store/database/migrating/schema-state.ts'
import { refuseOlder } from '../../store/packed/refuse-older.ts'
import { beginRestore } from '../../store/restored/restore-state.ts'
import type { Config } from '../config/config.ts'

export interface RestoreSummary {
  madeAt: string
  rows: number
  head: LedgerHead
  /** Nothing is bought before: the chain is read then. */
  spendsFrom: string
}

const headerSchema = z.looseObject({
  format: z.literal('paydirt-backup'),
  version: z.literal(1),
  madeAt: z.iso.datetime(),
  migrations: z.array(z.string()).min(1),
  head: z.looseObject({ charges: z.number() }),
})

/**
 * Puts a backup into an empty database and leaves the ledger in restore mode. Throws InputError `bad_backup` for a file that is
 * none or is not whole, and ConfigError for a database that is not empty or a backup of a newer version; nothing is changed then.
 *
 * Crash windows: killed before the data is committed, the database has an empty schema, and the same call begins again; killed
 * after it, before later migrations, the next start applies them. Restore mode is committed with the data.
 */
export async function restore(
  config: Config,
  file: string,
  {
    now,
    onTable,
    onQuery,
  }: {
    now: () => Date
    onTable: (table: string) => void
    /** Called with each statement after it ran. */
    onQuery?: Parameters<typeof openDatabase>[0]['onQuery']
  },
): Promise<RestoreSummary> {
  await verifyBackupFile(file)
  const lines = readBackupFile(file)
  const header = await readHeader(lines, file)
  const newer = header.migrations.find((name) => !migrations.some((migration) => migration.name === name))
  if (newer !== undefined)
    throw new ConfigError(
      'newer_backup',
      `${file} was made by a newer paydirt (${newer}): restore it with that version or a later one`,
    )
  const database = await openDatabase({
    dataDir: config.dataDir,
    url: config.databaseUrl,
    migratedBy: 'caller',
    onQuery,
  })
  try {
    return await load(database, { config, header, lines: lines as AsyncIterable<BackupLine>, now, onTable })
  } finally {
    await database.close()
  }
}

async function readHeader(lines: AsyncIterator<unknown>, file: string): Promise<BackupHeader> {
  const first = await lines.next()
  const header = headerSchema.safeParse(first.value)
  if (!header.success) throw new InputError('bad_backup', `${file} is not a backup of paydirt`)
  return header.data as unknown as BackupHeader
}

interface Loading {
  config: Config
  header: BackupHeader
  lines: AsyncIterable<BackupLine>
  now: () => Date
  onTable: (table: string) => void
}

async function load(
  { db, kind }: OpenDatabase,
  { config, header, lines, now, onTable }: Loading,
): Promise<RestoreSummary> {
  const isShared = kind === 'postgres'
  const names = new Set(header.migrations)
  const { applied } = await readSchema(db)
  const hasOther = [...applied.keys()].some((name) => !names.has(name))
  if (hasOther || (applied.size > 0 && (await filledTables(db)).length > 0))
    throw new ConfigError(
      'not_empty',
      `${isShared ? 'the database of DATABASE_URL' : `the data directory ${config.dataDir}`} is in use: a backup is restored into an empty one, so that nothing is overwritten. Stop every process of paydirt, and name another ${isShared ? 'database' : 'directory (PAYDIRT_DATA_DIR)'}`,
    )
  // Its rows have the shape of its own schema. What came later is applied to them afterwards.
  await migrate(db, { isShared, known: migrations.filter(({ name }) => names.has(name)) })
  const restoredAt = now()
  const rows = await loadBackup(db, lines, {
    onTable,
    async finish(tx) {
      const head = await ledgerHead(tx)
      if (!isDeepStrictEqual(head, header.head))
        throw new InputError('bad_backup', 'the charges of the backup do not add up to its own sums')
      await refuseOlder(tx)
      await beginRestore(tx, { backupAt: new Date(header.madeAt), restoredAt })
    },
  })
  await migrate(db, { isShared })
  await analyseAll(db)
  const spendsFrom = new Date(restoredAt.getTime() + config.authorizationSeconds * 1000)
  return { madeAt: header.madeAt, rows, head: header.head, spendsFrom: spendsFrom.toISOString() }
}
