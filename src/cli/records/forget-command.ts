import { Command } from 'commander'
import { helpEnd } from '../terminal/help-end.ts'
import { lazily } from '../terminal/lazily.ts'
import { repeatable } from '../terminal/repeatable.ts'

export function forgetCommand(): Command {
  return new Command('forget')
    .description(
      'Erase a person or company from the ledger, plans and queue, and put them on the suppression list. Amounts stay, without a name.',
    )
    .addOption(repeatable('--email <address>', 'an e-mail address'))
    .addOption(repeatable('--phone <number>', 'a phone number with its country prefix'))
    .addOption(repeatable('--profile-url <url>', 'a profile'))
    .option('--no-suppress', 'do not put the subject on the suppression list')
    .option('--plan', 'show what would be erased and suppressed; changes nothing')
    .option('--yes', 'erase without asking (needed where there is no terminal)')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      helpEnd({
        examples: [
          'paydirt forget --email ada@example.com --plan',
          'paydirt forget --email ada@example.com --yes',
        ],
        notes: [
          `What is erased cannot be restored. Records in a CRM, enriched files and backups of the database are not changed: erase the
subject there yourself; --plan names the records and files that the ledger knows.`,
        ],
        statuses: { 130: 'not confirmed, or stopped by Ctrl-C' },
      }),
    )
    .action(lazily(async () => (await import('./forget.ts')).forgetSubject))
}
