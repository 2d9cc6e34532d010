import { privateKeyToAccount } from 'viem/accounts'
import { noteFromCli } from '../../app/context/audit-from-cli.ts'
import { reconcileAndHeal, type Healed } from '../../app/money/heal-charges.ts'
import type { Reconciliation } from '../../app/money/reconcile.ts'
import { accountCount, type AccountCount } from '../../app/money/account-count.ts'
import { serviceCounts, type ServiceCount } from '../../app/money/service-count.ts'
import { finishRestore } from '../../app/restored/finish-restore.ts'
import type { Config } from '../../app/config/config.ts'
import { isInUse, queryLedger } from '../../app/queries/query-ledger.ts'
import { ConfigError } from '../../domain/errors.ts'
import { formatUsd } from '../../domain/money.ts'
import { counted as countedNoun } from '../../domain/values/counted.ts'
import {
  chargesToDecide,
  closeCharges,
  type ChargeToDecide,
  type Verdict,
} from '../../store/ledger/close-charges.ts'
import { openPaymentsUntil } from '../../store/ledger/paid-charges.ts'
import { restoredLines } from './restored-text.ts'
import { isAgreed, verdictLines } from './reconcile-verdict.ts'
import { exitStatus } from '../terminal/exit.ts'
import { readConfig, withContext } from '../terminal/with-context.ts'
import { print, printError } from '../terminal/print.ts'
import { utcMinute } from '../../domain/values/utc-minute.ts'

interface Options {
  json?: true
  full?: true
  close?: string[]
  as?: Verdict
  lostWallet?: string[]
}

export async function reconcileLedger(options: Options): Promise<void> {
  if (options.close || options.as) return closeByHand(options)
  const config = await readConfig()
  if (config.walletKey === undefined && config.apiKey === undefined)
    throw new ConfigError(
      'missing_setting',
      'neither PAYDIRT_WALLET_KEY nor PAYDIRT_API_KEY is set: there are no payments to compare',
    )
  if (options.lostWallet) await bookAsLost(config, options.lostWallet)
  const compared = await compare(config, options.full === true)
  const { result, counts, account, resolved, toDecide } = compared
  const agrees = isAgreed(result, counts)
  if (options.json) {
    const document = {
      ...result,
      service: counts,
      account,
      resolved,
      toDecide: toDecide.length > 0 ? toDecide.map(shown) : undefined,
      agrees,
    }
    print(`${JSON.stringify(document)}\n`)
  } else
    print(
      [
        ...verdictLines(result, counts),
        ...(result ? [...healedLines(result.healed), ...chainLines(result)] : []),
        ...restoredLines(result?.restored),
        ...countLines(counts, account),
        ...(resolved ? doubtLines(resolved) : []),
        ...decideLines(toDecide),
        '',
      ].join('\n'),
    )
  process.exitCode = agrees ? exitStatus.done : exitStatus.failed
}

/** A process that holds the ledger would have to be asked: such a step is taken while everything is stopped. */
async function bookAsLost(config: Config, lostWallets: readonly string[]): Promise<void> {
  const bad = lostWallets.find((address) => !/^0x[0-9a-f]{40}$/i.test(address))
  if (bad !== undefined)
    throw new ConfigError('bad_option', `--lost-wallet: ${bad} is not the address of a wallet`)
  await withContext(async (context) => {
    const { walletKey } = config
    const own = walletKey === undefined ? undefined : privateKeyToAccount(walletKey).address
    const end = await finishRestore(context, own, { lostWallets })
    if (end === undefined)
      throw new ConfigError('not_restored', 'this ledger is not in restore mode: there is nothing to book')
    if (end.kind === 'waiting')
      throw new ConfigError(
        'restore_waits',
        `an authorization of before the restore may still be used: do this after ${end.until.toISOString()}`,
      )
    await noteFromCli(context, 'reconcile', { details: { lostWallets: lostWallets.join(' ') } })
  }, config)
}

