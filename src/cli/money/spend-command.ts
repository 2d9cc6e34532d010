import { Command, Option } from 'commander'
import { spendGroups } from '../terminal/choices.ts'
import { helpEnd } from '../terminal/help-end.ts'
import { lazily } from '../terminal/lazily.ts'

export function spendCommand(): Command {
  return new Command('spend')
    .description('Show what was spent, from the ledger; stop all spending at once, or resume it.')
    .addOption(new Option('--by <group>', 'group by').choices(spendGroups).default('day'))
    .option('--json', 'print one JSON document')
    .option('--csv', 'print CSV')
    .addOption(
      new Option(
        '--stop [reason]',
        'stop all spending, in every process, until --resume; the reason is shown to others',
      ).conflicts('resume'),
    )
    .option('--resume', 'resume spending; parked work continues')
    .addHelpText(
      'after',
      helpEnd({
        examples: ['paydirt spend', 'paydirt spend --by field --csv', 'paydirt spend --stop'],
        statuses: {},
      }),
    )
    .action(lazily(async () => (await import('./spend.ts')).spend))
}
