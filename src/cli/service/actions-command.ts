import { Command } from 'commander'
import { helpEnd } from '../terminal/help-end.ts'
import { lazily } from '../terminal/lazily.ts'

export function actionsCommand(): Command {
  return new Command('actions')
    .description(
      'List the actions that are not finished: in doubt, or not sent yet. Asks the service for nothing.',
    )
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      helpEnd({
        examples: ['paydirt service actions', 'paydirt service actions --json'],
        notes: [
          `An action changes something at the service, which has no way to tell a repeated request from a second one. One whose answer
is missing is in doubt: the same \`paydirt service call\` reads whether it was done where a reading shows that.`,
        ],
        statuses: { 0: 'printed, also when there are none' },
      }),
    )
    .action(lazily(async () => (await import('./actions.ts')).showActions))
}
