import type { OperationSetting } from '../catalogue/catalogue.ts'
import { isAt, type ClaimRow } from '../catalogue/provenance.ts'
import { vocabularyOf, type Vocabulary, type VocabularyName } from '../catalogue/vocabularies.ts'
import type { AnswerBook } from './answer-book.ts'
import type { ShapeField } from '../observations/answer-shape.ts'

/** A departure of the service from the catalogue. */
interface Drift {
  /** The path of a field, the key of a request, or `path`, `access`, `price`. */
  name: string
  message: string
  at: Date | null
}

/** The comparison of one operation's answers with the catalogue. */
export interface Comparison {
  drift: Drift[]
  /** Fields of the catalogue that no answer has had. The description does not say which are always there. */
  neverSeen: string[]
  /** Fields that the catalogue does not have. */
  newFields: ShapeField[]
  /** Words of open vocabularies that the catalogue does not have. */
  newWords: { vocabulary: VocabularyName; words: string[] }[]
  /** The setting under `service.operations` that mends what can be mended. */
  fix: OperationSetting | undefined
}

/**
 * Compares what answers had with the claims on them. `claims` bear the sources by those answers: what they contradict is drift.
 * `known` are the words of vocabularies that the settings have or an earlier answer has taught.
 */
export function compare(
  book: AnswerBook,
  claims: readonly ClaimRow[],
  known: (vocabulary: VocabularyName) => readonly string[],
): Comparison {
  const { contract, fields, totalBelowRows, answers, unreadable } = book
  const seen = [...fields.values()]
  const total = contract.answer.rows?.total.value ?? ''
  const contradicted = claims.flatMap(({ name, provenance }) =>
    provenance.state === 'contradicted' ? [{ name, message: provenance.seen, at: provenance.at }] : [],
  )
  const unknownWords = [...book.words].map(([vocabulary, words]) => ({
    vocabulary,
    words: [...words].filter((word) => !isKnown(vocabularyOf(vocabulary), word, known(vocabulary))).sort(),
  }))
  const closed = unknownWords.filter(({ vocabulary }) => vocabularyOf(vocabulary).kind === 'closed')
  const drift: Drift[] = [
    ...contradicted,
    ...(totalBelowRows.count > 0
      ? [{ name: total, message: 'it is below the number of rows', at: totalBelowRows.lastAt }]
      : []),
    ...closed
      .filter(({ words }) => words.length > 0)
      .map(({ vocabulary, words }) => ({
        name: vocabulary,
        message: `a closed list has new words: ${words.map((word) => JSON.stringify(word)).join(', ')}`,
        at: book.lastAt,
      })),
  ]
  const fix = fixOf(book, claims)
  return {
    drift,
    neverSeen: answers > unreadable ? neverSeen(claims, seen) : [],
    newFields: newFields(claims, seen),
    newWords: unknownWords.filter((each) => each.words.length > 0 && !closed.includes(each)),
    fix,
  }
}

/** A closed list has all of its words: one that an earlier answer has taught is no part of it either. */
function isKnown(
  { kind, words, responseOnly = [] }: Vocabulary,
  word: string,
  known: readonly string[],
): boolean {
  return words.includes(word) || responseOnly.includes(word) || (kind === 'open' && known.includes(word))
}

function neverSeen(claims: readonly ClaimRow[], seen: readonly ShapeField[]): string[] {
  return claims.flatMap(({ part, name, value, provenance }) =>
    part === 'answer' &&
    provenance.state !== 'contradicted' &&
    value !== 'not returned' &&
    !seen.some(({ path }) => isAt(name, path))
      ? [name]
      : [],
  )
}

/**
 * Returns the outermost fields that no claim has. What is inside of a field whose inside the catalogue does not describe is not new.
 */
function newFields(claims: readonly ClaimRow[], seen: readonly ShapeField[]): ShapeField[] {
  const names = claims.flatMap(({ part, name, value }) =>
    part === 'answer' && value !== 'not returned' ? [name] : [],
  )
  const isNamed = (path: string) => names.some((name) => isAt(name, path))
  /** True for a path above one that the catalogue has: it describes what is inside. */
  const isDescribed = (path: string) =>
    path === '' || names.some((name) => name.startsWith(`${path}.`) || name.startsWith(`${path}[]`))
  const isNew = ({ path, type }: ShapeField) =>
    type !== 'null' && !isNamed(path) && !isDescribed(path) && isDescribed(parentOf(path))
  return seen
    .filter(isNew)
    .map(({ path, type }) => ({ path, type }))
    .sort((one, other) => (one.path < other.path ? -1 : 1))
}

function parentOf(path: string): string {
  if (path.endsWith('[]')) return path.slice(0, -2)
  const dot = path.lastIndexOf('.')
  return dot < 0 ? '' : path.slice(0, dot)
}

/** The settings of now stay beside what mends: the setting replaces the one that is there. */
function fixOf({ contract, moved }: AnswerBook, claims: readonly ClaimRow[]): OperationSetting | undefined {
  const { setting, wireNames } = contract
  const gone = new Set(
    claims.filter(({ provenance }) => provenance.state === 'contradicted').map(({ name }) => name),
  )
  const { at, rows } = contract.answer
  const isGone = {
    at: gone.has(at.value),
    rows: gone.has(at.value),
    id: rows !== undefined && gone.has(`${at.value}[].${rows.id.value}`),
    total: rows !== undefined && gone.has(rows.total.value),
  }
  const places = Object.entries(moved?.places ?? {}).filter(([name]) => isGone[name as keyof typeof isGone])
  const renames = claims.flatMap(({ part, name, provenance }) => {
    const to =
      provenance.state === 'contradicted'
        ? /^the service calls it (.+)$/.exec(provenance.seen)?.[1]
        : undefined
    return part === 'request' && to !== undefined ? [[name, to] as const] : []
  })
  if (places.length === 0 && renames.length === 0) return undefined
  return {
    ...setting,
    ...(places.length > 0 && { fields: { ...setting.fields, ...Object.fromEntries(places) } }),
    ...(renames.length > 0 && { rename: { ...wireNames, ...Object.fromEntries(renames) } }),
  }
}
