import { PaydirtError } from '../../../domain/errors.ts'
import type { CreateResult } from '../../creating.ts'
import { readAssociations } from '../associations.ts'
import { associate } from './associate.ts'
import type { DraftInput } from './draft.ts'
import type { MakerDeps } from './deps.ts'

/**
 * Ties contacts to their companies. One that was there already is tied only while it has no company: the first attempt may have
 * ended before the tie, and a person may have chosen another company since. A tie that fails is a field left out: the contact is
 * made.
 */
export async function tieCompanies(
  deps: Pick<MakerDeps, 'api'>,
  inputs: readonly DraftInput[],
  results: (CreateResult | undefined)[],
): Promise<void> {
  const ties = inputs.flatMap(({ index, companyId }) => {
    const result = results[index]
    if (companyId === undefined || (result?.status !== 'created' && result?.status !== 'present')) return []
    return [{ index, from: result.id, to: companyId, isNew: result.status === 'created' }]
  })
  if (ties.length === 0) return
  const leaveOut = (index: number, reason: string): void => {
    const result = results[index]
    if (result?.status === 'created')
      results[index] = {
        ...result,
        leftOut: [...(result.leftOut ?? []), { field: 'company', code: 'NOT_TIED', reason }],
      }
  }
  try {
    const old = ties.filter(({ isNew }) => !isNew).map(({ from }) => from)
    const tied =
      old.length > 0 ? await readAssociations(deps.api, 'contacts', 'companies', old) : new Map<string, []>()
    const wanted = ties.filter(({ from }) => (tied.get(from)?.length ?? 0) === 0)
    const refused = await associate(deps, 'contacts', 'companies', wanted)
    for (const [at, reason] of refused) leaveOut((wanted[at] as (typeof wanted)[number]).index, reason)
  } catch (error) {
    // The contacts are made, and their results must not be lost.
    if (!(error instanceof PaydirtError)) throw error
    for (const { index } of ties) leaveOut(index, error.message)
  }
}
