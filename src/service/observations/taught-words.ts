import { valueAt } from '../calls/json-path.ts'
import type { Contract } from '../catalogue/catalogue.ts'
import type { VocabularyName } from '../catalogue/vocabularies.ts'

/** A word of a filter that an answer has held. */
export interface TaughtWord {
  vocabulary: VocabularyName
  word: string
}

type AnswerFields = Contract['answer']['fields']
type Teaching = { path: string; teaches: VocabularyName }

const longest = 60
const mostOfAnswer = 500
/** Words of a list: a few letters and digits, no sentence, address or number. */
const plainWord = /^[\p{L}\p{N}][\p{L}\p{N} &/+,.'()_-]*$/u
const mostSpaces = 6

/**
 * Returns the words that the fields of an answer teach, as the catalogue says which field is of which list. Nothing else of an
 * answer is a word: the names of people, companies and places are in no list.
 */
export function taughtWords({ answer: { at, rows, fields } }: Contract, answer: unknown): TaughtWord[] {
  const teaching = teachingOf(fields)
  if (teaching.length === 0) return []
  const document = valueAt(answer, at.value)
  const records: readonly unknown[] = Array.isArray(document) ? document : rows ? [] : [document]
  const words = new Map<string, TaughtWord>()
  for (const record of records) {
    for (const { path, teaches } of teaching) {
      for (const value of [valueAt(record, path)].flat()) {
        const word = typeof value === 'string' ? value.trim() : ''
        if (words.size < mostOfAnswer && isWord(word))
          words.set(`${teaches} ${word}`, { vocabulary: teaches, word })
      }
    }
  }
  return [...words.values()]
}

/** The fields of a contract that teach words: they are the same for all of its answers. */
const teachingFields = new WeakMap<AnswerFields, Teaching[]>()

function teachingOf(fields: AnswerFields): Teaching[] {
  const known = teachingFields.get(fields)
  if (known) return known
  const teaching = Object.entries(fields).flatMap(([path, { teaches }]) =>
    teaches === undefined ? [] : [{ path, teaches }],
  )
  teachingFields.set(fields, teaching)
  return teaching
}

function isWord(text: string): boolean {
  return (
    text.length > 0 &&
    text.length <= longest &&
    plainWord.test(text) &&
    text.split(' ').length <= mostSpaces &&
    !/\d{5}/.test(text)
  )
}
