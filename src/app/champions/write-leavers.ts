import type { Connector } from '../../connectors/connector.ts'
import { utcDay } from '../../domain/signals/change.ts'
import type { CheckedChampion } from '../../store/champions/champions.ts'
import type { ReadyRow } from '../../store/writes/ready-run.ts'
import type { Context } from '../context/context.ts'
import { writeValues, type WriteValuesOptions, type WrittenValues } from '../writing/write-values.ts'
import type { Candidate } from './candidates.ts'

export interface LeaverTarget {
  connector: Connector
  entity: string
  watch: string
  identities: ReadonlyMap<string, Pick<Candidate, 'identity'>>
}

/**
 * Writes the day on which a person was seen to have left into their record, by the ordinary way of every write; one who is back has
 * what we wrote cleared. Crash windows are those of `writeValues`.
 */
export async function writeLeavers(
  context: Context,
  champions: readonly CheckedChampion[],
  { connector, entity, watch, identities }: LeaverTarget,
  options: WriteValuesOptions,
): Promise<WrittenValues> {
  const rows = champions.flatMap(({ recordId, lookupKey, leftAt }): ReadyRow[] => {
    const identity = identities.get(recordId)?.identity
    if (!identity) return []
    const change = leftAt === null ? ({ clear: true } as const) : { set: utcDay(leftAt) }
    return [{ recordId, identity, steps: [lookupKey], patch: { left_company_at: change } }]
  })
  const source = { champions: watch }
  return writeValues(context, connector, { entity, trigger: 'champions', source, rows }, options)
}
