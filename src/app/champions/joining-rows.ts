import { recordKeyOf } from '../../domain/lists/list-draft.ts'
import { joiningRow } from '../../domain/champions/joining-row.ts'
import type { StoredRow } from '../../domain/lists/list-row.ts'
import type { KnownChampion } from '../../store/champions/champions.ts'
import type { Config } from '../config/config.ts'
import { championsNamed, type Candidate } from './candidates.ts'

/** A champion who has moved and has no record at the new employer yet. */
export interface Joiner {
  champion: KnownChampion
  row: StoredRow
  key: string
}

/** Returns those who have moved and have no record at the new employer yet, as far as the employer is known by more than a name. */
export function joiningRows(
  config: Pick<Config, 'champions' | 'networkHosts'>,
  watch: string,
  champions: readonly KnownChampion[],
  identities: ReadonlyMap<string, Pick<Candidate, 'identity'>>,
): Joiner[] {
  const { relationship } = championsNamed(config, watch)
  const gone = champions.filter(({ leftAt }) => leftAt !== null)
  const recordsOf = Map.groupBy(gone, ({ profileUrl }) => profileUrl)
  return champions.flatMap((champion, at): Joiner[] => {
    const { recordId, profileUrl, employer, verdict, joined } = champion
    const identity = identities.get(recordId)?.identity
    if (verdict !== 'moved' || !employer || joined || !identity) return []
    const besides = (recordsOf.get(profileUrl) ?? []).map(({ entity, recordId: id }) => ({
      entity,
      recordId: id,
    }))
    const mover = { recordId, profileUrl, identity, employer, besides, relationship }
    const row = joiningRow(mover, at + 1, { hosts: config.networkHosts })
    const key = row && recordKeyOf(row)
    return row && key !== undefined ? [{ champion, row, key }] : []
  })
}
