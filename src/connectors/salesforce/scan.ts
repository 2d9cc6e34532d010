import { identityOf, type EntityMapping, type OwnFields } from '../../domain/mapping/mapping.ts'
import { isOwnWrite } from '../../domain/mapping/stamp.ts'
import type { SourceRecord } from '../../domain/record.ts'
import { valuesFault } from '../../domain/values/gate.ts'
import type { ScanOptions, ScanPage } from '../connector.ts'
import { assertProperties, handedOut } from '../filter.ts'
import { PaydirtError } from '../../domain/errors.ts'
import { countSchema, querySchema, type Row } from './api/answers.ts'
import { queryByBulk } from './api/bulk-query.ts'
import type { SalesforceClient } from './api/client.ts'
import { soqlFilter } from './filter.ts'
import {
  flatten,
  hasStamp,
  withoutOwnAccount,
  identityFields,
  mappedFields,
  textOf,
  timeOf,
  valuesOf,
} from './rows.ts'
import { withFields, type DescribedObject, type SchemaCache } from './api/schema-cache.ts'
import { count, select, soqlText, soqlTime, type Statement } from './api/soql.ts'
import { readMerges } from './merges.ts'
import { chunk } from './read.ts'
import { withPlaceCodes } from './place-codes.ts'
import { readWatermark, writeWatermark, type Position } from './watermark.ts'

export interface ScanDeps {
  client: SalesforceClient
  schema: SchemaCache
  own: OwnFields
  now: () => number
  /**
   * The next increment reaches back this long before the end of this one. A transaction's records become visible only at its
   * end, with stamps from its course.
   */
  lookbackMs: number
  pageSize: number
  /** From this many records on, what is left after a full page is read by a bulk query. */
  bulkScanThreshold: number
  wait?: ((ms: number) => Promise<void>) | undefined
}

const secondMs = 1_000
const dayMs = 86_400_000

/**
 * Yields the records in the order of their last change, page by page. Stamps are whole seconds with real ties: each
 * page starts after the last record by stamp and id, never after a stamp alone, so that any number of ties is read
 * once. A record that changes meanwhile moves beyond the end of this scan, and into the next.
 */
export async function* scanPages(
  deps: ScanDeps,
  sobject: string,
  mapping: EntityMapping,
  options: ScanOptions,
): AsyncGenerator<ScanPage> {
  const { limit = Infinity, signal } = options
  if (limit <= 0) return
  let position = begin(options)
  // Up to the end of this second: the next increment looks back for changes that still follow within it.
  const endMs =
    position?.kind === 'inside' ? position.endMs : Math.floor(deps.now() / secondMs) * secondMs + secondMs
  // A merge changes the winner, so the increment that reads it reads its losers too.
  const mergedSinceMs = position?.kind === 'from' ? position.stampMs : undefined
  let merges: Promise<ReadonlyMap<string, readonly string[]>> | undefined
  let returned = 0
  let isBulkTried = deps.bulkScanThreshold === Infinity

  for (;;) {
    signal?.throwIfAborted()
    const asked = Math.min(deps.pageSize, limit - returned)
    const where = window(position, endMs)
    const { done, records, losers, object } = await withFields(deps.schema, sobject, async (described) => {
      const found = await queryPage(deps, statement(deps, described, mapping, where, options), asked)
      if (found.records.length > 0) merges ??= readMerges(deps.client, described, mergedSinceMs)
      return { ...found, losers: await merges, object: described }
    })
    const last = records.at(-1)
    if (last) {
      position = behind(last, endMs)
      returned += records.length
      yield toPage(deps, mapping, object, records, losers, position, options)
    }
    if (returned >= limit) return
    // An answer may end before the page is full because of its size: then its `done` is false.
    if (done && records.length < asked) break
    // A page that is not full is the end of most scans, so that only a large one pays for the count.
    if (isBulkTried || limit !== Infinity || records.length < deps.pageSize) continue
    isBulkTried = true
    const rest = { ...options, position, endMs, losers }
    for await (const page of restByBulk(deps, sobject, mapping, rest)) {
      position = page.position
      yield page.page
    }
  }
  yield { records: [], watermark: writeWatermark(nextIncrement(position, endMs, deps.lookbackMs)) }
}

/**
 * Yields the records behind a position by one bulk query, if they are many: a million records take some hundred requests in
 * place of five hundred. Yields nothing if they are few, and stops early when the job fails: pages continue behind the last
 * record in both cases.
 */
async function* restByBulk(
  deps: ScanDeps,
  sobject: string,
  mapping: EntityMapping,
  options: ScanOptions & {
    position: Position | undefined
    endMs: number
    losers: ReadonlyMap<string, readonly string[]> | undefined
  },
): AsyncGenerator<{ page: ScanPage; position: Position }> {
  const where = window(options.position, options.endMs)
  const object = await deps.schema.describe(sobject)
  const query = statement(deps, object, mapping, where, options)
  const { totalSize } = await deps.client.call(countSchema, {
    path: '/query',
    query: { q: count(query) },
  })
  if (totalSize < deps.bulkScanThreshold) return
  try {
    const { client, now, wait } = deps
    for await (const rows of queryByBulk(client, select(query), { now, wait, signal: options.signal }))
      for (const part of chunk(rows, deps.pageSize)) {
        options.signal?.throwIfAborted()
        const records = part.map((row) => typed(row, object))
        const position = behind(records.at(-1) as Row, options.endMs)
        yield { page: toPage(deps, mapping, object, records, options.losers, position, options), position }
      }
  } catch (error) {
    // A field that is gone, a job that failed: pages read what is left, or say what is wrong.
    if (!(error instanceof PaydirtError) || options.signal?.aborted) throw error
  }
}

