import { Command } from 'commander'
import { helpEnd } from '../terminal/help-end.ts'
import { lazily } from '../terminal/lazily.ts'

export function retentionCommand(): Command {
  return new Command('retention')
    .description(
      'Show how long the rows of each table are kept, the oldest one, how many are due to be erased, and what was erased when. Erases nothing: `paydirt start` does, each hour.',
    )
    .option('--now', 'erase what is due now', false)
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      helpEnd({ examples: ['paydirt retention', 'paydirt retention --json'], statuses: {} }),
    )
    .action(lazily(async () => (await import('./retention.ts')).retention))
}
