import { z } from 'zod'
import { validationError } from './errors.ts'
import { MODIFIED_PROPERTY, type HubspotProperty, type HubspotType } from './properties.ts'
import { readProperty, type HubspotRecord, type HubspotStore } from './store.ts'

const MAX_WINDOW = 10_000
const MAX_BODY_CHARACTERS = 3000

const filterSchema = z.strictObject({
  propertyName: z.string(),
  operator: z.enum([
    'EQ',
    'NEQ',
    'LT',
    'LTE',
    'GT',
    'GTE',
    'BETWEEN',
    'IN',
    'NOT_IN',
    'HAS_PROPERTY',
    'NOT_HAS_PROPERTY',
    'CONTAINS_TOKEN',
    'NOT_CONTAINS_TOKEN',
  ]),
  value: z.union([z.string(), z.number().transform(String)]).optional(),
  highValue: z.union([z.string(), z.number().transform(String)]).optional(),
  values: z.array(z.string()).optional(),
})

const searchSchema = z.object({
  filterGroups: z.array(z.object({ filters: z.array(filterSchema) })).default([]),
  sorts: z
    .array(
      z.union([
        z.string(),
        z.object({
          propertyName: z.string(),
          direction: z.enum(['ASCENDING', 'DESCENDING']).default('ASCENDING'),
        }),
      ]),
    )
    .default([]),
  query: z.string().optional(),
  properties: z.array(z.string()).default([]),
  limit: z.number().int().default(10),
  after: z.union([z.string(), z.number().transform(String)]).default('0'),
})

type Filter = z.infer<typeof filterSchema>
type Search = z.infer<typeof searchSchema>
type Predicate = (record: HubspotRecord) => boolean

export interface SearchResult {
  readonly total: number
  readonly records: readonly HubspotRecord[]
  readonly nextAfter: string | undefined
  readonly properties: readonly string[]
}

/** Answers one search over the current index. Throws the API's 400 for every limit of the endpoint. */
export function runSearch(store: HubspotStore, type: HubspotType, body: string, nowMs: number): SearchResult {
  const search = parseSearch(body)
  const definitions = store.registry.properties[type]
  const after = Number(search.after)
  if (!Number.isInteger(after) || after < 0)
    throw validationError(`Invalid paging parameter: ${search.after}`)
  if (search.limit < 1 || search.limit > 200)
    throw validationError('The limit parameter must be between 1 and 200, inclusive.')
  if (after + search.limit > MAX_WINDOW) throw validationError('There was a problem with the request.')

  const matches = compile(search, type, definitions)
  const found: HubspotRecord[] = []
  for (const record of store.list(type)) {
    const shown = indexed(record, nowMs)
    if (shown && matches(shown)) found.push(shown)
  }
  sort(found, search, type, definitions)
  const records = found.slice(after, after + search.limit)
  const next = after + records.length
  return {
    total: found.length,
    records,
    nextAfter: next < found.length ? String(next) : undefined,
    properties: search.properties,
  }
}

function parseSearch(body: string): Search {
  if (body.length > MAX_BODY_CHARACTERS)
    throw validationError(`The request body must not exceed ${MAX_BODY_CHARACTERS} characters.`)
  let json: unknown
  try {
    json = JSON.parse(body)
  } catch {
    throw validationError('Invalid input JSON on line 1, column 1: unexpected content')
  }
  const parsed = searchSchema.safeParse(json)
  if (!parsed.success)
    throw validationError(`Invalid input JSON: ${parsed.error.issues[0]?.message ?? 'unreadable'}`)
  const { filterGroups, sorts } = parsed.data
  if (filterGroups.length > 5) throw validationError('filterGroups: at most 5 are allowed')
  if (filterGroups.some((group) => group.filters.length > 6))
    throw validationError('filters: at most 6 a group')
  if (filterGroups.reduce((sum, group) => sum + group.filters.length, 0) > 18)
    throw validationError('filters: at most 18 in total')
  if (sorts.length > 1) throw validationError('sorts: at most 1 is allowed')
  return parsed.data
}

/** Returns the record as indexed: absent while archived or not yet indexed, older while the index lags. */
function indexed(record: HubspotRecord, nowMs: number): HubspotRecord | undefined {
  if (record.stale && record.stale.until > nowMs) {
    if (!record.stale.properties) return undefined
    return { ...record, properties: record.stale.properties, modifiedAtMs: record.stale.modifiedAtMs }
  }
  return record.archivedAtMs === undefined ? record : undefined
}

function compile(
  search: Search,
  type: HubspotType,
  definitions: ReadonlyMap<string, HubspotProperty>,
): Predicate {
  const groups = search.filterGroups.map(({ filters }) =>
    filters.map((f) => compileFilter(f, type, definitions)),
  )
  const query = search.query?.toLowerCase()
  return (record) => {
    if (query && !Object.values(record.properties).some((value) => value.toLowerCase().includes(query)))
      return false
    return groups.length === 0 || groups.some((group) => group.every((matches) => matches(record)))
  }
}

