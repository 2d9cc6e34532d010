import type { DeskCaps } from './budgets.ts'
import { daysLeft, type NowModel } from './now.ts'

/** Something that an operator should look at. */
export interface AttentionItem {
  tone: 'warn' | 'danger'
  text: string
  href: string
}

const walletDays = 3
/** The page to look at for each alert condition (domain/alerts.ts). */
const alertPages: Record<string, string> = {
  wallet_low: '/spend',
  cap_reached: '/spend',
  reconciliation_difference: '/spend',
  error_rate: '/failures',
  nothing_written: '/runs',
  schedule_missed: '/settings',
  contract_drift: '/contract',
}

/** Returns what needs action, the most severe first. */
export function attentionItems(model: NowModel, caps: DeskCaps): AttentionItem[] {
  const items: AttentionItem[] = []
  /** Alert conditions that the page itself has detected, so that they are not listed twice. */
  const detected = new Set<string>()
  function add(tone: AttentionItem['tone'], text: string, href: string, condition?: string): void {
    items.push({ tone, text, href })
    if (condition !== undefined) detected.add(condition)
  }
  const { money, wallet, pace, reconciliation, ledgerAway } = model
  if (ledgerAway) add('danger', databaseAway(ledgerAway.readAt), '/')
  if (model.stopped)
    add('danger', 'Spending is stopped: nothing is bought until an operator resumes it', '#spending')
  if (reconciliation && reconciliation.differences > 0)
    add(
      'danger',
      'The last reconciliation found differences between the ledger and the chain',
      '/spend',
      'reconciliation_difference',
    )
  if (wallet?.balanceAtomic !== undefined) {
    const left = daysLeft(wallet.balanceAtomic, money, model.at)
    if (wallet.balanceAtomic === 0n) add('danger', 'The wallet is empty', '/spend', 'wallet_low')
    else if (left !== undefined && left < walletDays)
      add(
        'warn',
        `At the rate of this week the wallet lasts for about ${Math.max(0, left).toFixed(1)} more days`,
        '/spend',
        'wallet_low',
      )
    else if (left === undefined && wallet.balanceAtomic < money.settledLastWeekAtomic)
      add('warn', 'The wallet holds less than was spent so far', '/spend', 'wallet_low')
  } else if (wallet) add('warn', 'The chain does not respond: the wallet balance is unknown', '/spend')
  if (!model.pace) add('danger', 'Redis does not respond: no jobs are being processed', '/queues')
  const dayCap = caps.dayAtomic
  const today = money.committed.get(`day:${model.at.toISOString().slice(0, 10)}`) ?? 0n
  if (dayCap !== undefined && today * 10n >= dayCap * 9n)
    add(
      'warn',
      today >= dayCap ? 'The daily budget is used up' : 'The daily budget is nearly used up',
      '/spend',
      'cap_reached',
    )
  const blocked = model.parked
    .filter(({ resumesAt, code }) => !resumesAt && code !== 'stopped')
    .reduce((sum, { records }) => sum + records, 0)
  if (blocked > 0)
    add('warn', `${blocked} parked ${blocked === 1 ? 'record needs' : 'records need'} action`, '/failures')
  if (pace && pace.limitedShare > 0.2)
    add(
      'warn',
      `The service rate-limited ${Math.round(pace.limitedShare * 100)} % of recent requests (429)`,
      '/charts?range=3h',
    )
  if (money.inDoubt > 0)
    add(
      'warn',
      `${money.inDoubt} ${money.inDoubt === 1 ? 'payment is' : 'payments are'} in doubt; Paydirt is checking the chain for the outcome`,
      '/spend',
    )
  for (const { name, message } of model.alerts) {
    if (!detected.has(name)) add('warn', message, alertPages[name] ?? '/')
  }
  return items.sort((a, b) => (a.tone === b.tone ? 0 : a.tone === 'danger' ? -1 : 1))
}

function databaseAway(readAt: Date | undefined): string {
  const figures =
    readAt === undefined
      ? 'there are no figures to show'
      : `the figures of the ledger below are those of ${readAt.toISOString().slice(11, 19)} UTC`
  return `The database does not respond: nothing is bought or written; ${figures}`
}
