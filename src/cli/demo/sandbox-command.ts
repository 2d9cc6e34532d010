import { Command, InvalidArgumentError, Option } from 'commander'
import type { StandInName } from '../../sandbox/stand-ins.ts'
import { standInNames } from '../terminal/choices.ts'
import { helpEnd } from '../terminal/help-end.ts'
import { lazily } from '../terminal/lazily.ts'
import { crmPort, sandboxPorts } from './ports.ts'

export function sandboxCommand(): Command {
  return new Command('sandbox')
    .description(
      'Run a stand-in of the data service on this machine, with synthetic data and a local chain, and of a CRM beside it.',
    )
    .option('--port <n>', 'port of the service (0: a free one)', port, sandboxPorts.service)
    .option('--rpc-port <n>', 'port of the chain (0: a free one)', port, sandboxPorts.chain)
    .option(
      '--state <file>',
      "keep the chain in this file between starts, and wallet and CRMs beside it (default in a demo's folder: its own)",
    )
    .addOption(
      new Option('--crm <name>', 'a stand-in of this CRM too, with a page of its records; repeatable')
        .argParser(crm)
        .default([], 'none'),
    )
    .option(
      '--crm-port <n>',
      `port of the CRM, the next one for a second CRM (0: free ones; default ${standInNames.map((name) => `${crmPort(name)} for ${name}`).join(', ')})`,
      port,
    )
    .option('--records <n>', 'how many records of each object a new CRM has', count, 100)
    .option('--paydirt-url <url>', "where the CRM's buttons find `paydirt start`", 'http://127.0.0.1:8080')
    .option('--json', 'print one JSON document with the settings')
    .addHelpText(
      'after',
      helpEnd({
        examples: [
          'paydirt sandbox',
          'paydirt sandbox --crm hubspot',
          'paydirt sandbox --port 0 --rpc-port 0 --state chain.json',
        ],
        notes: [
          "It prints the settings to use, and runs until Ctrl-C. In the folder of a demo it continues the demo's chain and wallet.",
        ],
        statuses: { 0: 'stopped by Ctrl-C or SIGTERM', 130: 'stopped before it had started' },
      }),
    )
    .action(lazily(async () => (await import('./sandbox.ts')).sandbox))
}

function port(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text)
  throw new InvalidArgumentError('is not a port')
}

function count(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('must be a whole number from 1 to 999999')
}

function crm(text: string, before: StandInName[]): StandInName[] {
  const name = standInNames.find((each) => each === text.toLowerCase())
  if (name === undefined) throw new InvalidArgumentError(`must be one of ${standInNames.join(', ')}`)
  return before.includes(name) ? before : [...before, name]
}
