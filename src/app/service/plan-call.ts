import { createHash } from 'node:crypto'
import { ConfigError, InputError } from '../../domain/errors.ts'
import { lookupKey, type LookupKey } from '../../domain/keys.ts'
import { formatUsd, type Atomic } from '../../domain/money.ts'
import { operationRow, slotsOf } from '../../domain/operations.ts'
import { nearNames } from '../../domain/normalise/near-names.ts'
import { operations, type Operation, type OperationKind } from '../../domain/words.ts'
import type { Contract } from '../../service/catalogue/catalogue.ts'
import { otherPath } from '../../service/calls/prepare-call.ts'
import type { Config } from '../config/config.ts'
import { keyOfLookup } from './lookup-keys.ts'

export interface CallInput {
  operation: Operation
  body: Readonly<Record<string, unknown>>
  /** Replaces the path of the catalogue for this call. Its body may then have keys that the catalogue does not know. */
  path?: string | undefined
  /** The most that one request may cost. */
  maxAtomic?: Atomic | undefined
}

/** A call that can be sent: checked, in its canonical form, with its key and its price as far as it is known. */
export interface PlannedCall {
  operation: Operation
  kind: OperationKind
  contract: Contract
  key: LookupKey
  /** The body in its canonical form, with the path where the call names one. */
  request: Readonly<Record<string, unknown>>
  /** The page of a search; undefined for other kinds. */
  page: number | undefined
  /** Undefined where neither the catalogue, the settings nor an earlier answer tells it. */
  priceAtomic: Atomic | undefined
  /** The most that is paid for one request: the payer refuses a challenge above it. */
  capAtomic: Atomic
  isFree: boolean
}

/** Returns the operation of a name. Throws InputError with the near names. */
export function operationNamed(name: string): Operation {
  const found = operations.find((operation) => operation === name)
  if (found) return found
  const near = nearNames(name, operations)
  throw new InputError(
    'no_operation',
    `the service has no operation "${name}"${near.length > 0 ? ` (near: ${near.join(', ')})` : ''}; \`paydirt service list\` shows them all`,
  )
}

/**
 * Checks a call and returns what would be sent for it. Sends and reserves nothing. Throws InputError for a body that the
 * catalogue refuses, and ConfigError for an operation that these settings cannot reach or whose price nobody knows.
 */
export function planCall(
  config: Pick<Config, 'catalogue' | 'networkHosts' | 'apiKey' | 'prices' | 'policy'>,
  { operation, body, path, maxAtomic }: CallInput,
): PlannedCall {
  const contract = config.catalogue.of(operation)
  const { kind } = operationRow(operation)
  assertAccess(contract, config.apiKey !== undefined)
  const request = { ...body, ...(path !== undefined && { [otherPath]: path }) }
  const page = kind === 'search' ? Number(body['page'] ?? 1) : undefined
  const key =
    (path === undefined ? keyOfLookup(operation, body, config.networkHosts) : undefined) ??
    lookupKey(operation, `v1:${digest(request)}${page === undefined ? '' : `|${page}`}`)
  const isFree = contract.price.value === 'free'
  const [slot] = slotsOf(operation)
  const priceAtomic = isFree ? 0n : slot && config.prices[slot]
  const ownCap = maxAtomic ?? (slot && config.policy.maxPrices?.[slot])
  if (priceAtomic === undefined && ownCap === undefined) throw priceUnknown(operation)
  const capAtomic = ownCap ?? config.policy.maxPriceAtomic
  if (priceAtomic !== undefined && priceAtomic > capAtomic)
    throw new ConfigError(
      'above_cap',
      `${operation} costs ${formatUsd(priceAtomic)} USD, above the cap of ${formatUsd(capAtomic)}: allow it with --max-usd, or payment.maxPricesUsd in paydirt.config.ts`,
    )
  return { operation, kind, contract, key, request, page, priceAtomic, capAtomic, isFree }
}

function assertAccess({ operation, access }: Contract, hasKey: boolean): void {
  if (access.value === 'direct' && !hasKey)
    throw new ConfigError(
      'needs_api_key',
      `${operation} belongs to a workspace, which an API key names: set PAYDIRT_API_KEY`,
    )
  if (access.value === 'paid' && hasKey)
    throw new ConfigError(
      'needs_wallet',
      `${operation} is reached by a payment for each request: remove PAYDIRT_API_KEY and set PAYDIRT_WALLET_KEY`,
    )
}

function priceUnknown(operation: Operation): ConfigError {
  return new ConfigError(
    'price_unknown',
    `nobody knows the price of ${operation} yet: name the most that one request may cost with --max-usd, or in payment.maxPricesUsd`,
  )
}

function digest(request: Readonly<Record<string, unknown>>): string {
  const { page: _, ...rest } = request
  const sorted = Object.fromEntries(Object.entries(rest).sort(([a], [b]) => (a < b ? -1 : 1)))
  return createHash('sha256').update(JSON.stringify(sorted)).digest('hex')
}
