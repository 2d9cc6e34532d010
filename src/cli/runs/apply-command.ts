import { Command } from 'commander'
import { helpEnd, runStatuses } from '../terminal/help-end.ts'
import { lazily } from '../terminal/lazily.ts'

export function applyCommand(): Command {
  return new Command('apply')
    .description(
      'Carry out a plan that --plan or `paydirt lists plan LIST` made: its records and lookups, within its cost. Refuses a plan that has drifted. The plan of a list makes the records that it names, each once; one that appeared in the CRM since is left as it is.',
    )
    .argument('<plan>', 'the id that --plan printed')
    .option('--out <file>', 'where the enriched CSV goes (a plan of a CSV needs it)')
    .option('--force', 'replace a file at --out')
    .option('--json', 'print one JSON document on standard output')
    .addHelpText(
      'after',
      helpEnd({
        examples: ['paydirt apply PLAN', 'paydirt apply PLAN --out leads-enriched.csv'],
        notes: [
          'The second one is for the plan of a file. PLAN is the id that --plan or `lists plan` printed.',
        ],
        statuses: {
          ...runStatuses,
          2: 'the plan has drifted, or wrong use',
          3: 'work is parked (the cost of the plan is used up, or the CRM or another list must be waited for); the same command continues',
        },
      }),
    )
    .action(lazily(async () => (await import('./apply.ts')).applySavedPlan))
}
