import type { ListRow } from '../../../domain/lists/list-row.ts'
import type { ObjectKind } from '../../../domain/words.ts'
import type { PlannedRow } from '../../../store/lists/planned-rows.ts'

/** Returns a row of a plan as a row of its list, to be judged again. */
export function rowOfPlan(
  object: ObjectKind,
  { identity, identities, values, page, key, besides }: PlannedRow,
): ListRow {
  const serviceId = identity.companyId ?? key
  return { object, page: page ?? 0, serviceId, identity, values, identities, besides }
}
