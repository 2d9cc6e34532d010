import { Command } from 'commander'
import { helpEnd } from '../terminal/help-end.ts'
import { lazily } from '../terminal/lazily.ts'
import { recipeNote, recipeOption } from '../terminal/recipe-option.ts'

export function explainCommand(): Command {
  return new Command('explain')
    .description(
      'Explain what a run would do next with one record, why, and what it would cost. Pays nothing.',
    )
    .argument('<record>', 'CONNECTOR:OBJECT:ID, as in hubspot:contact:123')
    .addOption(recipeOption())
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      helpEnd({
        examples: [
          'paydirt explain hubspot:contact:123',
          'paydirt explain salesforce:Lead:00Q000000000001AAA --recipe contact',
        ],
        notes: [recipeNote],
        statuses: {},
      }),
    )
    .action(lazily(async () => (await import('./explain.ts')).explainRecord))
}
