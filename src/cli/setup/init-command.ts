import { Command, InvalidArgumentError, Option } from 'commander'
import type { CrmName } from '../../connectors/definitions.ts'
import { crmNames, payments } from '../terminal/choices.ts'
import { helpEnd } from '../terminal/help-end.ts'
import { lazily } from '../terminal/lazily.ts'

export function initCommand(): Command {
  return new Command('init')
    .description(
      'Set up Paydirt in this folder: ask for service, payment, caps and CRM, and write .env and paydirt.config.ts.',
    )
    .option('--service-url <url>', 'base address of the data service')
    .option('--logo-url <url>', 'address of the logo endpoint; without it no logos are fetched')
    .option('--rpc-url <url>', 'JSON-RPC of the chain')
    .addOption(
      new Option('--pay <how>', 'what pays for lookups (default: a wallet, made when there is none)').choices(
        payments,
      ),
    )
    .option('--crm <names>', `CRMs to connect, comma-separated: ${crmNames.join(', ')}; none`, crms)
    .option('--hubspot-url <url>', 'address of the HubSpot API, where it is not https://api.hubapi.com')
    .option('--max-price <usd>', 'the most that one lookup may cost')
    .option('--budget-run <usd>', 'the most that one run may spend')
    .option('--budget-day <usd>', 'the most that a day may cost')
    .option('--yes', 'ask nothing: take the options, the variables that are set, and defaults')
    .option('--force', 'with --yes: replace files that are there; a copy of each is kept')
    .option('--json', 'print one JSON document on standard output')
    .addHelpText(
      'after',
      helpEnd({
        examples: [
          'paydirt init',
          'paydirt init --yes --service-url https://data.example.com --crm hubspot --budget-run 20',
        ],
        notes: [
          `Secrets are no options, because options appear in the list of processes: they are asked for, or taken from the environment
(PAYDIRT_WALLET_KEY, PAYDIRT_API_KEY, HUBSPOT_ACCESS_TOKEN, HUBSPOT_CLIENT_SECRET ...). The .env file is readable by you alone.`,
        ],
        statuses: { 130: 'given up, or stopped by Ctrl-C; nothing was written' },
      }),
    )
    .action(lazily(async () => (await import('./init.ts')).init, { isQuiet: true }))
}

function crms(text: string): CrmName[] {
  if (text.trim() === 'none') return []
  return text.split(',').map((given) => {
    const name = crmNames.find((each) => each === given.trim().toLowerCase())
    if (name === undefined)
      throw new InvalidArgumentError(
        `${given.trim().toLowerCase()} is none of ${[...crmNames, 'none'].join(', ')}`,
      )
    return name
  })
}
