import { Command } from 'commander'
import { helpEnd } from '../terminal/help-end.ts'
import { lazily } from '../terminal/lazily.ts'

export function historyCommand(): Command {
  return new Command('history')
    .description(
      'Show what was written into one record: each field with its old value, source, time and price. For a row of a file, what its output has: each field by its source, with the price, and whether the row had a value of its own.',
    )
    .argument('<record>', 'CONNECTOR:OBJECT:ID, as in hubspot:contact:123, or csv:company:LINE')
    .option('--run <run>', 'only what this run did: a line of another file is another record')
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
