import type { Contract } from '../catalogue/catalogue.ts'
import type { RequestField } from '../catalogue/entry.ts'
import { expansionFilters } from '../catalogue/fields.ts'
import { vocabularyOf, type VocabularyName } from '../catalogue/vocabularies.ts'
import { badCall, near, quoted } from './bad-call.ts'
import { comparedWords } from './fold-words.ts'

/** Returns the words that this account's answers have held, and those of the settings. */
export type KnownWords = (vocabulary: VocabularyName) => readonly string[]

/** A value of a call that has a vocabulary, with its place: `stages[1]`, `filters.momentum[0]`. */
export interface PlacedWord {
  place: string
  word: string
  vocabulary: VocabularyName
  field: RequestField
}

/** Returns the values of a body that have a vocabulary. In a monitor's filters these are the filters of expansions. */
export function wordsIn(
  request: Contract['request'],
  body: Readonly<Record<string, unknown>>,
  within = '',
): PlacedWord[] {
  return Object.entries(body).flatMap(([name, value]): PlacedWord[] => {
    const field = Object.hasOwn(request, name) ? request[name] : undefined
    const place = `${within}${name}`
    if (field?.is === 'object' && name === 'filters' && isObject(value))
      return wordsIn(expansionFilters, value, `${place}.`)
    if (!field?.vocabulary) return []
    const { vocabulary } = field
    if (!Array.isArray(value)) return [{ place, word: textOf(value), vocabulary, field }]
    return value.map((each, index) => ({
      place: `${place}[${index}]`,
      word: textOf(each),
      vocabulary,
      field,
    }))
  })
}

/**
 * Refuses words that the service would drop, or read as nothing, and be paid for. A closed vocabulary takes its own words alone. An
 * open one takes the words that are shown or `known`, and with `unchecked` every word. Words that only answers have are no filters.
 * Throws InputError with the place and the near words.
 */
export function guardWords(
  contract: Contract,
  body: Readonly<Record<string, unknown>>,
  known: KnownWords,
  { unchecked = false }: { unchecked?: boolean } = {},
): void {
  guardClosedWords(contract, body)
  if (unchecked) return
  for (const { place, word, vocabulary, field } of wordsIn(contract.request, body)) {
    const { kind, words } = vocabularyOf(vocabulary)
    if (kind === 'closed') continue
    const own = known(vocabulary)
    if (isAmong(word, words, field) || isAmong(word, own, field)) continue
    throw badCall(
      contract.operation,
      `${place}: no answer of this account has held ${quoted(word)}${near(word, [...words, ...own])}; --unchecked sends it all the same, service.vocabularies.${vocabulary} allows it for good`,
    )
  }
}

/** Refuses what no setting and no switch allows: other words than those of a closed vocabulary, and words of answers. */
export function guardClosedWords(contract: Contract, body: Readonly<Record<string, unknown>>): void {
  for (const { place, word, vocabulary } of wordsIn(contract.request, body)) {
    const { kind, words, responseOnly = [] } = vocabularyOf(vocabulary)
    if (responseOnly.some((each) => comparedWords(each) === comparedWords(word)))
      throw badCall(contract.operation, `${place}: answers have ${quoted(word)}, and no filter takes it`)
    if (kind === 'closed' && !words.includes(word))
      throw badCall(
        contract.operation,
        `${place}: ${quoted(word)} is none of ${words.join(', ')}${near(word, words)}`,
      )
  }
}

/** Departments, functions and levels are compared as the service compares them; the other words are sent as they are. */
export function isAmong(word: string, words: readonly string[], { fold }: RequestField): boolean {
  // White space around it is taken off before it is sent.
  if (fold !== 'words') return words.includes(word.trim())
  return foldedWords(words).has(comparedWords(word))
}

/** An account has some hundred words, which are folded once for as long as the list is in use. */
const folded = new WeakMap<readonly string[], { count: number; words: ReadonlySet<string> }>()

function foldedWords(words: readonly string[]): ReadonlySet<string> {
  const known = folded.get(words)
  if (known?.count === words.length) return known.words
  const set = new Set(words.map(comparedWords))
  folded.set(words, { count: words.length, words: set })
  return set
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
