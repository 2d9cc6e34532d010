import { Command, InvalidArgumentError, Option } from 'commander'
import { standInNames } from '../terminal/choices.ts'
import { helpEnd } from '../terminal/help-end.ts'
import { lazily } from '../terminal/lazily.ts'

export function demoCommand(): Command {
  return new Command('demo')
    .description(
      'Enrich a sample CRM export against a sandbox on this machine, with real payments on a local chain.',
    )
    .option('--out <folder>', 'where the enriched files and a ledger of play money go', 'demo-out')
    .addOption(
      new Option('--crm <name>', 'sync a stand-in of this CRM instead of the files').choices(standInNames),
    )
    .addOption(
      new Option(
        '--list',
        'a list of new companies instead: preview, records in the CRM, the same list again, and the way back',
      ).implies({ crm: 'hubspot' }),
    )
    .addOption(
      new Option(
        '--monitor',
        'a monitor instead: declared, a week of the world delivered, a company with people, owner and task, and the way back',
      )
        .implies({ crm: 'hubspot' })
        .conflicts(['list', 'limit']),
    )
    .option('--limit <n>', 'at most so many records of each file or object', count)
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      helpEnd({
        examples: [
          'paydirt demo',
          'paydirt demo --crm hubspot',
          'paydirt demo --crm salesforce --list',
          'paydirt demo --crm hubspot --monitor',
        ],
        notes: [
          'The folder gets a .env, a ledger, a wallet and a chain of its own: in it, every other command works on them alone.',
        ],
        statuses: {
          0: 'ledger and chain agree',
          1: 'they differ, or failed; with --monitor also a CRM that is not as before',
        },
      }),
    )
    .action(lazily(async () => (await import('./demo.ts')).demo))
}

function count(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('must be a whole number above 0')
}
