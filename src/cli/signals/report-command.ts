import { Command, Option } from 'commander'
import { helpEnd } from '../terminal/help-end.ts'
import { lazily } from '../terminal/lazily.ts'

export function signalsReportCommand(): Command {
  return new Command('report')
    .description(
      'Report the accounts that moved, by the change of their score, each with three pieces of evidence, moves from stage to stage, new and gone accounts, and what was paid. Reads the ledger; --owner asks the CRM, too.',
    )
    .argument('[pipeline]', 'its name under signals in paydirt.config.ts; default: all of them')
    .option('--since <period>', 'days or weeks, as 7d or 2w, or a day as 2026-11-16 (UTC)', '7d')
    .option('--owner <owner>', 'only accounts of this owner, by id or name in the CRM')
    .addOption(new Option('--json', 'print one JSON document').conflicts(['csv', 'html']))
    .addOption(
      new Option('--csv', 'print CSV: one line for each account, and one for the cost').conflicts([
        'json',
        'html',
      ]),
    )
    .option('--html <file>', 'write an HTML page that opens offline')
    .addHelpText(
      'after',
      helpEnd({
        examples: [
          'paydirt signals report',
          'paydirt signals report --since 2w --html moved.html',
          'paydirt signals report --csv > moved.csv',
        ],
        notes: ['A schedule with `signalsReport` sends the report to the alert webhook (docs/signals.md).'],
        statuses: {},
      }),
    )
    .action(lazily(async () => (await import('./report.ts')).reportSignals))
}
