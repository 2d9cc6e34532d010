import { Command } from 'commander'
import { helpEnd } from '../terminal/help-end.ts'
import { lazily } from '../terminal/lazily.ts'

export function undoCommand(): Command {
  return new Command('undo')
    .description(
      'Restore the old values that a run overwrote in a CRM, except in fields that were changed since. For the run of a list: archive the records that it made, except those that were touched since.',
    )
    .argument('<run>', 'the id of a run; `paydirt runs` lists them')
    .option('--field <name>', 'only this field, by its canonical name (industry, employees ...)')
    .option(
      '--plan',
      'list the records and fields with their values: what would be restored, what would be left and why; writes nothing',
    )
    .option('--json', 'print one JSON document on standard output')
    .addHelpText(
      'after',
      helpEnd({
        examples: ['paydirt undo RUN --plan', 'paydirt undo RUN --field industry', 'paydirt undo RUN'],
        notes: ['RUN is an id that `paydirt runs` lists.'],
        statuses: {
          0: 'all done',
          3: 'the CRM refuses requests for a while: run the same command again',
          130: 'stopped by Ctrl-C; the same command continues',
        },
      }),
    )
    .action(lazily(async () => (await import('./undo.ts')).undo))
}
