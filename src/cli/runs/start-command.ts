import { Command, Option } from 'commander'
import { roles } from '../terminal/choices.ts'
import { helpEnd } from '../terminal/help-end.ts'
import { lazily } from '../terminal/lazily.ts'

export function startCommand(): Command {
  return new Command('start')
    .description(
      'Run as a service until stopped. With DATABASE_URL and REDIS_URL, any number of processes share the work.',
    )
    .addOption(new Option('--role <role>', 'what this process does').choices(roles).default('all'))
    .addHelpText(
      'after',
      helpEnd({
        examples: ['paydirt start', 'paydirt start --role worker'],
        statuses: { 0: 'stopped by Ctrl-C or SIGTERM', 130: 'ended at once by a second Ctrl-C' },
      }),
    )
    .action(lazily(async () => (await import('./start.ts')).serve))
}
