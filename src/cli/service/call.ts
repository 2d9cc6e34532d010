import { InputError, PaydirtError } from '../../domain/errors.ts'
import { parseUsd, type Atomic } from '../../domain/money.ts'
import { noteFromCli } from '../../app/context/audit-from-cli.ts'
import { performAction } from '../../app/actions/perform-action.ts'
import type { Context } from '../../app/context/context.ts'
import { queryLedger } from '../../app/queries/query-ledger.ts'
import { costText, droppedText, faultsOf, pageOf } from '../../app/service/call-result.ts'
import { knownOfAccount, withAcceptedNames } from '../../app/service/known-of-account.ts'
import { assertBuyable } from '../../app/service/assert-buyable.ts'
import { openCalls, withCallCap, type CallEnd } from '../../app/service/call-session.ts'
import { operationNamed, planCall, type PlannedCall } from '../../app/service/plan-call.ts'
import { checkBody } from '../../service/calls/check-body.ts'
import type { KnownWords } from '../../service/calls/guard-words.ts'
import { wordsNeverSeen } from '../../service/calls/words-never-seen.ts'
import { operationRow } from '../../domain/operations.ts'
import { isAccountOperation, type AccountOperation } from '../../app/context/service.ts'
import { exitStatus } from '../terminal/exit.ts'
import { print, printError } from '../terminal/print.ts'
import { readConfig, stopSignal, withContext } from '../terminal/with-context.ts'
import { reportAction } from './action-result.ts'
import { readBody } from './body-input.ts'
import { callPlanText } from './call-plan-text.ts'

interface Options {
  json: string
  path?: string
  maxUsd?: string
  pages?: number
  all?: true
  unchecked?: true
  plan?: true
  yes?: true
  again?: true
}

export async function callOperation(name: string, options: Options): Promise<void> {
  const operation = operationNamed(name)
  const body = await readBody(options.json)
  const settings = await readConfig()
  const maxAtomic = options.maxUsd === undefined ? undefined : amountOf(options.maxUsd)
  const config = withCallCap(settings, operation, maxAtomic)
  // Said before a ledger is opened: neither needs one.
  if (operationRow(operation).kind === 'action' && !options.yes && !options.plan)
    throw new InputError('needs_yes', `${operation} changes something at the service: send it with --yes`)
  if (options.pages !== undefined && !config.catalogue.of(operation).answer.rows)
    throw new InputError('bad_call', `${operation} has no pages: leave --pages out`)
  checkBody(config.catalogue.of(operation), body, { knowsKeys: options.path === undefined })
  if (options.plan)
    return print(
      callPlanText(
        await queryLedger(settings, 'callPlan', {
          operation,
          body,
          path: options.path,
          maxAtomic: maxAtomic === undefined ? undefined : String(maxAtomic),
          isEverything: options.all ?? false,
          isUnchecked: options.unchecked ?? false,
          pages: options.pages ?? 1,
        }),
      ),
    )
  const signal = stopSignal()
  await withContext(
    async (context) => {
      const known = await knownOfAccount(context, { asks: true })
      const named = await withAcceptedNames(config, context)
      const planOf = (page?: number) =>
        planCall(
          named,
          {
            operation,
            body: page === undefined ? body : { ...body, page },
            path: options.path,
            maxAtomic,
            isEverything: options.all ?? false,
            isUnchecked: options.unchecked ?? false,
          },
          known,
        )
      const call = planOf()
      if (isAccountOperation(operation)) return printAccount(context, operation)
      await assertBuyable(context, call)
      if (call.kind === 'action') return sendAction(context, call, { again: options.again ?? false, signal })
      await buyPages(context, call, planOf, { pages: options.pages ?? 1, signal, learned: known.learned })
    },
    config,
    { saysItself: true },
  )
}

async function printAccount(context: Context, operation: AccountOperation): Promise<void> {
  const { askAccount } = await context.openEngine()
  print(`${JSON.stringify(await askAccount(operation), null, 2)}\n`)
}

async function sendAction(
  context: Context,
  call: PlannedCall,
  options: { again: boolean; signal: AbortSignal },
): Promise<void> {
  const end = await performAction(context, call, {
    ...options,
    onWait: (until) =>
      printError(
        `paydirt: an earlier request may still be processed; it is read again at ${until.toISOString()}\n`,
      ),
  })
  // After the act: its own journal is there from before the first byte, so that a kill here loses no action.
  if (end.state !== 'parked')
    await noteFromCli(context, 'service.action', {
      target: call.operation,
      details: { state: end.state, action: String(end.action.id) },
    })
  process.exitCode = reportAction(end)
}

