import { Command, Option } from 'commander'
import { helpEnd } from '../terminal/help-end.ts'
import { lazily } from '../terminal/lazily.ts'

export function migrateCommand(): Command {
  return new Command('migrate')
    .description(
      'Bring the database up to this version, beside running processes of the version before. A start does the same by itself.',
    )
    .option('--plan', 'print what would be done, with its SQL, and do nothing')
    .addOption(
      new Option('--check', 'do nothing, and exit with 1 where the database is behind').conflicts('plan'),
    )
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      helpEnd({
        examples: ['paydirt migrate --plan', 'paydirt migrate', 'paydirt migrate --check --json'],
        notes: [
          `Killed in the middle, the next call goes on from there. Two at once: one migrates, the other waits. With PAYDIRT_MIGRATE=wait
the services wait for this command (docs/upgrades.md).`,
        ],
        statuses: {
          1: 'with --check: the database is behind',
          2: 'this version does not run on the database',
        },
      }),
    )
    .action(lazily(async () => (await import('./migrate.ts')).migrateDatabase))
}
