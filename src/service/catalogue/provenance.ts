import { formatUsd, type Atomic } from '../../domain/money.ts'
import type { Contract } from './catalogue.ts'
import { shapePath, wholeAnswer, type AnswerField, type JsonType, type RequestField } from './entry.ts'
import { envelopeOf } from './envelope.ts'
import type { Origin } from './origin.ts'

/**
 * The source of one fact of the wire, as it is known now. `configured`: the settings, or a name that was accepted, replace what is
 * published. `confirmed`: an answer of this account showed it. `contradicted`: an answer of this account showed something else.
 */
export type Provenance =
  | { state: 'shown'; section: string }
  | { state: 'assumed' }
  | { state: 'configured' }
  | { state: 'confirmed'; at: Date }
  | { state: 'contradicted'; at: Date | null; seen: string }
export type ProvenanceState = Provenance['state']
export const provenanceStates = [
  'shown',
  'assumed',
  'configured',
  'confirmed',
  'contradicted',
] as const satisfies ProvenanceState[]

export const claimParts = ['path', 'access', 'price', 'request', 'answer'] as const
export type ClaimPart = (typeof claimParts)[number]

/** One fact of an operation: its path, access or price, a key of its request, or a field of its answer. */
export interface ClaimRow {
  part: ClaimPart
  name: string
  /** In the words of the catalogue: the path, a type, a price. */
  value: string
  /** The source in the description, whatever settings and answers say. */
  published: Origin
  provenance: Provenance
}

/** A field that answers had: its path in the whole answer, a type of JSON, and the last time. */
export interface SightedField {
  path: string
  type: JsonType | 'null'
  lastSeen: Date
}

/** Everything that answers of this account have shown of one operation. Absent parts were not observed. */
export interface Sightings {
  fields: readonly SightedField[]
  state?:
    { state: 'confirmed' | 'stopped'; code: string | null; since: Date; confirmedAt: Date | null } | undefined
  prices: readonly { currency: 'USD' | 'credit'; amountAtomic: Atomic; detail: string; seenAt: Date }[]
  /** Keys of requests that were answered, with the last time at which the service took them and that at which it ignored them. */
  keys: readonly { name: string; takenAt: Date | null; ignoredAt: Date | null }[]
  /** By the name that was sent. */
  renamed: readonly { name: string; to: string | undefined; at: Date }[]
}

export const nothingSeen: Sightings = { fields: [], prices: [], keys: [], renamed: [] }

/** Returns every fact of an operation with its source, by settings and answers. */
export function provenanceOf(contract: Contract, seen: Sightings = nothingSeen): ClaimRow[] {
  const { setting } = contract
  const isOwnPath = setting.path !== undefined || setting.method !== undefined
  return [
    row(
      'path',
      'path',
      `${contract.method.value} ${contract.path.value}`,
      contract.path.origin,
      isOwnPath,
      ofPath(seen),
    ),
    row(
      'access',
      'access',
      contract.access.value,
      contract.access.origin,
      setting.access !== undefined,
      ofAccess(contract, seen),
    ),
    row(
      'price',
      'price',
      priceText(contract, seen),
      contract.price.origin,
      setting.priceUsd !== undefined,
      ofPrice(contract, seen),
    ),
    ...Object.entries(contract.request).map(([name, field]) => ofKey(contract, name, field, seen)),
    ...Object.entries(contract.batchRequest ?? {}).map(([name, field]) => ofKey(contract, name, field, seen)),
    ...answerRows(contract, seen),
  ]
}

function row(
  part: ClaimPart,
  name: string,
  value: string,
  published: Origin,
  isConfigured: boolean,
  observed: Provenance | undefined,
): ClaimRow {
  const told: Provenance = isConfigured ? { state: 'configured' } : asPublished(published)
  return { part, name, value, published, provenance: observed ?? told }
}

function asPublished(origin: Origin): Provenance {
  return origin === 'assumed'
    ? { state: 'assumed' }
    : { state: 'shown', section: origin.slice('shown '.length) }
}

