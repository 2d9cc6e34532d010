import { Command, InvalidArgumentError } from 'commander'
import { helpEnd } from '../terminal/help-end.ts'
import { lazily } from '../terminal/lazily.ts'
import { templatesCommand } from './templates-command.ts'

export function monitorsCommand(): Command {
  const command = new Command('monitors')
    .description(
      'Show the monitors of paydirt.config.ts, bring them to the service, and look at those that are there.',
    )
    .option('--json', 'print one JSON document')
    // An option of both is taken for one of this command, also where it stands behind the other.
    .hook('preSubcommand', (given, sub) => {
      if (given.opts()['json']) sub.setOptionValue('json', true)
    })
    .addHelpText(
      'after',
      helpEnd({
        examples: ['paydirt monitors plan', 'paydirt monitors apply'],
        statuses: {},
        notes: [
          '`paydirt monitors COMMAND --help` shows the options, examples and exit statuses of a command.',
        ],
      }),
    )
    .action(lazily(async () => (await import('./show.ts')).listMonitors))
  for (const sub of [
    planCommand(),
    applyCommand(),
    importCommand(),
    ...readings(),
    ...changes(),
    draftCommand(),
    deliveriesCommand(),
    catchUpCommand(),
    templatesCommand(),
  ])
    command.addCommand(sub)
  return command
}

const json = ['--json', 'print one JSON document'] as const
const amount = (text: string): string => {
  if (/^\d+(\.\d{1,6})?$/.test(text)) return text
  throw new InvalidArgumentError('must be an amount in USD such as 2.50')
}

function planCommand(): Command {
  return new Command('plan')
    .description(
      'Compare the monitors of the settings with those of the service, field by field: what would be created, updated, paused, replaced or deleted. Changes nothing.',
    )
    .option('--check', 'end with 1 where something differs', false)
    .option(...json)
    .addHelpText(
      'after',
      helpEnd({
        examples: ['paydirt monitors plan', 'paydirt monitors plan --check --json'],
        statuses: { 0: 'the comparison was made', 1: 'with --check: something differs' },
      }),
    )
    .action(lazily(async () => (await import('./plan.ts')).showPlan))
}

function applyCommand(): Command {
  return new Command('apply')
    .description(
      'Bring the monitors of the settings to the service. Those without a mark of ours are never touched. A repeat only reads.',
    )
    .option('--prune', 'delete monitors of ours that the settings do not name', false)
    .option(
      '--replace',
      'make a monitor anew whose detection_mode has changed, and delete the one before',
      false,
    )
    .option('--budget <usd>', 'the most that finding their companies at the service may cost', amount, '0')
    .option(...json)
    .addHelpText(
      'after',
      helpEnd({
        examples: ['paydirt monitors apply', 'paydirt monitors apply --replace --budget 0.50'],
        statuses: {
          0: 'all is as the settings say',
          1: 'a step was refused',
          3: 'a step is left: for an option, a person or a budget',
        },
      }),
    )
    .action(lazily(async () => (await import('./plan.ts')).applyPlan))
}

function importCommand(): Command {
  return new Command('import')
    .description(
      'Adopt a monitor that was made elsewhere: print its settings, and know it by its name there from now on.',
    )
    .argument('<id>', 'its id at the service')
    .requiredOption('--as <name>', 'its name in the settings')
    .addHelpText('after', helpEnd({ examples: ['paydirt monitors import mon_123 --as dach'], statuses: {} }))
    .action(lazily(async () => (await import('./adopt.ts')).adoptMonitor))
}

function readings(): Command[] {
  const of = (name: string, description: string): Command =>
    new Command(name)
      .description(description)
      .argument('<monitor>', 'its name in the settings, or its id')
      .option(...json)
      .addHelpText('after', helpEnd({ examples: [`paydirt monitors ${name} dach`], statuses: {} }))
      .action(lazily(async () => (await import('./show.ts')).showMonitor))
  return [
    new Command('list')
      .description('Show all monitors of the workspace: ours by name, and the others.')
      .option(...json)
      .addHelpText('after', helpEnd({ examples: ['paydirt monitors list'], statuses: {} }))
      .action(lazily(async () => (await import('./show.ts')).listMonitors)),
    of('show', 'Show one monitor as the service has it.'),
    of('stats', 'Show the counts of a monitor.'),
    of('charts', 'Show the counts of a monitor over time.'),
    of('logs', 'Show the latest detections of a monitor, delivered or not.'),
  ]
}

function changes(): Command[] {
  const of = (name: string, description: string): Command =>
    new Command(name)
      .description(description)
      .argument('<monitor>', 'its name in the settings, or its id')
      .option('--yes', 'send it', false)
      .addHelpText('after', helpEnd({ examples: [`paydirt monitors ${name} dach --yes`], statuses: {} }))
      .action(lazily(async () => (await import('./change.ts')).changeMonitor))
  return [
    of('pause', 'Set the status of a monitor to paused. `apply` brings back what the settings say.'),
    of('resume', 'Set the status of a monitor to active.'),
    of('delete', 'Delete a monitor at the service.'),
    of(
      'test',
      'Have the service process a monitor once as a test. Its delivery is marked, and makes no tasks.',
    ),
    new Command('validate')
      .description(
        'Have the service deliver once to an address, to see that it takes deliveries. Says what the address answered.',
      )
      .argument('[url]', 'the address; default: that of this installation')
      .option('--yes', 'send it', false)
      .addHelpText(
        'after',
        helpEnd({
          examples: ['paydirt monitors validate https://hooks.acme.example/monitor --yes'],
          statuses: { 1: 'the address did not take the delivery' },
        }),
      )
      .action(lazily(async () => (await import('./change.ts')).validateWebhook)),
  ]
}

function draftCommand(): Command {
  return new Command('draft')
    .description(
      'Have the service read a sentence, and print the settings of a monitor to review. Makes none.',
    )
    .argument('<sentence>', 'the wish in plain words')
    .option('--as <name>', 'its name in the settings', 'draft')
    .addHelpText(
      'after',
      helpEnd({ examples: ['paydirt monitors draft "fintechs entering Spain"'], statuses: {} }),
    )
    .action(lazily(async () => (await import('./adopt.ts')).draftMonitor))
}

function deliveriesCommand(): Command {
  return new Command('deliveries')
    .description(
      'Show what became of the deliveries of each monitor, by outcome, and how far its log was read. Reads the ledger alone.',
    )
    .option(...json)
    .addHelpText('after', helpEnd({ examples: ['paydirt monitors deliveries'], statuses: {} }))
    .action(lazily(async () => (await import('./deliveries.ts')).showDeliveries))
}

function catchUpCommand(): Command {
  return new Command('catch-up')
    .description(
      'Read the logs of the service now, as `paydirt start` does by itself, and have what was not delivered worked.',
    )
    .option('--plan', 'compare, and store nothing', false)
    .option(...json)
    .addHelpText(
      'after',
      helpEnd({
        examples: ['paydirt monitors catch-up --plan', 'paydirt monitors catch-up'],
        statuses: { 1: 'a log could not be read to its end' },
      }),
    )
    .action(lazily(async () => (await import('./catch-up.ts')).catchUpMonitors))
}
