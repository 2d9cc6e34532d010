import type { Context } from '../../app/context/context.ts'
import { costText } from '../../app/service/call-result.ts'
import {
  assertSomethingToAsk,
  planLiveChecks,
  runLiveChecks,
  type LiveCheck,
} from '../../app/service/live-checks.ts'
import { InputError } from '../../domain/errors.ts'
import { formatUsd, type Atomic } from '../../domain/money.ts'
import { operationRow } from '../../domain/operations.ts'
import { operations } from '../../domain/words.ts'
import { counted } from '../../domain/values/counted.ts'
import { confirm, ownTerminal } from '../terminal/confirm.ts'
import { printError } from '../terminal/print.ts'

/** Shows the unconfirmed operations with the most that one answer of each can cost, asks, and buys them within the total. */
export async function buyLiveChecks(
  context: Context,
  options: {
    totalAtomic: Atomic
    company: string | undefined
    person: string | undefined
    yes: boolean
    signal: AbortSignal
  },
): Promise<void> {
  const { yes, ...limits } = options
  const { totalAtomic } = limits
  const checks = await planLiveChecks(context, limits)
  printError(checks.map(lineOf).join(''))
  const actions = operations.filter((operation) => operationRow(operation).kind === 'action')
  printError(`never asked, because they change something at the service: ${actions.join(', ')}\n`)
  assertSomethingToAsk(checks)
  const count = checks.filter((check) => !('skipped' in check)).length
  const question = `${counted(count, 'answer')}, at most ${formatUsd(totalAtomic)} USD in total`
  printError(`${question}\n`)
  if (!yes) {
    const terminal = ownTerminal()
    if (!terminal) throw new InputError('needs_yes', `nothing was sent: buy ${question} with --yes`)
    if (!(await confirm(terminal, `Buy ${question}?`))) throw new InputError('not_bought', 'nothing was sent')
  }
  for await (const { operation, end } of runLiveChecks(context, checks, limits)) {
    const cost = 'charges' in end ? ` (${costText(end, end.state === 'answered' && end.isKnown)})` : ''
    printError(`${operation}: ${endText(end)}${cost}\n`)
  }
}

function endText(end: { state: string; reason?: string; fact?: { outcome: string } }): string {
  if (end.state === 'unaffordable') return 'not asked: it could cost more than is left'
  if (end.state === 'answered')
    return end.fact?.outcome === 'unreadable' ? 'answered, unreadable' : 'answered'
  return end.reason === undefined ? end.state : `${end.state}: ${end.reason}`
}

function lineOf(check: LiveCheck): string {
  const name = check.operation.padEnd(22)
  if ('skipped' in check) return `${name} not asked: ${check.skipped}\n`
  const { priceAtomic, mostAtomic } = check
  const price = priceAtomic === undefined ? 'price unknown' : `${formatUsd(priceAtomic)} USD`
  const after = 'after' in check ? `, after ${check.after}: needs ${check.text}` : ''
  return `${name} ${price}, at most ${formatUsd(mostAtomic)} USD${after}\n`
}