function ofPath({ state }: Sightings): Provenance | undefined {
  if (state?.state === 'stopped' && state.code === 'no_such_endpoint')
    return { state: 'contradicted', at: state.since, seen: 'the service has no such address (404)' }
  return state?.state === 'confirmed' && state.confirmedAt
    ? { state: 'confirmed', at: state.confirmedAt }
    : undefined
}

/** A price was told by a payment or by an API key, so it shows which of them the operation takes. */
function ofAccess({ access: { value } }: Contract, { state, prices }: Sightings): Provenance | undefined {
  // A 401 is about the credentials, and says nothing of the operation.
  if (state?.state === 'stopped' && state.code === 'forbidden')
    return { state: 'contradicted', at: state.since, seen: 'the service refuses access (403)' }
  if (state?.state !== 'confirmed') return undefined
  const [paid, direct] = [last(prices, 'USD'), last(prices, 'credit')]
  const needed = { paid: [paid], direct: [direct], both: [paid, direct] }[value]
  const times = needed.flatMap((price) => price?.seenAt ?? [])
  if (times.length < needed.length) return undefined
  return { state: 'confirmed', at: times.reduce((one, other) => (one < other ? one : other)) }
}

function last(prices: Sightings['prices'], currency: 'USD' | 'credit') {
  return prices.filter((price) => price.currency === currency).sort((a, b) => +b.seenAt - +a.seenAt)[0]
}

/** A price that nothing publishes is the last one that was asked. */
function priceText({ price: { value } }: Contract, { prices }: Sightings): string {
  const [told] = [...prices].sort((a, b) => +b.seenAt - +a.seenAt)
  if (value === 'unknown' && told)
    return `${formatUsd(told.amountAtomic)} ${told.currency === 'credit' ? 'credits' : 'USD'}`
  return value === 'free' || value === 'unknown' ? value : `${value} USD`
}

/** USD and credits are two prices: only those in USD are compared. */
function ofPrice({ price: { value } }: Contract, { prices }: Sightings): Provenance | undefined {
  const newest = [...prices].sort((a, b) => +b.seenAt - +a.seenAt)[0]
  if (!newest) return undefined
  const told = last(prices, 'USD')
  if (value === 'unknown' || told === undefined)
    return value === 'unknown' ? { state: 'confirmed', at: newest.seenAt } : undefined
  if (value === formatUsd(told.amountAtomic)) return { state: 'confirmed', at: told.seenAt }
  return { state: 'contradicted', at: told.seenAt, seen: `${formatUsd(told.amountAtomic)} USD` }
}

function ofKey(contract: Contract, name: string, field: RequestField, seen: Sightings): ClaimRow {
  const wireName = contract.wireNames[name]
  const value = wireName === undefined ? field.is : `${field.is}, sent as ${wireName}`
  const renamed = seen.renamed.find((each) => each.name === (wireName ?? name))
  const used = seen.keys.find((each) => each.name === name)
  let observed: Provenance | undefined
  if (renamed)
    observed = {
      state: 'contradicted',
      at: renamed.at,
      seen: renamed.to === undefined ? 'the service renames it' : `the service calls it ${renamed.to}`,
    }
  else if (used?.ignoredAt && (!used.takenAt || used.ignoredAt >= used.takenAt))
    observed = { state: 'contradicted', at: used.ignoredAt, seen: 'the service ignores it' }
  else if (used?.takenAt) observed = { state: 'confirmed', at: used.takenAt }
  return row('request', name, value, field.origin, wireName !== undefined, observed)
}

