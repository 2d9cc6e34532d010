import { Command, InvalidArgumentError } from 'commander'
import { helpEnd } from '../terminal/help-end.ts'
import { lazily } from '../terminal/lazily.ts'

export function runsCommand(): Command {
  return new Command('runs')
    .description('List the latest runs, or show the figures of one. Stop or resume one.')
    .argument('[run]', 'the id of a run')
    .option('--limit <n>', 'how many to list', positive, 20)
    .option('--json', 'print one JSON document')
    .option(
      '--stop [reason]',
      'buy nothing more for this run until it is resumed; the reason is shown to others',
    )
    .option('--resume', 'resume a run that was stopped')
    .addHelpText(
      'after',
      helpEnd({
        examples: ['paydirt runs', 'paydirt runs --limit 100 --json', 'paydirt runs RUN'],
        notes: ['RUN is an id that `paydirt runs` lists.'],
        statuses: {},
      }),
    )
    .action(lazily(async () => (await import('./runs.ts')).showRuns))
}

function positive(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError('must be a whole number above 0')
  return Number(text)
}
