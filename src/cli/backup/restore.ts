import { resolve } from 'node:path'
import { restore } from '../../app/backup/restore.ts'
import { liveLine } from '../terminal/live-line.ts'
import { counted as countedNoun } from '../../domain/values/counted.ts'
import { print } from '../terminal/print.ts'
import { readConfig } from '../terminal/with-context.ts'

export async function restoreFrom(path: string, options: { json?: true }): Promise<void> {
  const config = await readConfig()
  liveLine.show('reading the backup')
  const summary = await restore(config, resolve(path), {
    now: () => new Date(),
    onTable: (table) => liveLine.show(`restoring ${table}`),
  })
  liveLine.end()
  if (options.json) return print(`${JSON.stringify(summary)}\n`)
  const { rows, head, madeAt, spendsFrom } = summary
  print(
    `restored: ${countedNoun(rows, 'row')}, ${countedNoun(head.charges, 'charge')}, as of ${madeAt}\nnothing is bought until the chain has been read: from ${spendsFrom} on, by \`paydirt reconcile\` or any start\n`,
  )
}
