import { Command, Option } from 'commander'
import { verdicts } from '../terminal/choices.ts'
import { helpEnd } from '../terminal/help-end.ts'
import { lazily } from '../terminal/lazily.ts'

export function reconcileCommand(): Command {
  return new Command('reconcile')
    .description('Resolve payments in doubt, and compare the ledger with the chain, transfer by transfer.')
    .option('--json', 'print one JSON document')
    .option('--full', "read the chain's logs from the first charge again, not from the last comparison")
    .option(
      '--close <charge...>',
      'close charges in doubt that neither the chain nor the service can resolve',
    )
    .addOption(
      new Option(
        '--as <verdict>',
        "what the provider's statement says: not charged, charged without an answer, or charged with one",
      ).choices(verdicts),
    )
    .option(
      '--lost-wallet <address...>',
      'after a restore: book what this wallet has paid since the backup as lost, because its key is lost; its lookups are bought again',
    )
    .addHelpText(
      'after',
      helpEnd({
        examples: ['paydirt reconcile', 'paydirt reconcile --full --json'],
        notes: [
          `Neither the chain nor the service can say whether a payment by API key or card was charged. One without an answer keeps
its budget reserved and its lookup waiting until a person decides: declined releases the budget and buys again, lost
counts the amount as spent, settled is for an answer that the ledger has. All named charges are closed, or none.`,
          `The first lines say what agrees and what does not, and what to do. Ledger and chain must agree, payment by payment, and
so must credits. That the service counts less in USD than was paid is no difference: a request pays the ceiling of its challenge.`,
          'The chain is read from where the last comparison ended. A payment that is still under way is shown, and is no difference.',
        ],
        statuses: { 0: 'they agree', 1: 'they differ, or failed' },
      }),
    )
    .action(lazily(async () => (await import('./reconcile.ts')).reconcileLedger))
}
