import { openConnector } from '../../app/context/connectors.ts'
import type { Context } from '../../app/context/context.ts'
import { newPlanId } from '../../app/context/new-id.ts'
import { planList } from '../../app/lists/making/plan-list.ts'
import { callOf, type ListCalls } from '../../app/lists/pages/list-calls.ts'
import { readList } from '../../app/lists/pages/read-list.ts'
import { runList, runRefusals, unfinishedPlan, type ListRun } from '../../app/lists/running/run-list.ts'
import { chargesText, type OwnCharge } from '../../app/service/own-charges.ts'
import { objectOfList } from '../../app/config/lists.ts'
import type { Connector } from '../../connectors/connector.ts'
import { formatUsd, parseUsd } from '../../domain/money.ts'
import { capsOf, stepPrices } from '../../domain/planning/prices.ts'
import { paidSteps } from '../../domain/planning/recipe-steps.ts'
import { counted } from '../../domain/values/counted.ts'
import { exitStatus } from '../terminal/exit.ts'
import { liveLine } from '../terminal/live-line.ts'
import { print, printError } from '../terminal/print.ts'
import { showExcluding } from './excluding.ts'
import { budgetOf, statusOfFetch, withList } from './fetch.ts'
import { leftOf, listDocument, listText } from './list-text.ts'
import { appliedText, planText } from './plan-text.ts'

interface RunOptions {
  budget?: string
  maxUsd?: string
  reachableOnly: boolean
  plan: boolean
  json?: true
}

/** Fetches, plans and applies a list, or says what that would do. */
export async function runNamedList(name: string, options: RunOptions): Promise<void> {
  await withList(name, { maxUsd: options.maxUsd, plan: options.plan }, async (context, calls, signal) => {
    const connector = await openConnector(context.config, calls.settings.into.connector, context)
    try {
      if (options.plan) return await showPlan(context, calls, connector, signal, options.json)
      const excluding = showExcluding(name)
      const run = await runList(context, calls, {
        connector,
        budgetAtomic: budgetOf(calls, options.budget),
        reachableOnly: options.reachableOnly,
        signal,
        onExcluding: excluding.onExcluding,
        onPage: ({ pages, rows, total }) =>
          liveLine.show(`${name}: ${counted(pages, 'page')}, ${rows} of ${total ?? '?'} rows`),
        onPlan: () => liveLine.show(`${name}: comparing with ${connector.name}`),
        onLookups: ({ counts, records }) =>
          liveLine.show(
            `${name}: ${records - counts.looking_up - counts.queued} of ${records} rows looked up`,
          ),
        onNotice: (text) => printError(`paydirt: ${text}\n`),
        onRecords: (done, total) => liveLine.show(`${name}: ${done} of ${total} rows`),
      }).finally(() => excluding.end())
      await show(context, calls, run, options.json)
      process.exitCode = run.applied?.end === 'parked' ? exitStatus.parked : statusOf(run)
    } finally {
      await connector.close()
    }
  })
}

function statusOf({ end }: ListRun): number {
  return end === 'finished' ? exitStatus.done : statusOfFetch[end]
}

async function show(context: Context, calls: ListCalls, run: ListRun, json: true | undefined): Promise<void> {
  const { name } = calls
  const { fetched, plan, applied, continued, charges, end, reason } = run
  const list = fetched?.list ?? (await readList(context, calls))
  const { document } = await listDocument(context, calls, list)
  if (json) {
    const { list: _, bought = 0 } = fetched ?? {}
    const costs = charges.map(costOf)
    return print(
      `${JSON.stringify({ list: name, end, reason: reason ?? null, continuedPlan: continued ?? null, bought, charges: costs, pages: document, plan: plan ?? null, applied: applied ?? null })}\n`,
    )
  }
  // The verdicts of the plan: those of now call the new records existing ones.
  const shown = plan ? { ...document, verdicts: plan.verdicts } : document
  if (continued === undefined) print(listText(shown, calls, list))
  else print(`${name}: plan ${continued} was begun before and goes on\n`)
  if (plan && !applied && end === 'finished') print('nothing is to be made\n')
  if (applied) print(appliedText(applied, `paydirt lists run ${name}`))
  const why = end === 'finished' ? '' : `: ${reason ?? (end === 'interrupted' ? 'stopped' : end)}`
  const isTooLittle = end === 'budget' && fetched?.bought === 0
  const goesOn = isTooLittle
    ? '; it goes on with a larger budget'
    : ['budget', 'parked', 'interrupted'].includes(end)
      ? '; the same command goes on'
      : ''
  printError(
    `paydirt: ${name}${why}: ${counted(fetched?.bought ?? 0, 'page')} bought by this command, ${chargesText(charges)}${lookupsText(applied)}${goesOn}\n`,
  )
}

