import { Command } from 'commander'
import { helpEnd } from '../terminal/help-end.ts'
import { callCommand } from './call-command.ts'

export function serviceCommand(): Command {
  return new Command('service')
    .description('See what is known of the service and its operations, and call one.')
    .addCommand(callCommand())
    .addHelpText(
      'after',
      helpEnd({
        examples: ['paydirt service call company.search --json \'{"domains":["acme.example"]}\' --plan'],
        notes: [
          '`paydirt service COMMAND --help` shows the options, examples and exit statuses of a command.',
        ],
      }),
    )
}
