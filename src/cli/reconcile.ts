import { Command } from 'commander'
import { privateKeyToAccount } from 'viem/accounts'
import { reconcile, type Reconciliation } from '../app/reconcile.ts'
import { ConfigError } from '../domain/errors.ts'
import { exitStatus } from './exit.ts'
import { withContext } from './with-context.ts'

export function reconcileCommand(): Command {
  return new Command('reconcile')
    .description('Settle what is in doubt, and compare the ledger with the chain, transfer by transfer.')
    .option('--json', 'print one JSON document')
    .addHelpText('after', '\nExit status: 0 ledger and chain agree · 1 they differ')
    .action(async (options: { json?: true }) => {
      await withContext(async (context) => {
        const { walletKey } = context.config
        if (walletKey === undefined)
          throw new ConfigError(
            'missing_setting',
            'PAYDIRT_WALLET_KEY is not set: whose transfers to compare is not known',
          )
        const engine = await context.openEngine()
        const resolved = await engine.resolve(0)
        const result = await reconcile(context, privateKeyToAccount(walletKey).address)
        if (options.json) process.stdout.write(`${JSON.stringify({ ...result, resolved })}\n`)
        else process.stdout.write(text(result, resolved))
        process.exitCode = result.differences.length === 0 ? exitStatus.done : exitStatus.failed
      })
    })
}

function text(result: Reconciliation, resolved: { closed: number; open: number }): string {
  const { chain, ledger, differences, elsewhere } = result
  return [
    `wallet ${result.wallet}`,
    `chain   ${chain.amount} USD in ${chain.transfers} transfers`,
    `ledger  ${ledger.settled} USD settled, ${ledger.lost} lost, ${ledger.inDoubt} in doubt, in ${ledger.charges} charges`,
    `difference ${result.difference} USD`,
    ...(resolved.closed + resolved.open > 0
      ? [`doubts: ${resolved.closed} settled just now, ${resolved.open} still open`]
      : []),
    ...(elsewhere.transfers > 0
      ? [`${elsewhere.amount} USD went elsewhere in ${elsewhere.transfers} transfers (not ours)`]
      : []),
    ...differences.map(
      ({ kind, charge, transaction, ledger: booked, chain: moved }) =>
        `  ${kind}: charge ${charge ?? '-'}, transaction ${transaction ?? '-'}, ledger ${booked}, chain ${moved}`,
    ),
    '',
  ].join('\n')
}
