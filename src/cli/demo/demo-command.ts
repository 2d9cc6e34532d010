import { Command, Option } from 'commander'
import { standInNames } from '../terminal/choices.ts'
import { helpEnd } from '../terminal/help-end.ts'
import { lazily } from '../terminal/lazily.ts'

export function demoCommand(): Command {
  return new Command('demo')
    .description(
      'Enrich a sample CRM export against a sandbox on this machine, with real payments on a local chain.',
    )
    .option('--out <folder>', 'where the enriched files go', 'demo-out')
    .addOption(
      new Option('--crm <name>', 'sync a stand-in of this CRM instead of the files').choices(standInNames),
    )
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      helpEnd({
        examples: ['paydirt demo', 'paydirt demo --crm hubspot'],
        statuses: { 0: 'ledger and chain agree', 1: 'they differ, or failed' },
      }),
    )
    .action(lazily(async () => (await import('./demo.ts')).demo))
}
