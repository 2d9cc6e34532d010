import { Command } from 'commander'
import { helpEnd } from '../terminal/help-end.ts'
import { acceptCommand } from './accept-command.ts'
import { actionsCommand } from './actions-command.ts'
import { callCommand } from './call-command.ts'
import { listCommand } from './list-command.ts'
import { retryCommand } from './retry-command.ts'
import { showCommand } from './show-command.ts'
import { verifyCommand } from './verify-command.ts'

export function serviceCommand(): Command {
  return new Command('service')
    .description('See what is known of the service and its operations, and call one.')
    .addCommand(listCommand())
    .addCommand(showCommand())
    .addCommand(callCommand())
    .addCommand(acceptCommand())
    .addCommand(retryCommand())
    .addCommand(actionsCommand())
    .addCommand(verifyCommand())
    .addHelpText(
      'after',
      helpEnd({
        examples: [
          'paydirt service list',
          'paydirt service call company.search --json \'{"domains":["acme.example"]}\' --plan',
        ],
        notes: [
          '`paydirt service COMMAND --help` shows the options, examples and exit statuses of a command.',
        ],
      }),
    )
}