/** A CSV has texts only, and "false" is not false. */
function typed(row: Row, { fields }: DescribedObject): Row {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      fields.get(name)?.type === 'boolean' ? value === 'true' : value,
    ]),
  ) as Row
}

function statement(
  { own }: ScanDeps,
  object: DescribedObject,
  mapping: EntityMapping,
  where: readonly string[],
  { filter = [], properties = [] }: ScanOptions,
): Statement {
  assertProperties(properties, [...object.fields.keys()])
  return {
    fields: [...new Set([...fieldsToRead(mapping, object, own), ...properties])],
    from: object.name,
    where: [...where, ...enrichable(object), ...filter.map((one) => soqlFilter(one, object))],
    orderBy: ['SystemModstamp', 'Id'],
  }
}

async function queryPage(
  deps: ScanDeps,
  query: Statement,
  limit: number,
): Promise<{ done: boolean; records: Row[] }> {
  const headers = { 'Sforce-Query-Options': 'batchSize=2000' }
  return deps.client.call(querySchema, {
    path: '/query',
    query: { q: select({ ...query, limit }) },
    headers,
  })
}

/**
 * Returns the conditions that leave out records which are not enriched as this object: a lead that has become a contact,
 * and an account that is a person, which is scanned as its contact.
 */
export function enrichable({ name, fields }: DescribedObject): string[] {
  return ['IsConverted', ...(name === 'Account' ? ['IsPersonAccount'] : [])]
    .filter((field) => fields.has(field))
    .map((field) => `${field} = false`)
}

function begin({ after, since }: ScanOptions): Position | undefined {
  if (after !== undefined) return readWatermark(after)
  return since ? { kind: 'from', stampMs: since.getTime() } : undefined
}

function window(position: Position | undefined, endMs: number): string[] {
  const end = `SystemModstamp < ${soqlTime(endMs)}`
  if (!position) return [end]
  const stamp = soqlTime(position.stampMs)
  if (position.kind === 'from') return [`SystemModstamp >= ${stamp}`, end]
  return [`(SystemModstamp > ${stamp} OR (SystemModstamp = ${stamp} AND Id > ${soqlText(position.id)}))`, end]
}

function behind(row: Row, endMs: number): Position {
  const stampMs = timeOf(row['SystemModstamp'])
  if (stampMs === undefined) throw new Error('a row came without SystemModstamp')
  return { kind: 'inside', stampMs, id: row.Id, endMs }
}

/**
 * Starts at the latest stamp seen, less the lookback: the org's clock decides and not ours. When nothing has changed
 * for long, it starts a day before the end, so that a load of many records is not read again every night.
 */
function nextIncrement(position: Position | undefined, endMs: number, lookbackMs: number): Position {
  const seenMs =
    position?.kind === 'inside' ? Math.min(position.stampMs, endMs) - lookbackMs : position?.stampMs
  return { kind: 'from', stampMs: Math.max(seenMs ?? 0, endMs - Math.max(dayMs, lookbackMs)) }
}

export function fieldsToRead(mapping: EntityMapping, object: DescribedObject, own: OwnFields): string[] {
  return [
    ...new Set([
      'Id',
      'SystemModstamp',
      ...identityFields(mapping, object),
      ...(object.name === 'Contact' && object.fields.has('IsPersonAccount') ? ['IsPersonAccount'] : []),
      // The record's values decide which lookups are worth buying.
      ...mappedFields(withPlaceCodes(mapping, object), object),
      ...(hasStamp(own, object) ? [own.source, own.enrichedAt, 'LastModifiedDate'] : []),
    ]),
  ]
}

function toPage(
  { own }: ScanDeps,
  given: EntityMapping,
  object: DescribedObject,
  rows: readonly Row[],
  losers: ReadonlyMap<string, readonly string[]> | undefined,
  position: Position,
  { properties: wanted = [] }: ScanOptions,
): ScanPage {
  const mapping = withPlaceCodes(given, object)
  const properties = [...new Set(Object.values(mapping.fields).map(({ property }) => property))]
  const ownWrites = new Set(rows.filter((row) => isOurs(row, properties, own)).map(({ Id }) => Id))
  const records = rows.map((row) => {
    const mergedIds = losers?.get(row.Id)
    return {
      ...toRecord(row, mapping, object),
      ...handedOut(flatten(row), wanted),
      ...(mergedIds ? { mergedIds } : {}),
    }
  })
  return { records, watermark: writeWatermark(position), ...(ownWrites.size > 0 ? { ownWrites } : {}) }
}

/** Returns a row as a record of a scan. */
export function toRecord(row: Row, mapping: EntityMapping, object: DescribedObject): SourceRecord {
  const found = flatten(row)
  // Found here, before anything is bought for a record that could not be written.
  const unreadable = valuesFault(found)
  return {
    id: row.Id,
    object: mapping.object,
    identity: identityOf(mapping, flatten(withoutOwnAccount(row))),
    ...(unreadable ? { unreadable } : { values: valuesOf(found, mapping, object) }),
  }
}

function isOurs(row: Row, properties: readonly string[], own: OwnFields): boolean {
  return isOwnWrite({
    properties,
    values: flatten(row),
    source: textOf(row[own.source]),
    enrichedAtMs: timeOf(row[own.enrichedAt]),
    // Not SystemModstamp: jobs of the platform move it although no user changed the record.
    modifiedAtMs: timeOf(row['LastModifiedDate']),
  })
}
