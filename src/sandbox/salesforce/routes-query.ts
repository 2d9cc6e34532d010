import { Hono, type Context } from 'hono'
import { accessRows } from './access.ts'
import { SalesforceError } from './errors.ts'
import type { SalesforceEnv } from './gate.ts'
import { isId } from './ids.ts'
import { childrenOf } from './making/tied.ts'
import { parseSoql } from './soql-parse.ts'
import { readColumn, runSoql, type Column, type Selection } from './soql-run.ts'
import type { SalesforceRecord, SalesforceStore } from './store.ts'

const PAGE_SIZE = 2000
/** "SOQL statements: maximum length 100,000 characters" (Salesforce Developer Limits and Allocations Quick Reference). */
const MAX_SOQL_CHARACTERS = 100_000

interface Cursor {
  readonly selection: Selection
  readonly total: number
}

/** `query`, `queryAll` and their further pages: a cursor keeps the rows as they were selected. */
export function queryRoutes(store: SalesforceStore): Hono<SalesforceEnv> {
  const app = new Hono<SalesforceEnv>()
  const cursors = new Map<string, Cursor>()
  let nextCursor = 1

  const answerFirst = (c: Context<SalesforceEnv>, withDeleted: boolean): Response => {
    const text = c.req.query('q')
    if (text === undefined)
      throw new SalesforceError(400, 'MALFORMED_QUERY', 'A query string has to be specified')
    if (text.length > MAX_SOQL_CHARACTERS)
      throw new SalesforceError(
        400,
        'QUERY_TOO_COMPLICATED',
        `SOQL statements cannot be longer than ${MAX_SOQL_CHARACTERS} characters.`,
      )
    const soql = parseSoql(text)
    const described = accessRows(store.access, store.users, soql)
    if (described) return c.json({ totalSize: described.length, done: true, records: described })
    const selection = runSoql(store, soql, withDeleted)
    if (soql.isCount) return c.json({ totalSize: selection.records.length, done: true, records: [] })
    const id = `01gWx${String(nextCursor++).padStart(10, '0')}AAA`
    const cursor: Cursor = { selection, total: selection.records.length }
    if (cursor.total > batchSize(c)) cursors.set(id, cursor)
    return c.json(page(c, id, cursor, 0))
  }
  const page = (
    c: Context<SalesforceEnv>,
    id: string,
    { selection, total }: Cursor,
    from: number,
  ): object => {
    const version = versionOf(c)
    const rows = selection.records.slice(from, from + batchSize(c))
    const end = from + rows.length
    return {
      totalSize: total,
      done: end >= total,
      ...(end < total ? { nextRecordsUrl: `/services/data/v${version}/query/${id}-${end}` } : {}),
      records: rows.map((record) => ({
        ...project(store, record, selection.columns, version),
        ...childRows(record, selection, version),
      })),
    }
  }

  /** A subquery without rows is null. */
  const childRows = (record: SalesforceRecord, { children }: Selection, version: string): object =>
    Object.fromEntries(
      children.map(({ relationshipName, childSObject }) => {
        const ids = childrenOf(store, record.type, record.id, relationshipName)
        const records = ids.map((Id) => ({ attributes: attributes(childSObject, Id, version), Id }))
        return [relationshipName, ids.length === 0 ? null : { totalSize: ids.length, done: true, records }]
      }),
    )

  app.get('/query', (c) => answerFirst(c, false))
  app.get('/query/', (c) => answerFirst(c, false))
  app.get('/queryAll', (c) => answerFirst(c, true))
  app.get('/queryAll/', (c) => answerFirst(c, true))
  app.get('/query/:locator', (c) => {
    const [, id = '', from = ''] = /^(01g\w+)-(\d+)$/.exec(c.req.param('locator')) ?? []
    const cursor = cursors.get(id)
    if (!cursor) throw new SalesforceError(400, 'INVALID_QUERY_LOCATOR', 'invalid query locator')
    return c.json(page(c, id, cursor, Number(from)))
  })
  return app
}

/** Returns a record with its attributes and nested parents, as query and retrieve do. */
export function project(
  store: SalesforceStore,
  record: SalesforceRecord,
  columns: readonly Column[],
  version: string,
): Record<string, unknown> {
  const row: Record<string, unknown> = { attributes: attributes(record.type, record.id, version) }
  for (const column of columns) {
    const [first = '', second] = column.path
    const value = readColumn(store, record, column)
    if (second === undefined) row[first] = value
    else row[first] = nest(row[first], second, value, record, version)
  }
  return row
}

export function versionOf(c: Context<SalesforceEnv>): string {
  return /\/v(\d+\.\d)/.exec(c.req.path)?.[1] ?? '68.0'
}

function nest(
  existing: unknown,
  name: string,
  value: unknown,
  record: SalesforceRecord,
  version: string,
): unknown {
  const parentId = record.fields.AccountId ?? record.fields.ParentId
  if (typeof parentId !== 'string' || !isId(parentId)) return null
  const base = (existing as Record<string, unknown> | undefined) ?? {
    attributes: attributes('Account', parentId, version),
  }
  return { ...base, [name]: value }
}

function attributes(type: string, id: string, version: string): object {
  return { type, url: `/services/data/v${version}/sobjects/${type}/${id}` }
}

function batchSize(c: Context<SalesforceEnv>): number {
  const asked = /batchSize=(\d+)/.exec(c.req.header('sforce-query-options') ?? '')?.[1]
  return asked === undefined ? PAGE_SIZE : Math.min(PAGE_SIZE, Math.max(200, Number(asked)))
}
