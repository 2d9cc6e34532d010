import { Command } from 'commander'
import { helpEnd } from '../terminal/help-end.ts'
import { lazily } from '../terminal/lazily.ts'

const argument = ['<champions>', 'their name under champions in paydirt.config.ts'] as const

export function championsCommand(): Command {
  const command = new Command('champions')
    .description(
      'Look people of the CRM up again, and say who has left: people who bought once, and may work elsewhere now, as champions in paydirt.config.ts names them.',
    )
    .addHelpText(
      'after',
      helpEnd({
        examples: [
          'paydirt champions plan customers',
          'paydirt champions run customers --budget 2.50',
          'paydirt champions report customers',
        ],
        statuses: {},
        notes: [
          '`paydirt champions COMMAND --help` shows the options, examples and exit statuses of a command.',
        ],
      }),
    )
  for (const sub of [planCommand(), runCommand(), reportCommand()]) command.addCommand(sub)
  return command
}

function planCommand(): Command {
  return new Command('plan')
    .description(
      'Say whom a run would look up now, and the cost. Reads the people out of their CRM. Pays nothing and writes nothing.',
    )
    .argument(...argument)
    .option('--json', 'print one JSON document')
    .addHelpText('after', helpEnd({ examples: ['paydirt champions plan customers'], statuses: {} }))
    .action(lazily(async () => (await import('./plan.ts')).planNamedChampions))
}

function runCommand(): Command {
  return new Command('run')
    .description(
      'Look up those who are due, the longest unchecked first, within a budget, and write `left_company_at` and what onLeave declares for those who have left. Their employer in the record stays as it is. Ctrl-C loses nothing: the same command goes on where it was.',
    )
    .argument(...argument)
    .option('--budget <usd>', 'the most that this run may spend; default: `budgetUsd` of the settings')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      helpEnd({
        examples: ['paydirt champions run customers --budget 2.50'],
        statuses: {
          0: 'all who were due were looked up',
          3: 'the rest waits: for the budget, a cap or a setting',
        },
      }),
    )
    .action(lazily(async () => (await import('./run.ts')).runNamedChampions))
}

function reportCommand(): Command {
  return new Command('report')
    .description('Report who has left, and where they are now. Reads the ledger alone.')
    .argument(...argument)
    .option('--since <period>', 'days or weeks, as 7d or 2w, or a day as 2026-11-16 (UTC)')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      helpEnd({ examples: ['paydirt champions report customers --since 2w'], statuses: {} }),
    )
    .action(lazily(async () => (await import('./report.ts')).reportNamedChampions))
}
