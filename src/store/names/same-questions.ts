import { sql } from 'kysely'
import { underAllHosts, type LookupKey } from '../../domain/keys.ts'
import {
  asksUnderTaughtNames,
  namedBy,
  profileKeys,
  sameQuestions,
  type SameQuestion,
} from '../../domain/subjects/names.ts'
import type { Database } from '../database/database.ts'
import { packedName, profileName } from '../packed/packed-json.ts'
import { namesOfSubjects } from './names-of.ts'

/** A lookup, and another one that asks the same about the same subject. */
export interface NamedTwice extends SameQuestion {
  asked: LookupKey
}

/** Returns, for each lookup, the others that ask the same under another name of its subject, whether asked for or not. */
export async function findSameQuestions(
  db: Database,
  keys: readonly LookupKey[],
  hosts: readonly string[],
): Promise<NamedTwice[]> {
  const asked = [...new Set(keys)]
  const names = asked.flatMap((key) => underAllHosts(namedBy(key)?.name ?? '', hosts)).filter(Boolean)
  const taught = await namesOfSubjects(db, names)
  return asked.flatMap((key) =>
    sameQuestions(key, hosts, (name) => taught.get(name) ?? []).map((question) => ({
      asked: key,
      ...question,
    })),
  )
}

/**
 * The same, as far as any answer to another lookup is one to this. Reads the names that were taught only where they matter: most
 * lookups have no more of these than their own name's forms.
 */
export async function findSameWithAny(
  db: Database,
  keys: readonly LookupKey[],
  hosts: readonly string[],
): Promise<Map<LookupKey, LookupKey[]>> {
  const underTaught = await findSameQuestions(db, keys.filter(asksUnderTaughtNames), hosts)
  const underOwn = keys
    .filter((key) => !asksUnderTaughtNames(key))
    .flatMap((key) => sameQuestions(key, hosts).map((question) => ({ asked: key, ...question })))
  const any = [...underTaught, ...underOwn].filter(({ needs }) => needs === 'any')
  return new Map(
    [...Map.groupBy(any, ({ asked }) => asked)].map(([asked, same]) => [asked, same.map(({ key }) => key)]),
  )
}

/**
 * The best answer that is fresh for each lookup, among those to the same question: its own, else one that was found before one
 * that was not, and the newest. Used as `from ${freshAnswers(pairs, at)}`.
 */
export function freshAnswers(pairs: readonly NamedTwice[], at: Date) {
  const rows = JSON.stringify(pairs.map(({ asked, key, needs }) => ({ asked, other: key, needs })))
  return sql`(
    select distinct on (pair.asked) pair.asked, other.key as other, other.operation, other.outcome, other.answer,
      other.answered_at, other.fresh_until
    from jsonb_to_recordset(${rows}::jsonb) as pair (asked text, other text, needs text)
    join lookups as other on other.key = pair.other
    where other.state = 'answered' and other.fresh_until > ${at}
      and (other.outcome <> 'found' or other.answer is not null)
      and (needs = 'any' or (other.outcome = 'found'
        and (needs = 'found' or (other.answer ?& ${[...profileKeys]}::text[] or other.answer ?& ${[packedName, profileName]}::text[]))))
    order by pair.asked, other.key = pair.asked desc, other.outcome = 'found' desc, other.answered_at desc, other.key collate "C"
  ) as best`
}
