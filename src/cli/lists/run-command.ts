import { Command } from 'commander'
import { helpEnd } from '../terminal/help-end.ts'
import { lazily } from '../terminal/lazily.ts'

export function runCommand(): Command {
  return new Command('run')
    .description(
      'Fetch a list, plan its new records and make them, in one, within a budget. What would be refused afterwards is refused before anything is bought. Ctrl-C loses nothing: the same command goes on, with the plan that it had.',
    )
    .argument('<list>', 'the name of the list')
    .option('--budget <amount>', "the most that this command spends, in USD. Default: the list's budgetUsd")
    .option('--max-usd <amount>', 'the most that one page may cost, where nobody knows the price yet')
    .option(
      '--reachable-only',
      'go on though some rows are behind the last page that the service answers',
      false,
    )
    .option(
      '--plan',
      'show what would be bought and made, and what would be refused: nothing is bought or written',
      false,
    )
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      helpEnd({
        examples: ['paydirt lists run fintechs --budget 2.50', 'paydirt lists run fintechs --plan'],
        statuses: {
          3: 'the budget or a cap ended it, or the CRM or another list has to be waited for; the same command goes on',
        },
        notes: ['Records are made once all pages are there: a part of a list makes none.'],
      }),
    )
    .action(lazily(async () => (await import('./run.ts')).runNamedList))
}
