import { formatUsd } from '../../domain/money.ts'
import type { Config } from '../../app/config/config.ts'
import type { PlannedCall } from '../../app/service/plan-call.ts'
import { prepareRequest } from '../../service/client.ts'

/** Returns what a call would send, and what is known of its price. Nothing is asked for it. */
export function callPlanText(
  { serviceUrl = '{base_url}', catalogue }: Pick<Config, 'serviceUrl' | 'catalogue'>,
  call: PlannedCall,
): string {
  const { operation, request, contract, key, kind, priceAtomic, capAtomic } = call
  const { method, url, body } = prepareRequest(serviceUrl, operation, { ...request }, catalogue)
  const lines = [
    `${operation} (${kind}): ${contract.summary}`,
    `  request     ${method} ${url}`,
    ...(body === '' ? [] : [`  body        ${body}`]),
    `  path        ${contract.path.origin}; access ${contract.access.value}, ${contract.access.origin}`,
    `  key         ${key}`,
    `  price       ${priceAtomic === undefined ? 'unknown until the service tells it' : `${formatUsd(priceAtomic)} USD, by catalogue or settings`}`,
    `  cap         ${formatUsd(capAtomic)} USD for one request`,
    'Nothing was sent or reserved.',
  ]
  return `${lines.join('\n')}\n`
}
