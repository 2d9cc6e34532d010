import { z } from 'zod'
import { answerDocuments } from '../answer-documents.ts'

/** More credits than an account can have or an answer can cost. A larger number counts as not stated. */
const mostCredits = 1e12

const count = z
  .union([
    z.number(),
    z
      .string()
      .regex(/^-?\d+(\.\d+)?$/)
      .transform(Number),
  ])
  // 1e400 is a number of JSON, and Infinity here.
  .refine((value) => Math.abs(value) <= mostCredits)
  .nullish()
  .catch(undefined)

/** The block in which the service states the cost of an answer and the remaining credits. Credits, not USD. */
const creditBlockSchema = z.looseObject({
  credit: count,
  topup_credit: count,
  total_credit_cost: count,
})

/** Credits of the service. A field that the answer does not state is absent. */
export interface Credits {
  /** Remaining credits of the plan. */
  credit?: number | undefined
  /** Remaining credits that were bought in addition. */
  topupCredit?: number | undefined
  /** The cost of this answer. 0 means a free answer; absent means that the answer states no cost. */
  totalCreditCost?: number | undefined
}

/** A body key that the service did not accept as it was sent. Names only: the value may be personal data. */
export type RequestWarning =
  { kind: 'ignored'; field: string } | { kind: 'renamed'; field: string; to?: string | undefined }

/**
 * Returns the credit block of an answer, which occurs both at `metadata.profile` and at `data.profile`. Returns
 * undefined when neither holds one. Never throws.
 */
export function creditsOf(body: string | unknown): Credits | undefined {
  const answer = answerIn(body, ['profile'])
  for (const place of [answer?.['metadata'], answer?.['data']]) {
    const profile = record(record(place)?.['profile'])
    // Most answers have none, and zod takes its time to say what is wrong with nothing.
    if (!profile) continue
    const block = creditBlockSchema.safeParse(profile)
    if (!block.success || !isCreditBlock(block.data)) continue
    const { credit, topup_credit: topupCredit, total_credit_cost: totalCreditCost } = block.data
    return {
      credit: credit ?? undefined,
      topupCredit: topupCredit ?? undefined,
      totalCreditCost: (totalCreditCost ?? -1) < 0 ? undefined : (totalCreditCost ?? undefined),
    }
  }
  return undefined
}

/** Returns true for a block with at least one of the three counts: `profile` may mean something else in a record. */
export function isCreditBlock(value: unknown): boolean {
  const block = record(value)
  return ['credit', 'topup_credit', 'total_credit_cost'].some((name) => name in (block ?? {}))
}

/** A request has a dozen keys. More warnings than this, or longer names, are no warnings about it. */
const mostWarnings = 50
const longestName = 100

/**
 * Returns the service's warnings about the request's own keys (`metadata.ignored_fields`, `metadata.renamed_fields`),
 * each once. The form of a renaming is not documented: a list of names, a list of `{from, to}` and an object `old: new`
 * are all read.
 */
export function warningsOf(body: string | unknown): RequestWarning[] {
  const metadata = record(answerIn(body, ['ignored_fields', 'renamed_fields'])?.['metadata'])
  if (!metadata) return []
  const ignored = strings(metadata['ignored_fields']).map((field) => ({ kind: 'ignored' as const, field }))
  const said = [...ignored, ...renamings(metadata['renamed_fields'])]
  const all = said.filter(({ field }) => field.length <= longestName).slice(0, mostWarnings)
  return all.filter((each, at) => all.findIndex((other) => same(each, other)) === at)
}

function renamings(value: unknown): RequestWarning[] {
  if (Array.isArray(value)) {
    return value.flatMap((each): RequestWarning[] => {
      if (typeof each === 'string') return [{ kind: 'renamed', field: each }]
      const entry = record(each)
      const field = entry?.['from'] ?? entry?.['old'] ?? entry?.['field']
      const to = entry?.['to'] ?? entry?.['new']
      if (typeof field !== 'string') return entry ? renamings(entry) : []
      return [{ kind: 'renamed', field, to: textOf(to) }]
    })
  }
  return Object.entries(record(value) ?? {}).map(([field, to]) => ({
    kind: 'renamed',
    field,
    to: textOf(to),
  }))
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function same(one: RequestWarning, other: RequestWarning): boolean {
  return one.kind === other.kind && one.field === other.field
}

function strings(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : []
}

/**
 * Returns an answer of which one of these names is to be read. Undefined for a text in which none of them stands: most answers have
 * no such block, and need not be parsed for it.
 */
function answerIn(body: unknown, names: readonly string[]): Record<string, unknown> | undefined {
  if (typeof body !== 'string') return record(body)
  const kept = answerDocuments.of(body)
  if (kept) return record(kept)
  if (!body.includes('\\u') && names.every((name) => !body.includes(`"${name}"`))) return undefined
  try {
    return record(JSON.parse(body))
  } catch {
    return undefined
  }
}

function record(value: unknown): Record<string, unknown> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined
}
