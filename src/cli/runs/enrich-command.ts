import { Argument, Command } from 'commander'
import { crmNames } from '../terminal/choices.ts'
import { helpEnd, runStatuses } from '../terminal/help-end.ts'
import { lazily } from '../terminal/lazily.ts'
import { recipeNote, recipeOption } from '../terminal/recipe-option.ts'

export function enrichCommand(): Command {
  return new Command('enrich')
    .description('Enrich records of a CRM by their ids, now, as the button in the CRM does.')
    .addArgument(new Argument('<connector>', 'the CRM').choices(crmNames))
    .argument('<object>', "company, person, or the CRM's own name (companies, Lead ...)")
    .argument('<ids...>', "the CRM's own ids")
    .addOption(recipeOption())
    .option('--json', 'print one JSON document on standard output')
    .addHelpText(
      'after',
      helpEnd({
        examples: [
          'paydirt enrich hubspot company 9999600 9999601',
          'paydirt enrich salesforce Lead 00Q000000000001AAA --recipe contact',
        ],
        notes: [recipeNote],
        statuses: runStatuses,
      }),
    )
    .action(lazily(async () => (await import('./enrich.ts')).enrichByIds))
}
