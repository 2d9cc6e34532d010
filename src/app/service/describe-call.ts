import { usdFromCredits } from '../../domain/credits.ts'
import { PaydirtError } from '../../domain/errors.ts'
import { formatUsd, type Atomic } from '../../domain/money.ts'
import { prepareRequest } from '../../service/client.ts'
import { provenanceText, type ClaimPart } from '../../service/catalogue/provenance.ts'
import { seenPrices, type SeenPrice } from '../../store/contract/seen-prices.ts'
import type { Context } from '../context/context.ts'
import { withCallCap } from './call-session.ts'
import { describeOperations } from './describe-operations.ts'
import { knownOfAccount, withAcceptedNames } from './known-of-account.ts'
import { assertPageExists } from './last-known-page.ts'
import { isUnderOldNames } from './old-names.ts'
import { assertAffordable, planCall, type CallInput, type PlannedCall } from './plan-call.ts'

/** A call as it would be made. Plain data: it goes from process to process. */
export interface DescribedCall {
  operation: string
  kind: string
  summary: string
  method: string
  url: string
  /** '' for a request without one. */
  body: string
  /** The sources of path, access and price, as `service show` has them. */
  sources: Record<'path' | 'access' | 'price', string>
  access: string
  key: string
  /** The rows of a page where the request names none, and the workspace may have another size. */
  assumedSize: number | null
  isFree: boolean
  capAtomic: Atomic | null
  /** The price that settings or catalogue name. */
  priceAtomic: Atomic | null
  lastPrices: Pick<SeenPrice, 'currency' | 'amountAtomic' | 'seenAt'>[]
  /** One for each page of a search, in order; one without a number for another call. */
  requests: { page: number | null; isInLedger: boolean }[]
  /** The reason why the first request that is to be bought would be refused. */
  refusal: string | null
  isByKey: boolean
}

export interface CallToDescribe extends CallInput {
  /** The most pages that are bought. */
  pages: number
}

/** Returns what a call would send and cost. Sends, asks and changes nothing. Throws as `planCall` does. */
export async function describeCall(context: Context, input: CallToDescribe): Promise<DescribedCall> {
  const { database, lookups } = context
  const config = await withAcceptedNames(
    withCallCap(context.config, input.operation, input.maxAtomic),
    context,
  )
  const known = await knownOfAccount({ ...context, config }, { asks: false })
  const first = planCall(config, input, known)
  const { operation, kind, contract, key, request, capAtomic, priceAtomic, isFree } = first
  const { endpoint, ...wire } =
    operation === 'company.logo'
      ? { endpoint: '', method: 'GET', url: contract.path.value, body: '' }
      : prepareRequest(config.serviceUrl ?? '{base_url}', operation, { ...request }, config.catalogue)
  const lastPrices = (await seenPrices(database.db)).filter(({ priceClass }) => priceClass === endpoint)
  const isByKey = config.apiKey !== undefined
  const requests: DescribedCall['requests'] = []
  let refusal: string | null = null
  for (let call = first; ;) {
    const isInLedger = await hasAnswer(call)
    if (!isInLedger) refusal ??= await refusalOf(call)
    requests.push({ page: call.page ?? null, isInLedger })
    const page = call.page
    if (page === undefined || requests.length >= input.pages) break
    try {
      call = planCall(config, { ...input, body: { ...input.body, page: page + 1 } }, known)
      await assertPageExists(context, call)
    } catch (error) {
      // Behind the last page there is nothing to buy.
      if (!(error instanceof PaydirtError)) throw error
      break
    }
  }
  const [described] = await describeOperations({ database, config }, { only: operation })
  const sourceOf = (part: ClaimPart): string => {
    const claim = described?.claims.find((each) => each.part === part)
    return claim ? provenanceText(claim.provenance) : 'assumed'
  }
  refusal ??= requests.every(({ isInLedger }) => isInLedger) ? null : (described?.stops[0]?.reason ?? null)
  return {
    operation,
    kind,
    summary: contract.summary,
    method: wire.method,
    url: wire.url,
    body: wire.body,
    sources: {
      path: input.path === undefined ? sourceOf('path') : 'named for this call',
      access: sourceOf('access'),
      price: sourceOf('price'),
    },
    access: contract.access.value,
    key,
    assumedSize:
      isByKey && input.body['per_page'] === undefined && typeof request['per_page'] === 'number'
        ? request['per_page']
        : null,
    isFree: isFree || operation === 'company.logo',
    capAtomic: capAtomic ?? null,
    priceAtomic: priceAtomic ?? null,
    lastPrices,
    requests,
    refusal,
    isByKey,
  }

  async function hasAnswer(call: PlannedCall): Promise<boolean> {
    if (call.kind === 'action') return false
    const fact = (await lookups.freshFacts([call.key])).get(call.key)
    return (
      fact !== undefined && fact.outcome !== 'failed' && !(await isUnderOldNames(database.db, call, fact))
    )
  }

  async function refusalOf(call: PlannedCall): Promise<string | null> {
    try {
      assertAffordable(call)
      await assertPageExists(context, call)
    } catch (error) {
      if (!(error instanceof PaydirtError)) throw error
      return error.message
    }
    const { capAtomic: cap } = call
    const dear = lastPrices.find(({ currency, amountAtomic }) =>
      currency === 'credit' ? isByKey && usdFromCredits(amountAtomic) > cap : !isByKey && amountAtomic > cap,
    )
    if (call.isFree || !dear) return null
    const price = `${formatUsd(dear.amountAtomic)} ${dear.currency === 'credit' ? 'credits' : 'USD'}`
    return `its last price of ${price} is above the cap of ${formatUsd(cap)} USD: allow it with --max-usd, or payment.maxPricesUsd in paydirt.config.ts`
  }
}
