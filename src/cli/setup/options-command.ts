import { Argument, Command } from 'commander'
import { crmNames } from '../terminal/choices.ts'
import { helpEnd } from '../terminal/help-end.ts'
import { lazily } from '../terminal/lazily.ts'

export function optionsCommand(): Command {
  return new Command('options')
    .description(
      'List the values in the ledger that have no counterpart among the options of a picklist in the CRM. Buys and writes nothing.',
    )
    .addArgument(new Argument('<connector>', 'the CRM').choices(crmNames))
    .option('--object <object>', "only this object: company, person, or the CRM's own name")
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      helpEnd({
        examples: ['paydirt options hubspot', 'paydirt options salesforce --object Lead --json'],
        statuses: {},
      }),
    )
    .action(lazily(async () => (await import('./options.ts')).listOptions))
}
