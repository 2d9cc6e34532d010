import { valueAt } from '../calls/json-path.ts'
import { problemOf } from '../calls/read-answer.ts'
import type { Contract } from '../catalogue/catalogue.ts'
import type { SightedField } from '../catalogue/provenance.ts'
import type { VocabularyName } from '../catalogue/vocabularies.ts'
import { shapeOf } from '../observations/answer-shape.ts'
import { findPlaces, type Places } from './find-places.ts'

/** Everything that is kept of the answers of one operation while they are read one by one: names, types, words, and dates. */
export interface AnswerBook {
  contract: Contract
  answers: number
  /** Those that cannot be read as the catalogue says. */
  unreadable: number
  lastAt: Date | null
  fields: Map<string, SightedField>
  /** Answers whose total is below their rows. */
  totalBelowRows: { count: number; lastAt: Date | null }
  words: Map<VocabularyName, Set<string>>
  /** The places of the newest answer that lacks some. */
  moved: { places: Places; at: Date } | undefined
}

/** A service that makes names up must not fill the memory. */
const mostFields = 5_000
const mostWords = 2_000
const longestWord = 100

export function openBook(contract: Contract): AnswerBook {
  return {
    contract,
    answers: 0,
    unreadable: 0,
    lastAt: null,
    fields: new Map(),
    totalBelowRows: { count: 0, lastAt: null },
    words: new Map(),
    moved: undefined,
  }
}

/** Adds one answer. Nothing of it is kept but names, types and the words of vocabularies. */
export function addAnswer(book: AnswerBook, answer: unknown, at: Date): void {
  const { contract } = book
  book.answers += 1
  book.lastAt = later(book.lastAt, at)
  if (problemOf(contract, answer) !== undefined) book.unreadable += 1
  for (const { path, type } of shapeOf(answer)) {
    const name = `${path} ${type}`
    const known = book.fields.get(name)
    if (!known && book.fields.size >= mostFields) continue
    book.fields.set(name, { path, type, lastSeen: known ? later(known.lastSeen, at) : at })
  }
  addWords(book, answer)
  const rows = valueAt(answer, contract.answer.at.value)
  const total = contract.answer.rows && valueAt(answer, contract.answer.rows.total.value)
  if (Array.isArray(rows) && typeof total === 'number' && total < rows.length)
    book.totalBelowRows = {
      count: book.totalBelowRows.count + 1,
      lastAt: later(book.totalBelowRows.lastAt, at),
    }
  const places = findPlaces(contract, answer)
  if (Object.keys(places).length > 0 && (!book.moved || book.moved.at < at)) book.moved = { places, at }
}

function addWords(book: AnswerBook, answer: unknown): void {
  const { answer: shape } = book.contract
  const below = valueAt(answer, shape.at.value)
  const documents = Array.isArray(below) ? below : [below]
  for (const [name, { teaches }] of Object.entries(shape.fields)) {
    if (!teaches) continue
    const words = book.words.get(teaches) ?? new Set()
    book.words.set(teaches, words)
    for (const value of documents.flatMap((document) => valuesAt(document, name.split('.'))))
      if (typeof value === 'string' && value.length <= longestWord && words.size < mostWords) words.add(value)
  }
}

/** Returns the values at a path; a list stands for its entries. */
function valuesAt(value: unknown, [step, ...rest]: readonly string[]): unknown[] {
  if (Array.isArray(value))
    return value.flatMap((entry) => valuesAt(entry, step === undefined ? [] : [step, ...rest]))
  if (step === undefined) return [value]
  return valuesAt(valueAt(value, step.replace('[]', '')), rest)
}

function later(one: Date | null, other: Date): Date {
  return one && one > other ? one : other
}
