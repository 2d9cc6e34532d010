import { resolve } from 'node:path'
import { backUp, type BackupSummary } from '../../app/backup/back-up.ts'
import { isInUse, queryLedger } from '../../app/queries/query-ledger.ts'
import type { Config } from '../../app/config/config.ts'
import { liveLine } from '../terminal/live-line.ts'
import { counted as countedNoun } from '../../domain/values/counted.ts'
import { print } from '../terminal/print.ts'
import { readConfig, withContext } from '../terminal/with-context.ts'

export async function backup(path: string, options: { json?: true }): Promise<void> {
  // A backup is made before an upgrade: it leaves the schema as it is.
  const config: Config = { ...(await readConfig()), migratedBy: 'caller' }
  const summary = await make(config, resolve(path))
  liveLine.end()
  if (options.json) return print(`${JSON.stringify(summary)}\n`)
  const paid =
    summary.head.paid.map(({ currency, settled }) => `${settled} ${currency}`).join(', ') || 'nothing'
  print(
    `${summary.file}: ${countedNoun(summary.rows, 'row')}, ${countedNoun(summary.head.charges, 'charge')} (${paid} settled), as of ${summary.madeAt}\n`,
  )
}

async function make(config: Config, file: string): Promise<BackupSummary> {
  try {
    return await withContext(
      (context) =>
        backUp(context, file, (table, rows) => liveLine.show(`${table}: ${countedNoun(rows, 'row')}`)),
      config,
    )
  } catch (error) {
    if (!isInUse(error)) throw error
    liveLine.show('the process that has the ledger open writes the backup')
    return queryLedger(config, 'backup', { file })
  }
}
