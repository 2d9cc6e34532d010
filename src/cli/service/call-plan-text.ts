import type { DescribedCall } from '../../app/service/describe-call.ts'
import { formatUsd } from '../../domain/money.ts'
import { counted } from '../../domain/values/counted.ts'
import { utcMinute } from '../../domain/values/utc-minute.ts'

/** Returns what a call would send, what is known of its price, and which of its pages the ledger has. */
export function callPlanText(call: DescribedCall): string {
  const { operation, kind, summary, method, url, body, sources, access, key, capAtomic, refusal } = call
  const lines = [
    `${operation} (${kind}): ${summary}`,
    `  request   ${method} ${url}`,
    ...(body === '' ? [] : [`  body      ${body}`]),
    ...sizeLines(call),
    `  price     ${priceText(call)}`,
    `  path      ${sources.path}; access ${access}, ${sources.access}`,
    `  key       ${key}`,
    ...(call.isFree
      ? []
      : [
          `  cap       ${capAtomic === null ? 'none: name one with --max-usd' : `${formatUsd(capAtomic)} USD for one request`}`,
        ]),
    `  answer    ${answerText(call)}`,
    ...costLines(call),
    ...(refusal === null ? [] : [`  refused   it would not be sent: ${refusal}`]),
    'Nothing was sent or reserved.',
  ]
  return `${lines.join('\n')}\n`
}

/** A plan asks nobody, and the ledger does not keep the limits of the workspace's plan. */
function sizeLines({ assumedSize }: DescribedCall): string[] {
  if (assumedSize === null) return []
  return [
    `  page      of ${assumedSize} rows, an assumption: the call asks for the plan's max_search_per_page first, and another size has another key`,
  ]
}

function priceText({ isFree, priceAtomic, lastPrices }: DescribedCall): string {
  if (isFree) return 'free'
  const last = lastPrices.map(
    ({ currency, amountAtomic, seenAt }) =>
      `${formatUsd(amountAtomic)} ${currency === 'credit' ? 'credits' : 'USD'} when it was last seen, ${utcMinute(seenAt)}: an estimate`,
  )
  if (last.length > 0) return last.join('; ')
  return priceAtomic === null
    ? 'unknown until the service tells it'
    : `${formatUsd(priceAtomic)} USD, by the catalogue or the settings`
}

function answerText({ requests }: DescribedCall): string {
  const [only] = requests
  if (requests.length === 1)
    return only?.isInLedger ? 'the ledger has it: nothing would be paid' : 'not in the ledger'
  const pages = (isInLedger: boolean) =>
    requests.filter((each) => each.isInLedger === isInLedger).map(({ page }) => page)
  const [known, missing] = [pages(true), pages(false)]
  return [
    ...(known.length > 0 ? [`the ledger has ${pagesText(known)}, which is free`] : []),
    ...(missing.length > 0 ? [`${pagesText(missing)} would be bought`] : ['nothing would be paid']),
  ].join('; ')
}

function pagesText(pages: readonly (number | null)[]): string {
  return `${pages.length === 1 ? 'page' : 'pages'} ${pages.join(', ')}`
}

function costLines({ isFree, requests, capAtomic, isByKey }: DescribedCall): string[] {
  const count = requests.filter(({ isInLedger }) => !isInLedger).length
  if (isFree || capAtomic === null || count === 0) return []
  const each = count === 1 ? '' : ` (${counted(count, 'request')} of at most ${formatUsd(capAtomic)})`
  const byKey = isByKey ? '; by API key the answer tells its price, and one may cost more' : ''
  return [`  cost      at most ${formatUsd(capAtomic * BigInt(count))} USD${each}${byKey}`]
}
