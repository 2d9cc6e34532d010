import { Command, Option } from 'commander'
import { helpEnd } from '../terminal/help-end.ts'
import { lazily } from '../terminal/lazily.ts'

export function reportCommand(): Command {
  return new Command('report')
    .description(
      'Report the results and cost of a run or a month: match rate, fill rate of each field, cost of each.',
    )
    .argument('[run]', 'the id of a run (default: the month)')
    .option('--month <month>', 'a month such as 2026-11; default: this month (UTC)')
    .addOption(new Option('--json', 'print one JSON document').conflicts(['csv', 'html']))
    .addOption(
      new Option('--csv', 'print CSV: one line for each run, then one for each field').conflicts([
        'json',
        'html',
      ]),
    )
    .option('--html <file>', 'write an HTML page with charts that opens offline')
    .addHelpText(
      'after',
      helpEnd({
        examples: [
          'paydirt report',
          'paydirt report --month 2026-11 --csv > november.csv',
          'paydirt report RUN --html run.html',
        ],
        notes: ['RUN is an id that `paydirt runs` lists.'],
        statuses: {},
      }),
    )
    .action(lazily(async () => (await import('./report.ts')).report))
}
