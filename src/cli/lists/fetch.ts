import { fetchList, type Fetched } from '../../app/lists/pages/fetch-list.ts'
import { callOf, listCalls, listNamed, type ListCalls } from '../../app/lists/pages/list-calls.ts'
import { readList, type ReadList } from '../../app/lists/pages/read-list.ts'
import type { Context } from '../../app/context/context.ts'
import { chargesText } from '../../app/service/own-charges.ts'
import { withCallCap } from '../../app/service/call-session.ts'
import { ConfigError, InputError } from '../../domain/errors.ts'
import { formatUsd, parseUsd, type Atomic } from '../../domain/money.ts'
import { counted } from '../../domain/values/counted.ts'
import { exitStatus } from '../terminal/exit.ts'
import { liveLine } from '../terminal/live-line.ts'
import { print, printError } from '../terminal/print.ts'
import { readConfig, stopSignal, withContext } from '../terminal/with-context.ts'
import { showExcluding } from './excluding.ts'
import { listDocument, listText, rowsText } from './list-text.ts'

const shown = 25

interface PreviewOptions {
  maxUsd?: string
  plan: boolean
  json?: true
}

/** Buys page 1 at most, and says so before. */
export async function previewList(name: string, options: PreviewOptions): Promise<void> {
  await withList(name, options, async (context, calls, signal) => {
    const known = await readList(context, calls)
    const { capAtomic } = callOf(calls.companies?.calls ?? calls)
    const isThere = known.pages > 0 && known.isCurrent
    if (isThere || options.plan) {
      const price =
        capAtomic === undefined
          ? 'a price that nobody knows: name the most with --max-usd'
          : `${formatUsd(capAtomic)} USD at most`
      await show(context, calls, known, options.json)
      if (!isThere && !options.json) print(`page 1 would cost ${price}. Nothing was bought.\n`)
      return
    }
    if (capAtomic !== undefined)
      printError(`paydirt: buying page 1 of ${name}, ${formatUsd(capAtomic)} USD at most\n`)
    const excluding = showExcluding(name)
    const fetched = await fetchList(context, calls, {
      budgetAtomic: capAtomic ?? 0n,
      pages: 1,
      reachableOnly: true,
      signal,
      onExcluding: excluding.onExcluding,
    }).finally(excluding.end)
    await show(context, calls, fetched.list, options.json)
    finish(fetched, name)
  })
}

interface FetchOptions {
  budget?: string
  maxUsd?: string
  reachableOnly: boolean
  again: boolean
  json?: true
}

export async function fetchPages(name: string, options: FetchOptions): Promise<void> {
  await withList(name, { maxUsd: options.maxUsd, plan: false }, async (context, calls, signal) => {
    const budgetAtomic = budgetOf(calls, options.budget)
    const excluding = showExcluding(name)
    const fetched = await fetchList(context, calls, {
      budgetAtomic,
      onExcluding: excluding.onExcluding,
      reachableOnly: options.reachableOnly,
      again: options.again,
      signal,
      onPage: ({ pages, rows, total }) =>
        liveLine.show(`${name}: ${counted(pages, 'page')}, ${rows} of ${total ?? '?'} rows`),
    }).finally(excluding.end)
    await show(context, calls, fetched.list, options.json)
    finish(fetched, name)
  })
}

export async function withList(
  name: string,
  { maxUsd, plan }: { maxUsd?: string | undefined; plan: boolean },
  work: (context: Context, calls: ListCalls, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const maxAtomic = maxUsd === undefined ? undefined : amountOf('--max-usd', maxUsd)
  const settings = await readConfig()
  const { search, people } = listNamed(settings, name)
  const capped = withCallCap(settings, search, maxAtomic)
  const config = people ? withCallCap(capped, 'people.search', maxAtomic) : capped
  const signal = stopSignal()
  await withContext(async (context) => {
    const calls = await listCalls(context, name, { asks: !plan, maxAtomic, reads: signal })
    await work(context, calls, signal)
  }, config)
}

async function show(
  context: Context,
  calls: ListCalls,
  list: ReadList,
  json: true | undefined,
): Promise<void> {
  const { document, first } = await listDocument(context, calls, list, shown)
  if (json) return print(`${JSON.stringify(document)}\n`)
  print(listText(document, calls, list))
  print(rowsText(first, calls))
  if (list.rows > first.length)
    print(`  and ${list.rows - first.length} more: \`paydirt lists members ${calls.name}\`\n`)
}

export const statusOfFetch: Readonly<Record<Fetched['end'], number>> = {
  complete: exitStatus.done,
  pages: exitStatus.done,
  budget: exitStatus.parked,
  parked: exitStatus.parked,
  cut: exitStatus.failed,
  unusable: exitStatus.failed,
  failed: exitStatus.failed,
  interrupted: exitStatus.interrupted,
}

function finish({ end, reason, bought, charges }: Fetched, name: string): void {
  process.exitCode = statusOfFetch[end]
  const goesOn =
    end === 'budget' && bought === 0
      ? '; it goes on with a larger budget'
      : end === 'budget' || end === 'parked' || end === 'interrupted'
        ? '; the same command goes on'
        : ''
  const why =
    end === 'complete' || end === 'pages' ? '' : `: ${reason ?? (end === 'interrupted' ? 'stopped' : end)}`
  printError(
    `paydirt: ${name}${why}: ${counted(bought, 'page')} bought by this command, ${chargesText(charges)}${goesOn}\n`,
  )
}

/** Returns the most that a command may spend. Throws ConfigError where neither the option nor the list says it. */
export function budgetOf({ name, settings }: ListCalls, given: string | undefined): Atomic {
  const budgetAtomic = given === undefined ? settings.budgetUsd : amountOf('--budget', given)
  if (budgetAtomic !== undefined) return budgetAtomic
  throw new ConfigError(
    'no_budget',
    `name the most that this may spend with --budget, or as lists.${name}.budgetUsd in paydirt.config.ts`,
  )
}

function amountOf(option: string, text: string): Atomic {
  try {
    return parseUsd(text)
  } catch {
    throw new InputError('bad_amount', `${option}: "${text}" is not an amount in USD such as 2.50`)
  }
}
