import { writeBackupFile } from '../../store/backup/backup-file.ts'
import { writeBackup, type LedgerHead } from '../../store/backup/write-backup.ts'
import type { Context } from '../context/context.ts'
import { version } from '../config/version.ts'
import { publicSettings } from './public-settings.ts'

export interface BackupSummary {
  file: string
  madeAt: string
  /** Digits of the newest migration of its data. */
  schema: string
  rows: number
  head: LedgerHead
}

/**
 * Writes the whole ledger as of one moment into a file, with the settings in force and no secret. The wallet's key is not in
 * it: keep that apart.
 */
export async function backUp(
  context: Pick<Context, 'config' | 'database' | 'now'>,
  file: string,
  onTable: (table: string, rows: number) => void = () => {},
): Promise<BackupSummary> {
  const settings = publicSettings(context.config)
  const { header, rows } = await writeBackupFile(file, (write) =>
    writeBackup(
      context.database.db,
      (line) => write('format' in line ? { ...line, paydirt: version, settings } : line),
      { madeAt: context.now(), onTable },
    ),
  )
  const schema = header.migrations.at(-1)?.slice(0, 4) ?? ''
  return { file, madeAt: header.madeAt, schema, rows, head: header.head }
}
