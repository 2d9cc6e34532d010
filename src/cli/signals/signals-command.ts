import { Command } from 'commander'
import { helpEnd } from '../terminal/help-end.ts'
import { lazily } from '../terminal/lazily.ts'
import { explainScoreCommand } from './explain-command.ts'
import { signalsReportCommand } from './report-command.ts'

export function signalsCommand(): Command {
  const command = new Command('signals')
    .description(
      'Show the accounts that are watched for signals: jobs, news, advertisements, clouds and market entries, as signals in paydirt.config.ts names them.',
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
          'paydirt signals',
          'paydirt signals plan pipeline',
          'paydirt signals run pipeline --budget 2.50',
        ],
        statuses: {},
        notes: [
          '`paydirt signals COMMAND --help` shows the options, examples and exit statuses of a command.',
        ],
      }),
    )
    .action(lazily(async () => (await import('./show-signals.ts')).showSignals))
  for (const sub of [planCommand(), runCommand(), explainScoreCommand(), signalsReportCommand()])
    command.addCommand(sub)
  return command
}

function planCommand(): Command {
  return new Command('plan')
    .description(
      'Say what a run would ask for now, and the requests and cost of the first time, of a week and of a month. Reads the accounts out of their CRM. Pays nothing and writes nothing.',
    )
    .argument('<pipeline>', 'its name under signals in paydirt.config.ts')
    .option('--json', 'print one JSON document')
    .addHelpText('after', helpEnd({ examples: ['paydirt signals plan pipeline'], statuses: {} }))
    .action(lazily(async () => (await import('./plan.ts')).planNamedPipeline))
}

function runCommand(): Command {
  return new Command('run')
    .description(
      'Ask for what is due of each account, within a budget, keep what was observed, and write it into the records as `write` of the pipeline says. Ctrl-C loses nothing: the same command goes on where it was. A repeat before something is due costs nothing.',
    )
    .argument('<pipeline>', 'its name under signals in paydirt.config.ts')
    .option('--budget <usd>', 'the most that this run may spend; default: `budgetUsd` of the pipeline')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      helpEnd({
        examples: ['paydirt signals run pipeline --budget 2.50'],
        statuses: {
          0: 'all that was due was asked for',
          3: 'the rest waits: for the budget, a cap or a setting',
        },
      }),
    )
    .action(lazily(async () => (await import('./run.ts')).runNamedPipeline))
}
