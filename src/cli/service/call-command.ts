import { Command, InvalidArgumentError } from 'commander'
import { helpEnd } from '../terminal/help-end.ts'
import { lazily } from '../terminal/lazily.ts'

export function callCommand(): Command {
  return new Command('call')
    .description(
      'Call one operation of the service, and print its whole answer (of the account its `data` alone).',
    )
    .argument('<operation>', 'name of an operation, such as job.search')
    .option('--json <body>', 'its request: JSON, @FILE, or - for standard input', '{}')
    .option('--path <path>', 'another path than the one of the catalogue; its keys are not checked')
    .option('--max-usd <amount>', 'the most that one request may cost')
    .option('--pages <count>', 'buy up to this many pages of a search, from `page` on', pagesOf)
    .option('--all', 'send a search without any filter')
    .option('--unchecked', 'accept words that no answer has held yet')
    .option('--plan', 'show what would be sent and what is known of its price; send nothing')
    .option('--yes', 'send an action, which changes something at the service')
    .option('--again', 'send an action that was done before once more')
    .addHelpText(
      'after',
      helpEnd({
        examples: [
          'paydirt service call job.search --json \'{"domains":["acme.example"]}\' --plan',
          'paydirt service call job.search --json @search.json --max-usd 0.02 --pages 3',
          'paydirt service call monitor.list --max-usd 0.01',
        ],
        notes: [
          `A call is paid like every lookup: caps, kill switch, pace and ledger hold, and the same request is not paid twice while
its answer is fresh (a day for searches). The answer goes to standard output, everything else to standard error.`,
          `A key or word that the service would drop is refused before anything is sent. When the service ignores a filter all the
same, the rows are kept, the search stops, and the exit status is 1.`,
        ],
        statuses: {
          0: 'answered',
          1: 'failed, unreadable, or a filter was ignored',
          2: 'refused before anything was sent',
          3: 'parked: it continues when the same command runs again',
        },
      }),
    )
    .action(lazily(async () => (await import('./call.ts')).callOperation))
}

function pagesOf(text: string): number {
  const pages = Number(text)
  if (!Number.isSafeInteger(pages) || pages < 1)
    throw new InvalidArgumentError('It is a whole number from 1 on.')
  return pages
}
