import { Command } from 'commander'
import { helpEnd } from '../terminal/help-end.ts'
import { lazily } from '../terminal/lazily.ts'

export function verifyCommand(): Command {
  return new Command('verify')
    .description(
      'Compare the answers that the ledger holds with what is known of the service. Costs nothing without --live.',
    )
    .option('--json', 'print one JSON document')
    .option('--fix', 'print the settings that would mend what has moved or has another name')
    .option('--save <file>', 'write the names and types that answers had, without a single value')
    .option(
      '--live',
      'first buy one answer of each unconfirmed operation, after showing the list and its cost',
    )
    .option('--max-usd <amount>', 'the most that --live may cost in total', '0.20')
    .option('--company <domain>', 'the company that --live asks about; default: the one that was found last')
    .option(
      '--person <url>',
      'the person that --live asks about, by profile URL; default: the last one that a search found',
    )
    .option('--yes', 'buy without a question')
    .addHelpText(
      'after',
      helpEnd({
        examples: [
          'paydirt service verify',
          'paydirt service verify --fix',
          'paydirt service verify --save shape.json',
          'paydirt service verify --live --max-usd 0.10 --company ridge-bearings.example --yes',
        ],
        notes: [
          `Drift is what a reader would stumble over: a place that is missing or has another type, a key that is ignored or renamed, a
total below the rows, a new word in a closed list. New fields, and those that no answer has had, are listed beside it.`,
        ],
        statuses: { 1: 'answers drift from what is known', 2: 'refused before anything was sent' },
      }),
    )
    .action(lazily(async () => (await import('./verify.ts')).verify))
}
