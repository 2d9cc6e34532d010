import { ConfigError, InputError } from '../../domain/errors.ts'
import type { LookupKey } from '../../domain/keys.ts'
import { formatUsd, type Atomic } from '../../domain/money.ts'
import { operationRow, slotsOf } from '../../domain/operations.ts'
import { nearNames } from '../../domain/normalise/near-names.ts'
import { operations, type Operation, type OperationKind } from '../../domain/words.ts'
import { prepareRequest } from '../../service/client.ts'
import type { Contract } from '../../service/catalogue/catalogue.ts'
import { callPath } from '../../service/calls/call-path.ts'
import { checkCall } from '../../service/calls/check-call.ts'
import { usualPageSize } from '../../service/calls/guard-limits.ts'
import type { KnownWords } from '../../service/calls/guard-words.ts'
import type { KnownLimit } from '../../store/contract/known-limits.ts'
import type { Config } from '../config/config.ts'

export interface CallInput {
  operation: Operation
  body: Readonly<Record<string, unknown>>
  /** Replaces the path of the catalogue for this call. Its body may then have keys that the catalogue does not know. */
  path?: string | undefined
  /** The most that one request may cost. */
  maxAtomic?: Atomic | undefined
  /** Allows a search without any filter. */
  isEverything?: boolean | undefined
  /** Allows words that no answer has held. */
  isUnchecked?: boolean | undefined
  /** The number of an action that is repeated on purpose. */
  repeat?: number | undefined
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
  /** The most that is paid for one request: the payer refuses a challenge above it. Undefined where nobody has set it. */
  capAtomic: Atomic | undefined
  isFree: boolean
}

export type AffordableCall = PlannedCall & { capAtomic: Atomic }

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

/** The facts of this account and ledger that a call is checked against. */
export interface KnownOfAccount {
  /** Words that answers have held, and those of the settings. */
  words: KnownWords
  /** Words that answers have held, alone. */
  learned: KnownWords
  limits: readonly KnownLimit[]
  /** The plan's maximum of rows in a page and of pages; undefined where no workspace states them. */
  pageSize: number | undefined
  lastPage: number | undefined
}

/**
 * Checks a call and returns what would be sent for it. Sends and reserves nothing. Throws InputError for a body that the
 * catalogue or the guard refuses, and ConfigError for an operation that these settings cannot reach.
 */
export function planCall(
  config: Pick<Config, 'serviceUrl' | 'catalogue' | 'networkHosts' | 'apiKey' | 'prices' | 'policy'>,
  { operation, body, path, maxAtomic, isEverything, isUnchecked, repeat }: CallInput,
  { words, limits, pageSize = usualPageSize, lastPage }: Omit<KnownOfAccount, 'learned'>,
): PlannedCall {
  const contract = config.catalogue.of(operation)
  const { kind } = operationRow(operation)
  assertAccess(contract, config.apiKey !== undefined)
  const limitOf = (name: KnownLimit['name']) =>
    limits.find((limit) => limit.operation === operation && limit.name === name)?.value
  const {
    key,
    page,
    body: request,
  } = checkCall(contract, body, {
    hosts: config.networkHosts,
    known: words,
    unchecked: isUnchecked,
    limits: {
      perPage: leastOf(pageSize, limitOf('per_page')),
      page: leastOf(limitOf('page'), lastPage),
      all: isEverything,
    },
    path: path === undefined ? undefined : callPath(contract, path, config.catalogue),
    repetition: repeat,
  })
  const [slot] = slotsOf(operation)
  const isFree = contract.price.value === 'free'
  const priceAtomic = isFree ? 0n : slot && config.prices[slot]
  const ownCap = maxAtomic ?? (slot && config.policy.maxPrices?.[slot])
  // Parameters of the path are checked where they are put into it.
  if (operation !== 'company.logo')
    prepareRequest(
      config.serviceUrl ?? 'https://service.invalid',
      operation,
      { ...request },
      config.catalogue,
    )
  return {
    operation,
    kind,
    contract,
    key,
    request,
    page,
    priceAtomic,
    capAtomic: ownCap ?? (priceAtomic === undefined ? undefined : config.policy.maxPriceAtomic),
    isFree,
  }
}

function leastOf(...values: readonly (number | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== undefined)
  return known.length > 0 ? Math.min(...known) : undefined
}

/** Throws ConfigError for a call that may cost more than its cap, and for one of unknown price without a cap of its own. */
export function assertAffordable(call: PlannedCall): asserts call is AffordableCall {
  const { operation, priceAtomic, capAtomic } = call
  if (capAtomic === undefined)
    throw new ConfigError(
      'price_unknown',
      `nobody knows the price of ${operation} yet: name the most that one request may cost in payment.maxPricesUsd, or with --max-usd where the command has it`,
    )
  if (priceAtomic !== undefined && priceAtomic > capAtomic)
    throw new ConfigError(
      'above_cap',
      `${operation} costs ${formatUsd(priceAtomic)} USD, above the cap of ${formatUsd(capAtomic)}: allow it with --max-usd, or payment.maxPricesUsd in paydirt.config.ts`,
    )
}

/** Throws ConfigError for an operation that these settings cannot reach. */
export function assertAccess({ operation, access }: Contract, hasKey: boolean): void {
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
