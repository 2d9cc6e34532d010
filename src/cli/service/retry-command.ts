import { Command } from 'commander'
import { helpEnd } from '../terminal/help-end.ts'
import { lazily } from '../terminal/lazily.ts'

export function retryCommand(): Command {
  return new Command('retry')
    .description('Let a stopped operation be asked once more, and its parked lookups continue.')
    .argument('<operation>', 'name of an operation, such as job.search')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      helpEnd({
        examples: ['paydirt service retry job.search'],
        notes: [
          `An operation that no answer has confirmed stops after an unreadable answer, 401, 403 or 404, and others go on. Mend its
path or places under service.operations first: one request is sent, and the rest follow when its answer can be read.`,
        ],
        statuses: { 0: 'it is asked again, or was not stopped' },
      }),
    )
    .action(lazily(async () => (await import('./retry.ts')).retry))
}
