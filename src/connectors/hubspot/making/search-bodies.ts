import type { Probe } from './spellings.ts'

/** HubSpot's limits of one search: https://developers.hubspot.com/docs/api-reference/search/guide. */
const maxCharacters = 3000
const maxGroups = 5
const pageLimit = 200
/** No spelling that people use is longer. Such a value could leave no room for itself in any body. */
const maxValueCharacters = 2000

export interface SearchBody {
  filterGroups: { filters: [{ propertyName: string; operator: 'IN'; values: string[] }] }[]
  sorts: string[]
  properties: string[]
  limit: number
  after: string
}

/**
 * Packs values into as few searches as their bodies allow, one group of filters for each property. All of rank 1 are
 * packed; those of other ranks as long as there are fewer than `calls` bodies, or room in the last. Pure.
 */
export function searchBodies(probes: readonly Probe[], calls: number): SearchBody[] {
  const bodies: SearchBody[] = []
  let room = 0
  for (const { property, value, rank } of probes) {
    const size = JSON.stringify(value).length + 1
    if (size > maxValueCharacters) continue
    let body = bodies.at(-1)
    const group = body?.filterGroups.find(({ filters: [{ propertyName }] }) => propertyName === property)
    const needed = size + (group ? 0 : emptyGroup(property).length + 1)
    const fits = body !== undefined && needed <= room && (group || body.filterGroups.length < maxGroups)
    if (!fits) {
      if (rank > 1 && bodies.length >= calls) continue
      body = {
        filterGroups: [],
        sorts: ['hs_object_id'],
        properties: ['hs_object_id'],
        limit: pageLimit,
        after: '0',
      }
      bodies.push(body)
      // A later page's `after` has up to four more digits.
      room = maxCharacters - JSON.stringify(body).length - 4
    }
    const open = body as SearchBody
    const own = open.filterGroups.find(({ filters: [{ propertyName }] }) => propertyName === property)
    if (own) own.filters[0].values.push(value)
    else open.filterGroups.push({ filters: [{ propertyName: property, operator: 'IN', values: [value] }] })
    room -= size + (own ? 0 : emptyGroup(property).length + 1)
  }
  return bodies
}

function emptyGroup(property: string): string {
  return JSON.stringify({ filters: [{ propertyName: property, operator: 'IN', values: [] }] })
}
