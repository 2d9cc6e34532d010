import { formatUsd } from '../../domain/money.ts'
import type { Context } from '../../app/context/context.ts'
import type { PlannedCall } from '../../app/service/plan-call.ts'
import { prepareRequest } from '../../service/client.ts'
import { seenPrices, type SeenPrice } from '../../store/contract/seen-prices.ts'
import { utcMinute } from '../../domain/values/utc-minute.ts'

/** Returns what a call would send, what is known of its price, and whether the ledger has its answer. Asks nobody. */
export async function callPlanText(
  { config, database, lookups }: Pick<Context, 'config' | 'database' | 'lookups'>,
  call: PlannedCall,
  { isSizeNamed }: { isSizeNamed: boolean },
): Promise<string> {
  const { operation, request, contract, key, kind, capAtomic } = call
  const lines = [
    `${operation} (${kind}): ${contract.summary}`,
    ...(await requestLines()),
    `  path      ${contract.path.origin}; access ${contract.access.value}, ${contract.access.origin}`,
    `  key       ${key}`,
    `  cap       ${capAtomic === undefined ? 'none: name one with --max-usd' : `${formatUsd(capAtomic)} USD for one request`}`,
    `  answer    ${(await lookups.freshFacts([key])).has(key) ? 'the ledger has it: nothing would be paid' : 'not in the ledger'}`,
    'Nothing was sent or reserved.',
  ]
  return `${lines.join('\n')}\n`

  async function requestLines(): Promise<string[]> {
    if (operation === 'company.logo') return [`  request   GET ${contract.path.value}`, '  price     free']
    const { method, url, body, endpoint } = prepareRequest(
      config.serviceUrl ?? '{base_url}',
      operation,
      { ...request },
      config.catalogue,
    )
    const seen = (await seenPrices(database.db)).filter(({ priceClass }) => priceClass === endpoint)
    return [
      `  request   ${method} ${url}`,
      ...(body === '' ? [] : [`  body      ${body}`]),
      ...(isSizeNamed ? [] : sizeLines(request['per_page'], config.apiKey !== undefined)),
      `  price     ${priceText(call, seen)}`,
    ]
  }
}

/** A plan asks nobody, and the ledger does not keep the limits of the workspace's plan. */
function sizeLines(size: unknown, hasKey: boolean): string[] {
  if (typeof size !== 'number' || !hasKey) return []
  return [
    `  page      of ${size} rows, an assumption: the call asks for the plan's max_search_per_page first, and another size has another key`,
  ]
}

function priceText({ isFree, priceAtomic }: PlannedCall, seen: readonly SeenPrice[]): string {
  if (isFree) return 'free'
  const last = seen.map(
    ({ currency, amountAtomic, seenAt }) =>
      `${formatUsd(amountAtomic)} ${currency === 'credit' ? 'credits' : 'USD'} when it was last seen, ${utcMinute(seenAt)}: an estimate`,
  )
  if (last.length > 0) return last.join('; ')
  return priceAtomic === undefined
    ? 'unknown until the service tells it'
    : `${formatUsd(priceAtomic)} USD, by the catalogue or the settings`
}
