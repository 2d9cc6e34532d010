import { Command } from 'commander'
import { helpEnd } from '../terminal/help-end.ts'
import { lazily } from '../terminal/lazily.ts'

export function backupCommand(): Command {
  return new Command('backup')
    .description('Write the whole ledger, as of one moment, into a file from which it can be restored.')
    .argument('<file>', 'the file to write; one that is there is replaced when the new one is whole')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      helpEnd({
        examples: ['paydirt backup ledger.backup', 'paydirt backup ledger.backup --json'],
        notes: [
          `Works beside running processes. A backup of the embedded database can be restored into PostgreSQL, and the other way. The file
holds what the ledger holds, personal data too, and is readable for its owner alone; the wallet's key is not in it.`,
        ],
        statuses: { 2: 'the file cannot be written there, or wrong use or configuration' },
      }),
    )
    .action(lazily(async () => (await import('./backup.ts')).backup))
}
