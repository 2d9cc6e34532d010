import { createHmac } from 'node:crypto'
import { sql } from 'kysely'
import { defaultNetworkHosts } from '../../domain/keys.ts'
import {
  identifiersOfName,
  underAllNames,
  type Identifier,
  type IdentifierKind,
} from '../../domain/subjects/identifiers.ts'
import type { Database } from '../database/database.ts'
import { goesFirst } from '../database/go-first.ts'
import { namesOfSubjects } from '../names/names-of.ts'

/** The people and companies that must not be looked up. Only digests are stored, so the list does not reveal who is on it. */
export interface SuppressionLedger {
  /** Returns how many of these were not on the list before. */
  add(identifiers: readonly Identifier[]): Promise<number>
  /** Returns how many of these `add` would add. */
  countNew(identifiers: readonly Identifier[]): Promise<number>
  /** Returns how many of these were on the list. */
  remove(identifiers: readonly Identifier[]): Promise<number>
  /** Returns the first characters of each digest: they tell entries apart, and do not identify the person. */
  list(): Promise<{ kind: IdentifierKind; digest: string; addedAt: Date }[]>
  /** Returns the indexes of the subjects that the list names. */
  match(subjects: Subjects | (() => Subjects), options?: MatchOptions): Promise<Set<number>>
  /** Looks whether the list is empty, so that a `match` in the next half second need not. */
  look(): Promise<void>
}

/** Their identifiers, which need not be made out where nobody is on the list: a function is then not called. */
type Subjects = readonly (readonly Identifier[])[]

interface MatchOptions {
  /** True: an empty list of half a second ago does not count. */
  isFresh?: boolean
}

/** `salt` is specific to this ledger, so that the digests of two ledgers cannot be compared. */
export function createSuppressionLedger(
  db: Database,
  {
    now,
    salt,
    hosts = defaultNetworkHosts,
  }: { now: () => Date; salt: () => Promise<string>; hosts?: readonly string[] },
): SuppressionLedger {
  const digests = async (identifiers: readonly Identifier[]) => {
    const key = await salt()
    return identifiers.map(({ kind, value }) => ({
      kind,
      digest: createHmac('sha256', key).update(`${kind}|${value}`).digest('hex'),
    }))
  }

  const firstNames = (identifiers: readonly Identifier[]) =>
    identifiers.map((each) => underAllNames(each, hosts)[0] ?? each)

  let knownEmptyUntilMs = 0
  let asking: Promise<boolean> | undefined
  let changes = 0
  /**
   * Called before every lookup, so an empty list is cached for half a second. A dozen lookups that begin together ask once; somebody who
   * is waited for asks alone, as the question of others has no precedence.
   */
  function isEmpty(): Promise<boolean> {
    if (performance.now() < knownEmptyUntilMs) return Promise.resolve(true)
    if (goesFirst()) return askIfEmpty()
    if (asking) return asking
    const question = askIfEmpty()
    asking = question
    const forget = () => void (asking = asking === question ? undefined : asking)
    question.then(forget, forget)
    return question
  }

  async function askIfEmpty(): Promise<boolean> {
    const [nowMs, changesBefore] = [performance.now(), changes]
    const { rows } = await sql`select 1 from suppressions limit 1`.execute(db)
    if (rows.length === 0 && changes === changesBefore) knownEmptyUntilMs = nowMs + 500
    return rows.length === 0
  }

  /** A question from before the list changed is no answer to those who ask after it. */
  function forgetEmpty(): void {
    changes += 1
    knownEmptyUntilMs = 0
    asking = undefined
  }

  /**
   * The list has digests only, so a profile is compared under every host that an older entry may have been added with, and
   * under every name that answers have taught. A company's domain leads to its profile only where a company is asked for.
   */
  async function underTaughtNames(subjects: Subjects) {
    const given = subjects.flatMap((identifiers, index) =>
      identifiers.flatMap((each) => underAllNames(each, hosts)).map((identifier) => ({ index, identifier })),
    )
    const named = given.filter(({ identifier: { kind, isCompany } }) => kind === 'profile_url' || isCompany)
    const taught = await namesOfSubjects(
      db,
      named.map(({ identifier }) => identifier.value),
    )
    const further = named.flatMap(({ index, identifier }) =>
      (taught.get(identifier.value) ?? []).flatMap((name) =>
        identifiersOfName(name)
          .flatMap((each) => underAllNames(each, hosts))
          .map((other) => ({ index, identifier: other })),
      ),
    )
    return [...given, ...further]
  }

  return {
    async add(identifiers) {
      const { kinds, values } = columnsOf(await digests(firstNames(identifiers)))
      const { rows } = await sql`
        insert into suppressions (kind, digest, added_at)
        select kind, digest, ${now()}::timestamptz from unnest(${kinds}::text[], ${values}::text[]) as given (kind, digest)
        on conflict (kind, digest) do nothing returning 1`
        .execute(db)
        // Not before: a question of that moment would find nobody.
        .finally(forgetEmpty)
      return rows.length
    },

    async countNew(identifiers) {
      const { kinds, values } = columnsOf(await digests(firstNames(identifiers)))
      const { rows } = await sql<{ count: number }>`
        select count(*)::int as count
        from (select distinct kind, digest from unnest(${kinds}::text[], ${values}::text[]) as named (kind, digest)) as given
        where not exists (
          select 1 from suppressions as listed where listed.kind = given.kind and listed.digest = given.digest)`.execute(
        db,
      )
      return rows[0]?.count ?? 0
    },

    async remove(identifiers) {
      const { kinds, values } = columnsOf(
        await digests(identifiers.flatMap((each) => underAllNames(each, hosts))),
      )
      const { rows } = await sql`
        delete from suppressions using unnest(${kinds}::text[], ${values}::text[]) as given (kind, digest)
        where suppressions.kind = given.kind and suppressions.digest = given.digest returning 1`.execute(db)
      return rows.length
    },

    async list() {
      const rows = await db
        .selectFrom('suppressions')
        .selectAll()
        .orderBy('added_at')
        .orderBy('digest')
        .execute()
      return rows.map(({ kind, digest, added_at }) => ({
        kind,
        digest: digest.slice(0, 12),
        addedAt: added_at,
      }))
    },

    async look() {
      await isEmpty()
    },

    async match(asked, { isFresh = false } = {}) {
      if (isFresh) forgetEmpty()
      if (typeof asked !== 'function' && nameNobody(asked)) return new Set()
      if (await isEmpty()) return new Set()
      const subjects = typeof asked === 'function' ? asked() : asked
      if (nameNobody(subjects)) return new Set()
      const given = await underTaughtNames(subjects)
      const hashed = await digests(given.map(({ identifier }) => identifier))
      const rows = await db
        .selectFrom('suppressions')
        .select(['kind', 'digest'])
        .where('digest', 'in', [...new Set(hashed.map(({ digest }) => digest))])
        .execute()
      const listed = new Set(rows.map(({ kind, digest }) => `${kind}|${digest}`))
      return new Set(
        given.flatMap(({ index }, at) => {
          const { kind, digest } = hashed[at] as (typeof hashed)[number]
          return listed.has(`${kind}|${digest}`) ? [index] : []
        }),
      )
    },
  }
}

function nameNobody(subjects: Subjects): boolean {
  return subjects.every((identifiers) => identifiers.length === 0)
}

/** Returns the rows as two arrays, so that one statement handles a list of any length, as a whole or not at all. */
function columnsOf(rows: readonly { kind: IdentifierKind; digest: string }[]) {
  return { kinds: rows.map(({ kind }) => kind), values: rows.map(({ digest }) => digest) }
}
