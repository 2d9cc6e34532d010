import { createIndexStates } from '../../store/identities/index-state.ts'
import type { Context } from '../context/context.ts'
import { isUnderWay } from './index-records.ts'

/** The age of the index of one object of a CRM. */
export interface IndexAge {
  connector: string
  entity: string
  records: number
  /** True once every record was read: only then can a record be created without overlooking one. */
  isComplete: boolean
  /** True while a whole scan is under way or was broken off. */
  isUnderWay: boolean
  /** The end of the last whole scan. */
  completedAt: Date | null
  /** The time up to which later changes are in. */
  currentAt: Date | null
}

export async function indexAges({ database, now }: Pick<Context, 'database' | 'now'>): Promise<IndexAge[]> {
  const states = await createIndexStates(database.db, { now }).all()
  return states.map((state) => ({
    connector: state.connector,
    entity: state.entity,
    records: state.records,
    isComplete: state.completedAt !== null,
    isUnderWay: isUnderWay(state),
    completedAt: state.completedAt,
    currentAt: state.currentAt,
  }))
}
