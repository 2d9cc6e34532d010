import { sql } from 'kysely'
import type { Database } from '../database/database.ts'

export interface LearnedWord {
  vocabulary: string
  word: string
  firstSeen: Date
  lastSeen: Date
}

/** Stores words of filters that an answer has held, by vocabulary. Nothing else of the answer is stored with them. */
export async function learnWords(
  db: Database,
  words: readonly Pick<LearnedWord, 'vocabulary' | 'word'>[],
  at: Date,
): Promise<void> {
  if (words.length === 0) return
  await sql`
    insert into learned_words (vocabulary, word, first_seen, last_seen)
    select distinct on (vocabulary collate "C", word collate "C") vocabulary, word, ${at}::timestamptz, ${at}::timestamptz
    from jsonb_to_recordset(${JSON.stringify(words)}::jsonb) as learned (vocabulary text, word text)
    order by vocabulary collate "C", word collate "C"
    on conflict (vocabulary, word) do update set last_seen = greatest(learned_words.last_seen, excluded.last_seen)`.execute(
    db,
  )
}

/** Returns the words that answers have held, by vocabulary and word. */
export async function knownWords(db: Database): Promise<LearnedWord[]> {
  return db
    .selectFrom('learned_words')
    .select(['vocabulary', 'word', 'first_seen as firstSeen', 'last_seen as lastSeen'])
    .orderBy('vocabulary')
    .orderBy('word')
    .execute()
}
