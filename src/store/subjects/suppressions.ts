import { createHmac } from 'node:crypto'
import { sql } from 'kysely'
import type { Identifier, IdentifierKind } from '../../domain/subjects/identifiers.ts'
import type { Database } from '../database/database.ts'

interface SuppressionRow {
  kind: IdentifierKind
  /** The beginning of the digest: enough to tell entries apart, and nothing of whom they name. */
  digest: string
  addedAt: Date
}

/** Who is to be left alone. Only digests are stored: the list tells of nobody who is on it. */
export interface SuppressionLedger {
  /** How many of these were not on the list before. */
  add(marks: readonly Identifier[]): Promise<number>
  /** How many of these were on the list. */
  remove(marks: readonly Identifier[]): Promise<number>
  list(): Promise<SuppressionRow[]>
  /** The places of those subjects that are named by the list. */
  match(subjects: readonly (readonly Identifier[])[]): Promise<Set<number>>
}

/** `salt` is this ledger's own, so that the digests of two ledgers cannot be laid side by side. */
export function createSuppressionLedger(
  db: Database,
  { now, salt }: { now: () => Date; salt: () => Promise<string> },
): SuppressionLedger {
  const digests = async (marks: readonly Identifier[]) => {
    const key = await salt()
    return marks.map(({ kind, value }) => ({
      kind,
      digest: createHmac('sha256', key).update(`${kind}|${value}`).digest('hex'),
    }))
  }

  let knownEmptyUntilMs = 0
  /** Asked before every lookup: that nobody is on the list is believed for half a second. */
  async function isEmpty(): Promise<boolean> {
    const nowMs = performance.now()
    if (nowMs < knownEmptyUntilMs) return true
    const { rows } = await sql`select 1 from suppressions limit 1`.execute(db)
    if (rows.length === 0) knownEmptyUntilMs = nowMs + 500
    return rows.length === 0
  }

  return {
    async add(marks) {
      knownEmptyUntilMs = 0
      const { kinds, values } = columnsOf(await digests(marks))
      const { rows } = await sql`
        insert into suppressions (kind, digest, added_at)
        select kind, digest, ${now()}::timestamptz from unnest(${kinds}::text[], ${values}::text[]) as given (kind, digest)
        on conflict (kind, digest) do nothing returning 1`.execute(db)
      return rows.length
    },

    async remove(marks) {
      const { kinds, values } = columnsOf(await digests(marks))
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

    async match(subjects) {
      const marked = subjects.flatMap((marks, index) => marks.map((mark) => ({ index, mark })))
      if (marked.length === 0 || (await isEmpty())) return new Set()
      const hashed = await digests(marked.map(({ mark }) => mark))
      const rows = await db
        .selectFrom('suppressions')
        .select(['kind', 'digest'])
        .where('digest', 'in', [...new Set(hashed.map(({ digest }) => digest))])
        .execute()
      const listed = new Set(rows.map(({ kind, digest }) => `${kind}|${digest}`))
      return new Set(
        marked.flatMap(({ index }, at) => {
          const { kind, digest } = hashed[at] as (typeof hashed)[number]
          return listed.has(`${kind}|${digest}`) ? [index] : []
        }),
      )
    },
  }
}

/** As two arrays: one statement for a list of any length, which is done whole or not at all. */
function columnsOf(rows: readonly { kind: IdentifierKind; digest: string }[]) {
  return { kinds: rows.map(({ kind }) => kind), values: rows.map(({ digest }) => digest) }
}