/** Buys pages one after the other and prints each. Ends at the last page, at the first that is unusable, or at an interrupt. */
async function buyPages(
  context: Context,
  first: PlannedCall,
  planOf: (page: number) => PlannedCall,
  { pages, signal, learned }: { pages: number; signal: AbortSignal; learned: KnownWords },
): Promise<void> {
  const calls = await openCalls(context, { first, signal })
  try {
    let seen = rowsBefore(first)
    for (let call = first, bought = 1; ; bought += 1) {
      const end = await calls.buy(call)
      const { status, rows, total } = report(call, end, learned)
      process.exitCode = status
      seen += rows
      const isLast = rows === 0 || (total !== null && seen >= total)
      if (status !== exitStatus.done || isLast || bought >= pages) return
      if (signal.aborted) {
        printError(
          `paydirt: stopped after page ${call.page}. Nothing is lost: the same command continues it\n`,
        )
        process.exitCode = exitStatus.interrupted
        return
      }
      const next = await nextPage(context, () => planOf((call.page ?? 0) + 1), end)
      if (!next) return
      call = next
    }
  } finally {
    await calls.close()
  }
}

/** Returns the call of the next page; undefined, with the reason on standard error, where it must not be bought. */
async function nextPage(
  context: Context,
  plan: () => PlannedCall,
  last: CallEnd,
): Promise<PlannedCall | undefined> {
  try {
    const next = plan()
    await assertBuyable(context, next, last)
    return next
  } catch (error) {
    if (!(error instanceof PaydirtError)) throw error
    printError(`paydirt: ${error.message}\n`)
    process.exitCode = exitStatus.failed
    return undefined
  }
}

/** Returns the rows of the pages before the first one that is bought: behind the last row there is nothing to buy. */
function rowsBefore({ page = 1, request }: PlannedCall): number {
  const size = request['per_page']
  return typeof size === 'number' ? (page - 1) * size : 0
}

/** Prints one answer and what there is to say of it. */
function report(
  call: PlannedCall,
  end: CallEnd,
  learned: KnownWords,
): { status: number; rows: number; total: number | null } {
  const none = { rows: 0, total: null }
  const say = (text: string) => printError(`paydirt: ${text}\n`)
  const cost = costText(end, end.state === 'answered' && end.isKnown)
  if (end.state === 'failed') {
    say(`${call.operation} failed: ${end.reason} (${cost})`)
    return { status: exitStatus.failed, ...none }
  }
  if (end.state === 'parked') {
    const next = isAboveCap(end.reason)
      ? 'with a higher cap the same command continues it'
      : 'the same command continues it'
    say(`${call.operation} is parked: ${end.reason} (${cost}); ${next}`)
    return { status: exitStatus.parked, ...none }
  }
  if (end.state === 'interrupted') {
    say(`stopped (${cost}). Nothing is lost: the same command continues it`)
    return { status: exitStatus.interrupted, ...none }
  }
  const { outcome, data } = end.fact
  if (outcome === 'unreadable') {
    print(`${String(data?.['raw'] ?? '')}\n`)
    say(
      `the answer cannot be read: ${String(data?.['problem'] ?? 'it is not as the catalogue says')} (${cost}); it is kept, and \`service.operations\` can name other places`,
    )
    return { status: exitStatus.failed, ...none }
  }
  print(`${JSON.stringify(data, null, 2)}\n`)
  const page = pageOf(call, end.fact)
  const faults = page ? faultsOf(call, page) : []
  const found = page
    ? `, page ${call.page} has ${page.arrived} of ${page.total ?? 'an unknown number of'} rows${droppedText(page)}`
    : ''
  say(`${call.operation}: ${outcome === 'found' ? 'answered' : 'nothing found'}${found} (${cost})`)
  for (const fault of faults) say(fault)
  if (page?.arrived === 0)
    for (const { place, word } of wordsNeverSeen(call.contract, call.request, learned))
      say(`no answer has ever held the word "${word}" (${place}): it may be why there are no rows`)
  for (const [name, note] of Object.entries(page?.notes ?? {})) say(`${name}: ${JSON.stringify(note)}`)
  return {
    status: faults.length > 0 ? exitStatus.failed : exitStatus.done,
    rows: page?.arrived ?? 0,
    total: page?.total ?? null,
  }
}

function isAboveCap(reason: string): boolean {
  return /above (its|the|their) caps? of/.test(reason)
}

function amountOf(text: string): Atomic {
  try {
    return parseUsd(text)
  } catch {
    throw new InputError('bad_amount', `--max-usd: "${text}" is not an amount in USD such as 0.02`)
  }
}
