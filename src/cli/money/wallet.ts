import { privateKeyToAccount } from 'viem/accounts'
import { createWallet, walletFile } from '../../app/config/wallet-file.ts'
import { ConfigError } from '../../domain/errors.ts'
import { capsOf, coverOf, coverText, stepPrices } from '../../domain/planning/prices.ts'
import { formatUsd } from '../../domain/money.ts'
import { createChain } from '../../pay/chain/chain.ts'
import { readConfig } from '../terminal/with-context.ts'
import { print, printError } from '../terminal/print.ts'

export async function makeWallet({ file }: { file?: string }): Promise<void> {
  const config = await readConfig()
  const path = file ?? walletFile(config.dataDir)
  const address = await createWallet(path)
  print(`${address}\n`)
  printError(
    `the key is in ${path} (mode 600); keep a copy of it in a safe place. Send USDC on Base to the address above: 1 USDC buys 100 lookups.\n`,
  )
}

export async function showAddress(): Promise<void> {
  print(`${(await configured()).address}\n`)
}

export async function showBalance({ json }: { json?: true }): Promise<void> {
  const { address, config } = await configured()
  const balance = await createChain({ rpcUrl: config.rpcUrl, asset: config.policy.asset }).balanceOf(address)
  const cover = coverOf(balance, stepPrices(config.prices, capsOf(config.policy)))
  const lookups = Number(cover?.cheapest.lookups ?? 0n)
  print(
    json
      ? `${JSON.stringify({ address, currency: 'USDC', balance: formatUsd(balance), lookups })}\n`
      : `${address} holds ${formatUsd(balance)} USDC, ${coverText(cover)}\n`,
  )
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
