import type { LookupKey } from '../../../domain/keys.ts'
import type { StoredRow } from '../../../domain/lists/list-row.ts'
import type { KnownJob, Verdict } from '../../../domain/champions/moved.ts'
import type { Json } from './json-columns.ts'

/** The employer to which a champion has moved. */
export interface NewEmployer {
  profileUrl: string | null
  domain: string | null
  name: string | null
  title: string | null
}

/** The record of a champion at the new employer: `made` by a run of ours, or `there` before. */
export interface Joined {
  state: 'made' | 'there'
  recordId: string
  /** The run that made it, whose undo takes it back. */
  runId?: string | undefined
}

/** A champion of whom a person has to say which record it is, as the row that waits. */
export interface UnclearJoin {
  state: 'unclear'
  row: StoredRow
}

/** People whose jobs are checked again, one row a record and watch. */
export interface ChampionTables {
  champions: {
    watch: string
    connector: string
    entity: string
    record_id: string
    profile_url: string
    checked_at: Date
    lookup_key: LookupKey
    verdict: Verdict
    known: Json<KnownJob>
    employer: Json<NewEmployer> | null
    left_at: Date | null
    joined: Json<Joined | UnclearJoin> | null
  }
}
