import { sql } from 'kysely'
import type { RecordIdentity } from '../../domain/subjects/record-identities.ts'
import type { ObjectKind } from '../../domain/words.ts'
import type { Database } from '../database/database.ts'

/** An identity of a company or of a person. */
export interface ObjectIdentity extends RecordIdentity {
  object: ObjectKind
}

/** The records that a list leaves out, as one command has read them. */
export interface ListExclusions {
  add(reading: string, identities: readonly ObjectIdentity[]): Promise<void>
  /** Returns those of these identities that are left out, as "object|kind|value". */
  among(reading: string, identities: readonly ObjectIdentity[]): Promise<Set<string>>
  /** Deletes a reading, and those that a killed command has left behind. */
  drop(reading: string): Promise<void>
}

/** No command compares rows for so long. */
const abandonedAfterMs = 86_400_000

export function exclusionText({ object, kind, value }: ObjectIdentity): string {
  return `${object}|${kind}|${value}`
}

/**
 * Crash windows: killed while it is filled or used, a reading stays, and nothing uses it again. The next command reads the CRM anew, and the
 * first that ends after a day deletes it.
 */
export function createListExclusions(db: Database, { now }: { now: () => Date }): ListExclusions {
  return {
    async add(reading, identities) {
      if (identities.length === 0) return
      await sql`
        insert into list_exclusions (reading, object, kind, value, read_at)
        select ${reading}, object, kind, value, ${now()}::timestamptz
        from jsonb_to_recordset(${JSON.stringify(identities)}::jsonb) as given (object text, kind text, value text)
        on conflict do nothing`.execute(db)
    },

    async among(reading, identities) {
      if (identities.length === 0) return new Set()
      const { rows } = await sql<ObjectIdentity>`
        select distinct kept.object, kept.kind, kept.value
        from jsonb_to_recordset(${JSON.stringify(identities)}::jsonb) as wanted (object text, kind text, value text)
          join list_exclusions as kept on kept.reading = ${reading} and kept.object = wanted.object
            and kept.kind = wanted.kind and kept.value = wanted.value`.execute(db)
      return new Set(rows.map(exclusionText))
    },

    async drop(reading) {
      const before = new Date(now().getTime() - abandonedAfterMs)
      await sql`delete from list_exclusions where reading = ${reading} or read_at < ${before}::timestamptz`.execute(
        db,
      )
    },
  }
}

/** Erases a subject from what commands compare with at this moment. */
export async function eraseExclusions(tx: Database, identities: readonly RecordIdentity[]): Promise<void> {
  await sql`
    delete from list_exclusions as kept using jsonb_to_recordset(${JSON.stringify(identities)}::jsonb)
      as wanted (kind text, value text)
    where kept.kind = wanted.kind and kept.value = wanted.value`.execute(tx)
}