interface Compared {
  result: (Reconciliation & { healed: Healed[] }) | undefined
  counts: ServiceCount[]
  account: AccountCount | undefined
  /** Absent where another process holds the ledger, and resolves payments in doubt itself. */
  resolved: { closed: number; open: number; openUntil: Date | null } | undefined
  toDecide: ChargeToDecide[]
}

/** Resolves and compares; beside a process that holds the ledger, has it compare. */
async function compare(config: Config, isFull: boolean): Promise<Compared> {
  try {
    return await withContext(async (context) => {
      const engine = await context.openEngine()
      const resolved = await engine.resolve(0)
      const { walletKey } = config
      const result =
        walletKey === undefined
          ? undefined
          : await reconcileAndHeal(context, privateKeyToAccount(walletKey).address, () => engine.resolve(0), {
              isFull,
            })
      await noteFromCli(context, 'reconcile', {
        details: {
          ...resolved,
          ...(result ? { differences: result.differences.length, healed: result.healed.length } : {}),
        },
      })
      return {
        result,
        resolved: { ...resolved, openUntil: await openPaymentsUntil(context.database.db) },
        counts: await serviceCounts(context),
        account: await accountCount(context, engine),
        toDecide: await chargesToDecide(context.database.db, context.now()),
      }
    }, config)
  } catch (error) {
    if (!isInUse(error)) throw error
    const { reconciliation, service, account, toDecide } = await queryLedger(config, 'comparison', { isFull })
    printError(
      'paydirt: another process uses the ledger and resolves payments in doubt itself; this only compares\n',
    )
    const result = reconciliation && { ...reconciliation, healed: [] }
    return { result, counts: service, account, resolved: undefined, toDecide }
  }
}

async function closeByHand({ close, as, json }: Options): Promise<void> {
  if (!close || !as)
    throw new ConfigError('missing_option', '--close and --as are used together: --close CHARGE --as VERDICT')
  await withContext(async ({ database, now }) => {
    const closed = await closeCharges(database.db, {
      ids: close,
      as,
      now: now(),
      actor: 'cli',
      role: 'shell',
    })
    print(
      json
        ? `${JSON.stringify({ closed: closed.map(shown), as })}\n`
        : closed.map((charge) => `${as}: ${decideLine(charge)}\n`).join(''),
    )
  })
}

function shown({
  id,
  operation,
  connector,
  protocol,
  currency,
  amountAtomic,
  sentAt,
  isAnswered,
}: ChargeToDecide) {
  return {
    charge: id,
    operation,
    connector,
    protocol,
    currency,
    amount: formatUsd(amountAtomic),
    sentAt,
    answered: isAnswered,
  }
}

function decideLines(charges: readonly ChargeToDecide[]): string[] {
  if (charges.length === 0) return []
  return [
    'needs action (decide with `paydirt reconcile --close CHARGE --as declined`, `lost` or `settled`):',
    ...charges.map((charge) => `  ${decideLine(charge)}`),
  ]
}

function decideLine({ id, operation, currency, amountAtomic, sentAt, isAnswered }: ChargeToDecide): string {
  const unit = currency === 'USD' ? 'USD' : 'credits'
  return `${id}  ${formatUsd(amountAtomic)} ${unit}  ${operation}  sent ${utcMinute(sentAt)}${isAnswered ? '  answered' : ''}`
}

function doubtLines({ closed, open, openUntil }: NonNullable<Compared['resolved']>): string[] {
  if (closed + open === 0) return []
  const until =
    open > 0 && openUntil
      ? `: those on the chain cannot be used after ${utcMinute(openUntil)}, and a reconcile some minutes later closes them`
      : ''
  return [`in doubt: ${closed} resolved now, ${open} still open${until}`]
}

