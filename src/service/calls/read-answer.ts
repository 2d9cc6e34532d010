import { dropReason, type DropReason } from '../../domain/lists/dropped-rows.ts'
import type { Fact } from '../../domain/record.ts'
import { warningsOf, type RequestWarning } from '../schema/metadata.ts'
import type { Contract } from '../catalogue/catalogue.ts'
import { wholeAnswer } from '../catalogue/entry.ts'
import { valueAt } from './json-path.ts'
import { withoutSecrets } from './without-secrets.ts'

/**
 * Returns a decoder that keeps the whole answer, so that a field the settings name later is read without a second purchase.
 * Never throws: an answer that cannot be read was paid for and is stored as `unreadable`.
 */
export function decodeWhole(contract: Contract): (body: string) => Fact {
  return (body) => {
    let answer: unknown
    try {
      answer = JSON.parse(body)
    } catch {
      return unreadable(body, 'it is not JSON')
    }
    const problem = problemOf(contract, answer)
    if (problem !== undefined) return unreadable(body, problem)
    if (valueAt(answer, contract.answer.at.value) === null && !contract.answer.rows)
      return { outcome: 'not_found', data: null }
    const data = answer as Record<string, unknown>
    // The headers of a webhook are its password, and the ledger needs none of them.
    return { outcome: 'found', data: contract.family === 'monitors' ? withoutSecrets(data) : data }
  }
}

/** Returns why an answer cannot be read as the catalogue says; undefined for one that can. */
export function problemOf({ answer: { at, rows } }: Contract, answer: unknown): string | undefined {
  if (typeof answer !== 'object' || answer === null) return 'it is no object'
  if (Array.isArray(answer) && at.value !== wholeAnswer) return 'it is no object'
  const value = valueAt(answer, at.value)
  if (value === undefined) return `${at.value} is missing`
  if (!rows) return typeof value === 'object' ? undefined : `${at.value} is no object or list`
  return value === null || Array.isArray(value) ? undefined : `${at.value} is no list`
}

/** A page of a search as the ledger keeps it. */
export interface Page {
  rows: readonly Record<string, unknown>[]
  /** The place of each of these rows among those that the service sent, from 0. */
  places: readonly number[]
  /** The rows that the service sent and the ledger does not keep, by reason. They count for the size of the page. */
  dropped: Readonly<Partial<Record<DropReason, number>>>
  /** The rows that the service sent. */
  arrived: number
  /** The number of all rows; null where the answer does not state it. */
  total: number | null
  ignored: readonly string[]
  renamed: readonly { field: string; to?: string | undefined }[]
  /** Departures from the catalogue that make the rows unusable or incomplete, in words. */
  drift: readonly string[]
  /** The source types that an advertisement search leaves out, and its notes on coverage. */
  notes: Readonly<Record<string, unknown>>
}

const noteNames = [
  'applied_source_types',
  'unsupported_source_types',
  'skipped_source_types',
  'coverage_notes',
]

/**
 * Reads a page from a stored answer with the catalogue of now: an answer that drifted is readable as soon as the settings name
 * its fields. Never throws.
 */
export function readPage(contract: Contract, answer: unknown): Page {
  const { at, rows } = contract.answer
  // Beside a list that is the answer itself nothing can stand.
  const hasTotal = rows !== undefined && at.value !== wholeAnswer
  const listed = valueAt(answer, at.value)
  const list = Array.isArray(listed) ? listed : []
  const sent = list.filter(isObject)
  const objects = sent.filter((row) => dropReason(row) === undefined)
  const dropped: Partial<Record<DropReason, number>> = {}
  for (const reason of sent.flatMap((row) => dropReason(row) ?? []))
    dropped[reason] = (dropped[reason] ?? 0) + 1
  const stated = hasTotal ? valueAt(answer, rows.total.value) : undefined
  const total = typeof stated === 'number' && Number.isInteger(stated) && stated >= 0 ? stated : null
  const warnings = warningsOf(answer)
  const metadata = valueAt(answer, 'metadata')
  const ignored = namesIn(valueAt(metadata, 'ignored_fields'))
  return {
    rows: objects,
    places: sent.flatMap((row, at) => (dropReason(row) === undefined ? [at] : [])),
    dropped,
    arrived: sent.length,
    total,
    ignored: ignored ?? [],
    renamed: warnings.flatMap((each) => (each.kind === 'renamed' ? [renaming(each)] : [])),
    drift: [
      ...(listed === undefined ? [`${at.value} is missing`] : []),
      ...(sent.length < list.length ? [`${at.value} holds entries that are no objects`] : []),
      ...(rows && objects.some((row) => !isId(valueAt(row, rows.id.value)))
        ? [withoutId(rows.id.value)]
        : []),
      ...(hasTotal && total === null ? [`${rows.total.value} is missing`] : []),
      ...(ignored === undefined ? ['metadata.ignored_fields is no list of names'] : []),
      ...(total !== null && total < sent.length ? [`the total of ${total} is below the rows`] : []),
    ],
    notes: Object.fromEntries(
      noteNames.flatMap((name) => {
        const note = valueAt(metadata, name)
        return note === undefined ? [] : [[name, note]]
      }),
    ),
  }
}

/** The drift of a page on which a row has no id. */
function withoutId(name: string): string {
  return `rows without ${name}`
}

/**
 * Returns a page whose rows count one by one. Some of them may lack the id, which then is no drift of the page: another name of the id
 * would be missing in all.
 */
export function rowByRow({ answer: { rows } }: Contract, page: Page): Page {
  if (!rows || !page.rows.some((row) => isId(valueAt(row, rows.id.value)))) return page
  return { ...page, drift: page.drift.filter((problem) => problem !== withoutId(rows.id.value)) }
}

/** Returns the names that a page calls ignored, in whatever form; undefined for one that cannot be read, which is not "none". */
function namesIn(value: unknown): string[] | undefined {
  if (value === undefined || value === null) return []
  if (typeof value === 'string') return value === '' ? [] : [value]
  if (isObject(value)) return Object.keys(value)
  const isNames = Array.isArray(value) && value.every((each) => typeof each === 'string')
  return isNames ? [...new Set(value as string[])] : undefined
}

function renaming({ field, to }: Extract<RequestWarning, { kind: 'renamed' }>) {
  return to === undefined ? { field } : { field, to }
}

function isId(value: unknown): boolean {
  return (typeof value === 'string' && value !== '') || typeof value === 'number'
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function unreadable(body: string, problem: string): Fact {
  return { outcome: 'unreadable', data: { raw: body, problem } }
}
