import { nearNames } from '../../domain/normalise/near-names.ts'
import type { Contract } from '../catalogue/catalogue.ts'
import { vocabularyOf } from '../catalogue/vocabularies.ts'
import { isAmong, wordsIn, type KnownWords } from './guard-words.ts'

export interface UnseenWord {
  /** `stages[1]` */
  place: string
  word: string
  /** Words of answers that are near to it. */
  near: string[]
}

/**
 * Returns the values of a call that no answer has ever held: where it answers with no row, these may be the reason. `learned` are
 * the words of answers alone, without those of the settings. A closed vocabulary is known without an answer.
 */
export function wordsNeverSeen(
  { request }: Contract,
  body: Readonly<Record<string, unknown>>,
  learned: KnownWords,
): UnseenWord[] {
  return wordsIn(request, body).flatMap(({ place, word, vocabulary, field }) => {
    if (vocabularyOf(vocabulary).kind === 'closed') return []
    const words = learned(vocabulary)
    return isAmong(word, words, field) ? [] : [{ place, word, near: nearNames(word, words) }]
  })
}
