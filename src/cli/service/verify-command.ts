import { Command } from 'commander'
import { helpEnd } from '../terminal/help-end.ts'
import { lazily } from '../terminal/lazily.ts'

export function verifyCommand(): Command {
  return new Command('verify')
    .description(
      'Compare the answers that the ledger holds with what is known of the service. Costs nothing.',
    )
    .option('--json', 'print one JSON document')
    .option('--fix', 'print the settings that would mend what has moved or has another name')
    .option('--save <file>', 'write the names and types that answers had, without a single value')
    .addHelpText(
      'after',
      helpEnd({
        examples: [
          'paydirt service verify',
          'paydirt service verify --fix',
          'paydirt service verify --save shape.json',
        ],
        notes: [
          `Drift is what a reader would stumble over: a place that is missing or has another type, a key that is ignored or renamed, a
total below the rows, a new word in a closed list. New fields, and those that no answer has had, are listed beside it.`,
        ],
        statuses: { 1: 'answers drift from what is known' },
      }),
    )
    .action(lazily(async () => (await import('./verify.ts')).verify))
}
