import { Command } from 'commander'
import { helpEnd } from '../terminal/help-end.ts'
import { lazily } from '../terminal/lazily.ts'

export function explainScoreCommand(): Command {
  return new Command('explain')
    .description(
      'Explain the score of an account: every signal that counts, with its link, its date, its rule and what is left of its points. They add up to the score. Reads the ledger alone.',
    )
    .argument('<account>', 'CONNECTOR:OBJECT:ID, as in hubspot:companies:123; of a list: list:NAME:KEY')
    .option('--pipeline <name>', 'only in this pipeline; default: each that watches the account')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      helpEnd({
        examples: ['paydirt signals explain hubspot:companies:123'],
        notes: ['A signal counts from the day on which it happened, or else was seen first, in UTC.'],
        statuses: {},
      }),
    )
    .action(lazily(async () => (await import('./explain.ts')).explainAccount))
}