function countLines(counts: readonly ServiceCount[], account: AccountCount | undefined): string[] {
  return [
    ...counts
      .filter(({ counted }) => counted > 0)
      .map(({ currency, charges, counted, credits, service, ledger, difference }) => {
        const unit = currency === 'USD' ? 'USD' : 'credits'
        const same = currency === 'USD' ? ` (${service} USD)` : ''
        return `service ${credits} credits${same} by its own count, in ${counted} of ${countedNoun(charges, 'answer')}; ledger ${ledger} ${unit} for the same answers (${difference} more in the ledger)`
      }),
    ...(account ? accountLines(account) : []),
  ]
}

function healedLines(healed: readonly Healed[]): string[] {
  return healed.map(
    ({ charge, transaction, amount, state }) =>
      `healed: charge ${charge} (${amount} USD) was closed as unpaid, and the chain shows it in ${transaction}; now ${state}`,
  )
}

function chainLines(result: Reconciliation): string[] {
  const { chain, ledger, differences, elsewhere } = result
  return [
    `wallet ${result.wallet}`,
    `chain   ${chain.amount} USD in ${countedNoun(chain.transfers, 'transfer')}`,
    `ledger  ${ledger.settled} USD settled, ${ledger.lost} lost, ${ledger.inDoubt} in doubt, in ${countedNoun(ledger.charges, 'charge')}`,
    ...underWay(result),
    ...(elsewhere.transfers > 0
      ? [`${elsewhere.amount} USD in ${countedNoun(elsewhere.transfers, 'other transfer')} (not by Paydirt)`]
      : []),
    ...differences.map(
      ({ kind, charge, transaction, ledger: booked, chain: moved }) =>
        `  ${kind}: charge ${charge ?? '-'}, transaction ${transaction ?? '-'}, ledger ${booked}, chain ${moved}`,
    ),
  ]
}

/** Payments that are neither matched nor a difference. */
function underWay({ moved, pending, unknown, logsGoneThrough }: Reconciliation): string[] {
  const line = ({ charges, amount }: { charges: number; amount: string }, text: string) =>
    charges > 0 ? [`${amount} USD in ${countedNoun(charges, 'charge')} ${text}`] : []
  return [
    ...line(moved, 'in doubt that the chain has moved: their answers are still being asked for'),
    ...line(pending, 'booked as paid that are not on the chain yet and may still get there'),
    ...line(
      unknown,
      'unknown: the token has them as used, and the node no longer has their logs (PAYDIRT_RPC_URL of a node that keeps all logs, then --full)',
    ),
    ...(logsGoneThrough === undefined ? [] : [`the node has no logs up to block ${logsGoneThrough}`]),
  ]
}

/** The account's own count, and what it says about the requests in doubt. */
function accountLines(account: AccountCount): string[] {
  const { used, left, since, usedSince, bookedSince, unexplained, verdict, inDoubt, problem } = account
  const bySelf = account.automaticMonitors
    .map(
      (name) =>
        `, or people whom the service enriches by itself (monitors.${name}.automaticPersonEnrichment)`,
    )
    .join('')
  if (problem !== undefined) return [`account: its count cannot be read: ${problem}`]
  const meaning = {
    agree:
      inDoubt.charges > 0
        ? `the account has used nothing beyond the ledger: the ${inDoubt.charges} in doubt were not charged (--as declined)`
        : 'both agree',
    unexplained: `${unexplained} credits beyond the ledger: charges in doubt (${inDoubt.credits} credits), failed requests, or others with the same key${bySelf}`,
    behind:
      "the account's count is below the ledger: it is late, or credits were added, and says nothing now",
    under_way: 'requests are under way: ask again when the work rests',
    unknown: 'the first count; later ones are compared with it',
  }[verdict]
  return [
    `account ${used ?? 'unknown'} credits used with this key by all its users, ${left ?? 'unknown'} left`,
    since === null
      ? `  ${meaning}`
      : `  since ${since}: ${usedSince} by its count, ${bookedSince} in the ledger; ${meaning}`,
  ]
}