function costOf({ state, amountAtomic, currency }: OwnCharge) {
  return { state, amount: formatUsd(amountAtomic), currency }
}

/** Says what a run would do now. Of a list whose pages are all there it makes the plan itself. */
async function showPlan(
  context: Context,
  calls: ListCalls,
  connector: Connector,
  signal: AbortSignal,
  json: true | undefined,
): Promise<void> {
  const {
    name,
    settings: { recipe },
  } = calls
  const list = await readList(context, calls)
  const { document } = await listDocument(context, calls, list)
  const unfinished = await unfinishedPlan(context, calls)
  const refusals = (await runRefusals(context, calls, connector)).map(({ message }) => message)
  const isThere = list.isComplete && list.isCurrent
  const plan =
    isThere && !unfinished && refusals.length === 0
      ? await planList(context, calls, connector, newPlanId(context), { signal })
      : undefined
  const left = isThere
    ? 0
    : list.isCurrent
      ? leftOf(calls, document, list.parts)
      : Math.max(1, calls.parts.length)
  const { capAtomic } = callOf(calls)
  const costAtMost = capAtomic === undefined ? null : formatUsd(capAtomic * BigInt(left))
  if (json)
    return print(
      `${JSON.stringify({ plan: true, list: name, unfinishedPlan: unfinished?.id ?? null, pages: document, pagesToBuy: left, isCountKnown: list.isCurrent && list.total !== null, costAtMostUsd: costAtMost, refusals, records: plan ?? null })}\n`,
    )
  print(listText(document, calls, list))
  if (unfinished) print(`plan ${unfinished.id} was begun before: a run would carry it out, and buy no page\n`)
  else if (left > 0 && refusals.length === 0)
    print(
      `a run would buy ${counted(left, 'page')}${list.isCurrent && list.total !== null ? '' : ' to know how many there are, and then the others'}, ${costAtMost === null ? 'at a price that nobody knows: name the most with --max-usd' : `${costAtMost} USD at most for ${left === 1 ? 'this page' : 'these pages'}`}\n`,
    )
  if (!plan && !unfinished && recipe !== undefined && refusals.length === 0)
    print(
      `then the recipe ${recipe} would buy for each new row, ${mostOfRecipe(context, calls)} USD at most a row: \`paydirt lists plan ${name}\` says how much for all, once the pages are there\n`,
    )
  for (const refusal of refusals) print(`a run would be refused: ${refusal}\n`)
  if (plan) print(planText(plan))
  else print('Nothing was bought or written.\n')
}

/** Returns the most that the recipe of a list may cost for one row, in USD. */
function mostOfRecipe({ config }: Context, { settings }: ListCalls): string {
  const steps = paidSteps(config.recipes(objectOfList(settings), settings.recipe ?? ''))
  const most = stepPrices(config.prices, capsOf(config.policy), steps).reduce(
    (sum, { priceAtomic, capAtomic }) => sum + (priceAtomic ?? capAtomic),
    0n,
  )
  return formatUsd(most)
}

function lookupsText(applied: ListRun['applied']): string {
  const parts = [applied?.enrichment, applied?.updates].filter((each) => each !== null && each !== undefined)
  const spent = parts.reduce((sum, { spend }) => sum + parseUsd(spend.settled), 0n)
  return spent > 0n ? `; the lookups for the rows of its plan have cost ${formatUsd(spent)} USD` : ''
}
