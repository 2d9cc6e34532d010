import { Command, Option } from 'commander'
import { actionVerdicts } from '../terminal/choices.ts'
import { helpEnd } from '../terminal/help-end.ts'
import { lazily } from '../terminal/lazily.ts'

export function actionsCommand(): Command {
  return new Command('actions')
    .description(
      'List the actions that are not finished: in doubt, or not sent yet. Asks the service for nothing.',
    )
    .option('--json', 'print one JSON document')
    .option('--close <id>', 'take one off the list, after looking at the service')
    .addOption(
      new Option('--as <verdict>', 'what the service shows: it was done, or it was not').choices(
        actionVerdicts,
      ),
    )
    .addHelpText(
      'after',
      helpEnd({
        examples: ['paydirt service actions', 'paydirt service actions --json'],
        notes: [
          `An action changes something at the service, which has no way to tell a repeated request from a second one. One whose answer
is missing is in doubt: the same \`paydirt service call\` reads whether it was done where a reading shows that.`,
          `--close 12 --as not-done, with the number that the list names, sends nothing and touches no charge.
An action that counts as done is not made again without --again; the same call sends one that counts as not done.`,
        ],
        statuses: { 0: 'printed, also when there are none' },
      }),
    )
    .action(lazily(async () => (await import('./actions.ts')).showActions))
}
