import { querySchema, compositeSchema, type Row } from '../api/answers.ts'
import { RefusedRequestError } from '../api/api-error.ts'
import type { SalesforceClient } from '../api/client.ts'
import { chunk } from '../read.ts'
import { RetriableError } from '../../../domain/errors.ts'
import { refusalsSchema } from '../api/answers.ts'

/** As many queries as a composite request may hold: it counts as one call. */
const queriesPerCall = 5
/**
 * The characters of one condition. An address has at most 16,384 with its headers, a statement in a body 100,000; with the fields
 * of a large object and what the org adds, a statement stays far below.
 */
const conditionSize = 20_000

/** One query, and whether records in the recycle bin are asked for too. */
export interface Asked {
  q: string
  withDeleted?: boolean
}

/**
 * Carries out queries, five in one call, and returns the rows of each. In the body of a composite request a query may be longer
 * than an address.
 */
export async function runQueries(client: SalesforceClient, queries: readonly Asked[]): Promise<Row[][]> {
  const all: Row[][] = []
  for (const part of chunk(queries, queriesPerCall)) {
    const root = `/services/data/v${client.apiVersion}`
    const { compositeResponse } = await client.call(compositeSchema, {
      method: 'POST',
      path: '/composite',
      json: {
        allOrNone: false,
        compositeRequest: part.map(({ q, withDeleted }, index) => ({
          method: 'GET',
          url: `${root}/${withDeleted ? 'queryAll' : 'query'}?q=${encodeURIComponent(q)}`,
          referenceId: `q${index}`,
        })),
      },
      isRepeatable: true,
    })
    for (const index of part.keys()) all.push(await rowsOf(client, compositeResponse[index]))
  }
  return all
}

async function rowsOf(
  client: SalesforceClient,
  answer: { httpStatusCode: number; body?: unknown } | undefined,
): Promise<Row[]> {
  if (answer?.httpStatusCode !== 200) throw refusalOf(answer)
  let page = pageSchema.parse(answer.body)
  const rows = [...page.records]
  while (!page.done && page.nextRecordsUrl) {
    page = await client.call(pageSchema, { path: page.nextRecordsUrl })
    rows.push(...page.records)
  }
  return rows
}

const pageSchema = querySchema

function refusalOf(answer: { httpStatusCode: number; body?: unknown } | undefined): Error {
  const refusals = refusalsSchema.safeParse(answer?.body)
  const [first] = refusals.success ? refusals.data : []
  const code = first?.errorCode ?? `HTTP_${answer?.httpStatusCode ?? 0}`
  if (answer === undefined || answer.httpStatusCode >= 500 || passing.has(code))
    return new RetriableError('salesforce_unavailable', `Salesforce answered ${code} to a query`)
  return new RefusedRequestError(code, first?.message ?? '', 'a query')
}

const passing: ReadonlySet<string> = new Set(['QUERY_TIMEOUT', 'SERVER_UNAVAILABLE', 'UNKNOWN_EXCEPTION'])

/** Splits the literals of an `IN` so that each condition keeps its size. */
export function inConditions(field: string, literals: readonly string[]): string[] {
  const conditions: string[] = []
  let part: string[] = []
  let size = 0
  for (const literal of literals) {
    if (size + literal.length > conditionSize && part.length > 0) {
      conditions.push(`${field} IN (${part.join(', ')})`)
      part = []
      size = 0
    }
    part.push(literal)
    size += literal.length + 2
  }
  if (part.length > 0) conditions.push(`${field} IN (${part.join(', ')})`)
  return conditions
}
