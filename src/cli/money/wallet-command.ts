import { Command } from 'commander'
import { helpEnd } from '../terminal/help-end.ts'
import { lazily } from '../terminal/lazily.ts'

export function walletCommand(): Command {
  const wallet = new Command('wallet')
    .description('Make a wallet, show its address, show its balance.')
    .addHelpText('after', helpEnd({ examples: ['paydirt wallet address', 'paydirt wallet balance'] }))
  wallet
    .command('new')
    .description('Make a key, store it in a file that only you can read, and print the address to fund.')
    .option(
      '--file <path>',
      'where the key goes (default: wallet.key in the data directory, where commands look for it)',
    )
    .addHelpText(
      'after',
      helpEnd({ examples: ['paydirt wallet new', 'paydirt wallet new --file second.key'], statuses: {} }),
    )
    .action(lazily(async () => (await import('./wallet.ts')).makeWallet))
  wallet
    .command('address')
    .description('Print the address of the configured wallet.')
    .addHelpText('after', helpEnd({ examples: ['paydirt wallet address'], statuses: {} }))
    .action(lazily(async () => (await import('./wallet.ts')).showAddress))
  wallet
    .command('balance')
    .description('Print the balance of the wallet.')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      helpEnd({ examples: ['paydirt wallet balance', 'paydirt wallet balance --json'], statuses: {} }),
    )
    .action(lazily(async () => (await import('./wallet.ts')).showBalance))
  return wallet
}
