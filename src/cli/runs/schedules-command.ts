import { Command } from 'commander'
import { helpEnd } from '../terminal/help-end.ts'
import { lazily } from '../terminal/lazily.ts'

export function schedulesCommand(): Command {
  const command = new Command('schedules')
    .description('List the schedules of the config with their next and last runs; pause, resume or run one.')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      helpEnd({
        examples: ['paydirt schedules', 'paydirt schedules --json', 'paydirt schedules pause nightly'],
        statuses: {},
      }),
    )
    .action(lazily(async () => (await import('./schedules.ts')).showSchedules))
  command
    .command('pause')
    .argument('<name>', 'a schedule of paydirt.config.ts')
    .description(
      'Start no more runs of it until it is resumed, also across restarts. An active run continues.',
    )
    .addHelpText('after', helpEnd({ examples: ['paydirt schedules pause nightly'], statuses: {} }))
    .action(lazily(async () => (await import('./schedules.ts')).pause))
  command
    .command('resume')
    .argument('<name>', 'a schedule of paydirt.config.ts')
    .description('Resume it at its next planned time.')
    .addHelpText('after', helpEnd({ examples: ['paydirt schedules resume nightly'], statuses: {} }))
    .action(lazily(async () => (await import('./schedules.ts')).resume))
  command
    .command('run')
    .argument('<name>', 'a schedule of paydirt.config.ts')
    .description('Have the scheduler start it now, outside its times and windows.')
    .addHelpText('after', helpEnd({ examples: ['paydirt schedules run nightly'], statuses: {} }))
    .action(lazily(async () => (await import('./schedules.ts')).runNow))
  return command
}
