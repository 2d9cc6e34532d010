import { Command } from 'commander'
import { privateKeyToAccount } from 'viem/accounts'
import { createWallet, walletFile } from '../../app/config/wallet-file.ts'
import { ConfigError } from '../../domain/errors.ts'
import { capsOf, coverOf, coverText, stepPrices } from '../../domain/planning/prices.ts'
import { formatUsd } from '../../domain/money.ts'
import { createChain } from '../../pay/chain/chain.ts'
import { readConfig } from '../terminal/with-context.ts'
import { print, printError } from '../terminal/print.ts'

export function walletCommand(): Command {
  const wallet = new Command('wallet').description('Make a wallet, show its address, show its balance.')
  wallet
    .command('new')
    .description('Make a key, store it in a file that only you can read, and print the address to fund.')
    .option(
      '--file <path>',
      'where the key goes (default: wallet.key in the data directory, where commands look for it)',
    )
    .action(async ({ file }: { file?: string }) => {
      const config = await readConfig()
      const path = file ?? walletFile(config.dataDir)
      const address = await createWallet(path)
      print(`${address}\n`)
      printError(
        `the key is in ${path} (mode 600); keep a copy of it in a safe place. Send USDC on Base to the address above: 1 USDC buys 100 lookups.\n`,
      )
    })
  wallet
    .command('address')
    .description('Print the address of the configured wallet.')
    .action(async () => {
      print(`${(await configured()).address}\n`)
    })
  wallet
    .command('balance')
    .description('Print the balance of the wallet.')
    .option('--json', 'print one JSON document')
    .action(async ({ json }: { json?: true }) => {
      const { address, config } = await configured()
      const balance = await createChain({ rpcUrl: config.rpcUrl, asset: config.policy.asset }).balanceOf(
        address,
      )
      const cover = coverOf(balance, stepPrices(config.prices, capsOf(config.policy)))
      const lookups = Number(cover?.cheapest.lookups ?? 0n)
      print(
        json
          ? `${JSON.stringify({ address, currency: 'USDC', balance: formatUsd(balance), lookups })}\n`
          : `${address} holds ${formatUsd(balance)} USDC, ${coverText(cover)}\n`,
      )
    })
  return wallet
}

async function configured() {
  const config = await readConfig()
  if (config.walletKey === undefined) {
    throw new ConfigError(
      'missing_setting',
      'there is no wallet: set PAYDIRT_WALLET_KEY, or make one with `paydirt wallet new`',
    )
  }
  return { config, address: privateKeyToAccount(config.walletKey).address }
}
