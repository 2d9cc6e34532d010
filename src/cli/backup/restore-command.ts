import { Command } from 'commander'
import { helpEnd } from '../terminal/help-end.ts'
import { lazily } from '../terminal/lazily.ts'

export function restoreCommand(): Command {
  return new Command('restore')
    .description(
      'Put a backup into an empty database. What was paid after the backup is found on the chain, not paid again.',
    )
    .argument('<file>', 'a file of paydirt backup')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      helpEnd({
        examples: [
          'paydirt restore ledger.backup',
          'PAYDIRT_DATA_DIR=restored paydirt restore ledger.backup',
        ],
        notes: [
          `Stop every process of paydirt first, and empty its Redis. Nothing is bought until the chain has been read, some minutes after
the restore: a start does it, and \`paydirt reconcile\` (docs/backup.md).`,
        ],
        statuses: { 2: 'the database is not empty, or the file is no whole backup; nothing was changed' },
      }),
    )
    .action(lazily(async () => (await import('./restore.ts')).restoreFrom))
}
