import { Command } from 'commander'
import { helpEnd } from '../terminal/help-end.ts'
import { lazily } from '../terminal/lazily.ts'

export function acceptCommand(): Command {
  return new Command('accept')
    .description('Accept the new names of request keys that answers have announced. Buys nothing.')
    .argument('<operation>', 'name of an operation, such as job.search')
    .option('--yes', 'accept them without a question')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      helpEnd({
        examples: ['paydirt service accept job.search --yes'],
        notes: [
          `An answer can say that a key of its request has another name now (metadata.renamed_fields). That name is shown, and sent
once it is accepted. Answers to requests with the old name are stale then: the next request for them buys them anew.`,
        ],
        statuses: { 0: 'accepted, or there was nothing to accept', 2: 'not accepted' },
      }),
    )
    .action(lazily(async () => (await import('./accept.ts')).accept))
}
