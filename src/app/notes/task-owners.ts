import type { Connector } from '../../connectors/connector.ts'
import type { NoteDraft } from '../../connectors/noting.ts'

/**
 * Returns the drafts with an owner for each task that has none: the record's, where that is a user who is still there. Without one a task of
 * HubSpot has no owner, and one of Salesforce belongs to the user of the integration.
 */
export async function withOwners(
  { maker }: Connector,
  entity: string,
  drafts: readonly NoteDraft[],
): Promise<NoteDraft[]> {
  const open = drafts.filter(({ kind, ownerId }) => kind === 'task' && ownerId === undefined)
  if (!maker || open.length === 0) return [...drafts]
  const byRecord = await maker.ownersOf(entity, [...new Set(open.map(({ recordId }) => recordId))])
  const owners = await maker.owners(entity, [...new Set(byRecord.values())])
  return drafts.map((draft) => {
    if (!open.includes(draft)) return draft
    const owner = owners.get(byRecord.get(draft.recordId) ?? '')
    return owner?.isActive ? { ...draft, ownerId: owner.id } : draft
  })
}