function compileFilter(
  filter: Filter,
  type: HubspotType,
  definitions: ReadonlyMap<string, HubspotProperty>,
): Predicate {
  const definition = definitions.get(filter.propertyName)
  if (!definition) throw validationError(`Property ${filter.propertyName} does not exist on ${type}`)
  const name = filter.propertyName
  const text = (record: HubspotRecord): string | null => readProperty(record, name)

  switch (filter.operator) {
    case 'HAS_PROPERTY':
      if (filter.value !== undefined) throw validationError('HAS_PROPERTY does not take a value')
      return (record) => text(record) !== null
    case 'NOT_HAS_PROPERTY':
      if (filter.value !== undefined) throw validationError('NOT_HAS_PROPERTY does not take a value')
      return (record) => text(record) === null
    case 'IN':
    case 'NOT_IN': {
      if (!filter.values || filter.values.length === 0)
        throw validationError(`${filter.operator} needs values`)
      // Text is indexed in lower case, and IN compares its values with the index unchanged.
      const wanted = new Set(filter.values)
      const fold = definition.type === 'string'
      const isIn = (record: HubspotRecord): boolean => {
        const value = text(record)
        return value !== null && wanted.has(fold ? value.toLowerCase() : value)
      }
      return filter.operator === 'IN' ? isIn : (record) => text(record) !== null && !isIn(record)
    }
    case 'CONTAINS_TOKEN':
    case 'NOT_CONTAINS_TOKEN': {
      const pattern = tokenPattern(needValue(filter, filter.value))
      const contains = (record: HubspotRecord): boolean => {
        const value = text(record)
        return (
          value !== null &&
          (pattern.test(value) || value.split(/[^\p{L}\p{N}]+/u).some((t) => pattern.test(t)))
        )
      }
      return filter.operator === 'CONTAINS_TOKEN' ? contains : (record) => !contains(record)
    }
    case 'EQ':
    case 'NEQ':
      if (!isOrdered(definition)) {
        const wanted = needValue(filter, filter.value).toLowerCase()
        const equals = (record: HubspotRecord): boolean => text(record)?.toLowerCase() === wanted
        return filter.operator === 'EQ' ? equals : (record) => text(record) !== null && !equals(record)
      }
  }
  return compileComparison(filter, type, definition)
}

function compileComparison(filter: Filter, type: HubspotType, definition: HubspotProperty): Predicate {
  if (!isOrdered(definition))
    throw validationError(`${filter.operator} is not supported on ${definition.name}`)
  const read = numberReader(type, definition)
  const low = toNumber(definition, needValue(filter, filter.value))
  switch (filter.operator) {
    case 'EQ':
      return (record) => read(record) === low
    case 'NEQ':
      return (record) => !Number.isNaN(read(record)) && read(record) !== low
    case 'LT':
      return (record) => read(record) < low
    case 'LTE':
      return (record) => read(record) <= low
    case 'GT':
      return (record) => read(record) > low
    case 'GTE':
      return (record) => read(record) >= low
    default: {
      const high = toNumber(definition, needValue(filter, filter.highValue))
      return (record) => read(record) >= low && read(record) <= high
    }
  }
}

function sort(
  records: HubspotRecord[],
  search: Search,
  type: HubspotType,
  definitions: ReadonlyMap<string, HubspotProperty>,
): void {
  const first = search.sorts[0]
  if (first === undefined) return
  const given = typeof first === 'string' ? first : first.propertyName
  const name = given.replace(/^-/, '')
  const sign = (typeof first === 'string' ? given.startsWith('-') : first.direction === 'DESCENDING') ? -1 : 1
  const definition = definitions.get(name)
  if (!definition) throw validationError(`Property ${name} does not exist on ${type}`)
  if (isOrdered(definition)) {
    const read = numberReader(type, definition)
    records.sort((a, b) => sign * (read(a) - read(b)) || Number(a.id) - Number(b.id))
  } else {
    const read = (record: HubspotRecord): string => readProperty(record, name) ?? ''
    records.sort((a, b) => sign * (read(a) < read(b) ? -1 : read(a) > read(b) ? 1 : 0))
  }
}

/** Stamps and ids are compared as numbers, because a scan of a large account must not parse dates. */
function numberReader(type: HubspotType, definition: HubspotProperty): (record: HubspotRecord) => number {
  const { name } = definition
  if (name === MODIFIED_PROPERTY[type]) return (record) => record.modifiedAtMs
  if (name === 'createdate') return (record) => record.createdAtMs
  if (name === 'hs_object_id') return (record) => Number(record.id)
  return (record) => {
    const value = record.properties[name]
    if (value === undefined) return Number.NaN
    return definition.type === 'number' ? Number(value) : Date.parse(value)
  }
}

function isOrdered({ type }: HubspotProperty): boolean {
  return type === 'number' || type === 'date' || type === 'datetime'
}

function toNumber(definition: HubspotProperty, value: string): number {
  const number =
    /^-?\d+(\.\d+)?$/.test(value) || definition.type === 'number' ? Number(value) : Date.parse(value)
  if (Number.isNaN(number)) throw validationError(`${value} is not a valid value for ${definition.name}`)
  return number
}

function needValue(filter: Filter, value: string | undefined): string {
  if (value === undefined) throw validationError(`${filter.operator} on ${filter.propertyName} needs a value`)
  return value
}

function tokenPattern(value: string): RegExp {
  const escaped = value.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*')
  return new RegExp(`^${escaped}$`, 'i')
}
