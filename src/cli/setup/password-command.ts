import { Command } from 'commander'
import { helpEnd } from '../terminal/help-end.ts'
import { lazily } from '../terminal/lazily.ts'

export function passwordCommand(): Command {
  return new Command('password')
    .description(
      'Read a password from standard input and print the hash that goes into PAYDIRT_ADMIN_PASSWORD_HASH or desk.users.',
    )
    .addHelpText(
      'after',
      helpEnd({
        examples: ['paydirt password', 'paydirt password < password.txt'],
        notes: [
          'The password is not an argument, because arguments appear in the list of processes and in the history of your shell.',
        ],
        statuses: {},
      }),
    )
    .action(lazily(async () => (await import('./password.ts')).password, { isQuiet: true }))
}
