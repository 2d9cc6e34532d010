import { Command } from 'commander'
import { privateKeyToAccount } from 'viem/accounts'
import { reconcile, type Reconciliation } from '../app/reconcile.ts'
import { accountCount, serviceCounts, type AccountCount, type ServiceCount } from '../app/service-count.ts'
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
        const { walletKey, apiKey } = context.config
        if (walletKey === undefined && apiKey === undefined)
          throw new ConfigError(
            'missing_setting',
            'neither PAYDIRT_WALLET_KEY nor PAYDIRT_API_KEY is set: whose payments to compare is not known',
          )
        const engine = await context.openEngine()
        const resolved = await engine.resolve(0)
        const result =
          walletKey === undefined
            ? undefined
            : await reconcile(context, privateKeyToAccount(walletKey).address)
        const counts = await serviceCounts(context)
        const account = await accountCount(engine)
        const document = { ...result, service: counts, ...(account ? { account } : {}), resolved }
        if (options.json) process.stdout.write(`${JSON.stringify(document)}\n`)
        else
          process.stdout.write(
            [
              ...(result ? chainLines(result) : []),
              ...countLines(counts, account),
              ...doubtLines(resolved),
              '',
            ].join('\n'),
          )
        const isCredited = counts.every(
          ({ currency, difference }) => currency === 'USD' || Number(difference) === 0,
        )
        process.exitCode =
          (result?.differences.length ?? 0) === 0 && isCredited ? exitStatus.done : exitStatus.failed
      })
    })
}

function doubtLines({ closed, open }: { closed: number; open: number }): string[] {
  return closed + open > 0 ? [`doubts: ${closed} settled just now, ${open} still open`] : []
}

function countLines(counts: readonly ServiceCount[], account: AccountCount | undefined): string[] {
  return [
    ...counts
      .filter(({ counted }) => counted > 0)
      .map(({ currency, charges, counted, credits, service, ledger, difference }) => {
        const unit = currency === 'USD' ? 'USD' : 'credits'
        const same = currency === 'USD' ? ` (${service} USD)` : ''
        return `service ${credits} credits${same} by its own count, in ${counted} of ${charges} answers; ledger ${ledger} ${unit} for them; difference ${difference}`
      }),
    ...(account
      ? [
          `account ${account.used ?? 'unknown'} credits used by whoever has the key, ${account.left ?? 'unknown'} left`,
        ]
      : []),
  ]
}

function chainLines(result: Reconciliation): string[] {
  const { chain, ledger, differences, elsewhere } = result
  return [
    `wallet ${result.wallet}`,
    `chain   ${chain.amount} USD in ${chain.transfers} transfers`,
    `ledger  ${ledger.settled} USD settled, ${ledger.lost} lost, ${ledger.inDoubt} in doubt, in ${ledger.charges} charges`,
    `difference ${result.difference} USD`,
    ...(elsewhere.transfers > 0
      ? [`${elsewhere.amount} USD went elsewhere in ${elsewhere.transfers} transfers (not ours)`]
      : []),
    ...differences.map(
      ({ kind, charge, transaction, ledger: booked, chain: moved }) =>
        `  ${kind}: charge ${charge ?? '-'}, transaction ${transaction ?? '-'}, ledger ${booked}, chain ${moved}`,
    ),
  ]
}
