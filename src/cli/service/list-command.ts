import { Command } from 'commander'
import { helpEnd } from '../terminal/help-end.ts'
import { lazily } from '../terminal/lazily.ts'

export function listCommand(): Command {
  return new Command('list')
    .description('List every operation of the service, and where what is known of it is from.')
    .option('--json', 'print one JSON document, with each key and field')
    .addHelpText(
      'after',
      helpEnd({
        examples: ['paydirt service list', 'paydirt service list --json'],
        notes: [
          `shown: section of the service's description. assumed: no section says it. configured: by paydirt.config.ts.
confirmed, contradicted: by an answer of this account, with its date.`,
        ],
        statuses: {},
      }),
    )
    .action(lazily(async () => (await import('./list.ts')).listOperations))
}