function answerRows(contract: Contract, { fields }: Sightings): ClaimRow[] {
  const { answer, setting } = contract
  const own = setting.fields ?? {}
  const { at, rows } = answer
  const list = shapePath(at.value)
  const root = newest(fields.filter(({ path }) => path === ''))
  const ids = rows && `${list}[].${rows.id.value}`
  const places = [
    ...(at.value === ''
      ? []
      : [
          needed(at.value, at.origin, rows ? ['array'] : ['object', 'array'], own['rows'] ?? own['at'], root),
        ]),
    ...(rows && ids !== undefined
      ? [
          ...(at.value === wholeAnswer
            ? []
            : [needed(rows.total.value, rows.total.origin, ['number'], own['total'], root)]),
          needed(
            ids,
            rows.id.origin,
            ['string', 'number'],
            own['id'],
            newest(fields.filter(({ path }) => path === `${list}[]`)),
          ),
        ]
      : []),
  ]
  const named = Object.entries(answer.fields)
    .map(([name, field]) => fieldRow(belowOf(contract, name, fields), field))
    .filter(({ name }) => name !== ids)
  const beside = Object.entries(envelopeOf(contract)).map(([path, field]) => fieldRow(path, field))
  const without = (answer.without ?? []).map((name) => {
    const path = `${list}[].${name}`
    const found = newest(fields.filter((field) => field.path === path))
    const observed: Provenance | undefined = found && {
      state: 'contradicted',
      at: found.lastSeen,
      seen: 'an answer has it',
    }
    return row('answer', path, 'not returned', 'shown 4.4', false, observed)
  })
  return [...places, ...named, ...without, ...beside]

  /** A place that a reader needs is contradicted by an answer without it. */
  function needed(
    place: string,
    origin: Origin,
    types: readonly JsonType[],
    configured: string | undefined,
    parent: SightedField | undefined,
  ): ClaimRow {
    const path = shapePath(place)
    const found = typed(path, types)
    const isGone =
      parent !== undefined &&
      found?.state !== 'contradicted' &&
      (found === undefined || found.at < parent.lastSeen) &&
      !hasNull(path, parent.lastSeen)
    const observed: Provenance | undefined = isGone
      ? { state: 'contradicted', at: parent.lastSeen, seen: 'answers are without it' }
      : found
    return row('answer', place, types.join(' or '), origin, configured !== undefined, observed)
  }

  /** A place that is null, or below one that is, is not missing: nothing was found. */
  function hasNull(path: string, since: Date): boolean {
    const names = path.split('.')
    const above = names.map((_, index) => names.slice(0, index + 1).join('.'))
    return fields.some(
      (field) => field.type === 'null' && above.includes(field.path) && field.lastSeen >= since,
    )
  }

  function fieldRow(path: string, { origin, is }: AnswerField): ClaimRow {
    return row('answer', path, is ?? 'type not shown', origin, false, typed(path, is && [is]))
  }

  function typed(
    path: string,
    types: readonly JsonType[] | undefined,
  ): (Extract<Provenance, { state: 'confirmed' | 'contradicted' }> & { at: Date }) | undefined {
    const there = fields.filter((field) => isAt(path, field.path) && field.type !== 'null')
    const right = newest(there.filter(({ type }) => !types || types.includes(type as JsonType)))
    const wrong = newest(there.filter(({ type }) => types && !types.includes(type as JsonType)))
    if (wrong && (!right || wrong.lastSeen > right.lastSeen))
      return { state: 'contradicted', at: wrong.lastSeen, seen: `its type is ${wrong.type}` }
    return right && { state: 'confirmed', at: right.lastSeen }
  }
}

/** Returns the path of a field in the whole answer: below each row, or below the document. A list of documents counts as rows. */
function belowOf({ answer: { at, rows } }: Contract, name: string, fields: readonly SightedField[]): string {
  const list = shapePath(at.value)
  const isList = rows !== undefined || fields.some(({ path, type }) => path === list && type === 'array')
  return `${list}${isList ? '[]' : ''}.${name}`.replace(/^\./, '')
}

export function isAt(name: string, path: string): boolean {
  return name.endsWith('*') ? path.startsWith(name.slice(0, -1)) : path === name
}

function newest(fields: readonly SightedField[]): SightedField | undefined {
  return fields.reduce<SightedField | undefined>(
    (found, field) => (found && found.lastSeen >= field.lastSeen ? found : field),
    undefined,
  )
}

export function provenanceText(provenance: Provenance): string {
  switch (provenance.state) {
    case 'shown':
      return `shown ${provenance.section}`
    case 'confirmed':
      return `confirmed ${provenance.at.toISOString().slice(0, 10)}`
    case 'contradicted':
      return `contradicted${provenance.at ? ` ${provenance.at.toISOString().slice(0, 10)}` : ''}: ${provenance.seen}`
    default:
      return provenance.state
  }
}
