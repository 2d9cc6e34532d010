import { Command } from 'commander'
import { helpEnd } from '../terminal/help-end.ts'
import { lazily } from '../terminal/lazily.ts'

export function showCommand(): Command {
  return new Command('show')
    .description(
      'Show one operation: path, access, price, each key of its request and each field of its answer.',
    )
    .argument('<operation>', 'name of an operation, such as job.search')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      helpEnd({
        examples: ['paydirt service show job.search', 'paydirt service show expansion.summary --json'],
        notes: ['Each line names its source, as `paydirt service list` does.'],
        statuses: {},
      }),
    )
    .action(lazily(async () => (await import('./show.ts')).showOperation))
}
