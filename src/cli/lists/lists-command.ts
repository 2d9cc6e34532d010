import { Command, Option } from 'commander'
import { verdicts } from '../../domain/words.ts'
import { helpEnd } from '../terminal/help-end.ts'
import { lazily } from '../terminal/lazily.ts'
import { reviewCommand } from './review-command.ts'
import { runCommand } from './run-command.ts'

export function listsCommand(): Command {
  const command = new Command('lists')
    .description(
      'Show the lists of paydirt.config.ts: searches of the service whose rows are compared with the records of a CRM, so that a company or person which the CRM has is seen before anything is paid for it. New companies can be made in the CRM by a plan.',
    )
    .option('--json', 'print one JSON document')
    // An option of both is taken for one of this command, also where it stands behind the other.
    .hook('preSubcommand', (given, sub) => {
      if (given.opts()['json']) sub.setOptionValue('json', true)
    })
    .addHelpText(
      'after',
      helpEnd({
        examples: [
          'paydirt lists',
          'paydirt lists preview fintechs',
          'paydirt lists fetch fintechs --budget 2.50',
        ],
        statuses: {},
        notes: ['`paydirt lists COMMAND --help` shows the options, examples and exit statuses of a command.'],
      }),
    )
    .action(lazily(async () => (await import('./show-lists.ts')).showLists))
  for (const sub of [
    previewCommand(),
    fetchCommand(),
    membersCommand(),
    diffCommand(),
    exportCommand(),
    reviewCommand(),
    planCommand(),
    runCommand(),
  ])
    command.addCommand(sub)
  return command
}

function previewCommand(): Command {
  return new Command('preview')
    .description(
      'Show the total of a list, the rows that can be reached, and the verdict on the first 25. Buys page 1 at most, and only when the ledger lacks it. For a list of lookalikes or of people at companies it says how many questions there are, and their most; references are read out of their CRM at no cost.',
    )
    .argument('<list>', 'the name of the list')
    .option('--max-usd <amount>', 'the most that page 1 may cost, where nobody knows the price yet')
    .option('--plan', 'buy nothing: say what page 1 would cost, or show it from the ledger', false)
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      helpEnd({
        examples: ['paydirt lists preview fintechs --plan', 'paydirt lists preview fintechs --max-usd 0.05'],
        statuses: {},
      }),
    )
    .action(lazily(async () => (await import('./fetch.ts')).previewList))
}

function fetchCommand(): Command {
  return new Command('fetch')
    .description(
      'Buy the pages of a list that the ledger lacks, within a budget. Ctrl-C loses nothing: the same command goes on where it was.',
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
      '--again',
      'begin anew and pay for every page again, also for those that the ledger has; the same command goes on with it until it has ended',
      false,
    )
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      helpEnd({
        examples: ['paydirt lists fetch fintechs --budget 2.50'],
        statuses: { 3: 'the budget or a cap ended it; the same command goes on' },
      }),
    )
    .action(lazily(async () => (await import('./fetch.ts')).fetchPages))
}

const verdictOption = () =>
  new Option('--verdict <verdict>', 'only rows with this verdict').choices([...verdicts])

function membersCommand(): Command {
  return new Command('members')
    .description(
      'Show the rows of a list that the ledger has, each with its verdict and reason. Pays nothing.',
    )
    .argument('<list>', 'the name of the list')
    .addOption(verdictOption())
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      helpEnd({ examples: ['paydirt lists members fintechs --verdict new'], statuses: {} }),
    )
    .action(lazily(async () => (await import('./members.ts')).showMembers))
}

function diffCommand(): Command {
  return new Command('diff')
    .description(
      'Show the rows that a list has got and lost since the last fetch before this one that has ended. Pays nothing.',
    )
    .argument('<list>', 'the name of the list')
    .option('--json', 'print one JSON document')
    .addHelpText('after', helpEnd({ examples: ['paydirt lists diff fintechs'], statuses: {} }))
    .action(lazily(async () => (await import('./diff.ts')).showDiff))
}

function planCommand(): Command {
  return new Command('plan')
    .description(
      'Plan the records that the new rows of a list would become in the CRM, from the pages in the ledger, and save the plan. Asks the CRM for what it has now, pays nothing and writes nothing. `paydirt apply PLAN` makes these records, and `paydirt undo RUN` takes them back.',
    )
    .argument('<list>', 'the name of the list')
    .option('--json', 'print one JSON document')
    .addHelpText('after', helpEnd({ examples: ['paydirt lists plan fintechs'], statuses: {} }))
    .action(lazily(async () => (await import('./plan.ts')).planRecords))
}

function exportCommand(): Command {
  return new Command('export')
    .description(
      'Write the rows of a list that the ledger has into a CSV, each with its verdict, reason and record. Pays nothing. `paydirt csv` reads such a file.',
    )
    .argument('<list>', 'the name of the list')
    .requiredOption('--out <file>', 'the file to write, or - for standard output')
    .addOption(verdictOption())
    .option('--force', 'overwrite a file that is there', false)
    .addHelpText(
      'after',
      helpEnd({
        examples: ['paydirt lists export fintechs --verdict new --out new-fintechs.csv'],
        statuses: {},
      }),
    )
    .action(lazily(async () => (await import('./members.ts')).exportMembers))
}
