import type { Config } from '../config/config.ts'

/** Returns the settings by which a restored ledger can be checked. They are named one by one, so that no secret slips in. */
export function publicSettings({
  serviceUrl,
  networkName,
  authorizationSeconds,
  rebuyLost,
  freshness,
  policy,
  caps,
  prices,
  recipes,
}: Config): unknown {
  const { network, asset, recipients, order, maxPriceAtomic } = policy
  const settings = {
    serviceUrl: serviceUrl === undefined ? undefined : new URL(serviceUrl).origin,
    networkName,
    authorizationSeconds,
    rebuyLost,
    freshness,
    policy: { network, asset, recipients, order, maxPriceAtomic },
    caps,
    prices,
    recipes: Object.keys(recipes),
  }
  return JSON.parse(
    JSON.stringify(settings, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value)),
  )
}
