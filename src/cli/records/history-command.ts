import { Command } from 'commander'
import { helpEnd } from '../terminal/help-end.ts'
import { lazily } from '../terminal/lazily.ts'

export function historyCommand(): Command {
  return new Command('history')
    .description(
      'Show what was written into one record: each field with its old value, source, time and price.',
    )
    .argument('<record>', 'CONNECTOR:OBJECT:ID, as in hubspot:contact:123')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      helpEnd({
        examples: ['paydirt history hubspot:company:123', 'paydirt history hubspot:company:123 --json'],
        statuses: {},
      }),
    )
    .action(lazily(async () => (await import('./history.ts')).showHistory))
}
