import type { CrmMapping } from '../../domain/mapping/mapping.ts'
import type { ScanOptions, ScanPage } from '../connector.ts'
import { assertFilter, meets } from '../filter.ts'
import type { HubspotApi } from './api/client.ts'
import { entityMapping, type HubspotProperties } from './properties.ts'
import { batchRead, isOurs, modifiedAtMs, readProperties, toSourceRecord } from './records.ts'
import { largerId, nextStand, openStand, writeWatermark, type Stand } from './window.ts'
import { modifiedProperty, pageSchema, paths, type HubspotEntity, type HubspotObject } from './api/wire.ts'

const listLimit = 100
const searchLimit = 200

type OpenStand = Exclude<Stand, { at: 'next' }>

interface Found {
  objects: HubspotObject[]
  /** Where the scan stands behind these. */
  stand: OpenStand
  isLast: boolean
}

interface Deps {
  api: HubspotApi
  properties: HubspotProperties
  mapping: CrmMapping
  lookbackMs: number
  now: () => number
}

/** Hands out every record of the window once: all of them by list at first, then what has changed by search. */
export async function* scan(
  deps: Deps,
  entity: HubspotEntity,
  options: ScanOptions,
): AsyncGenerator<ScanPage> {
  const { after, since, filter = [], limit = Infinity, signal } = options
  const { mapping } = deps
  const entityMap = entityMapping(mapping, entity)
  const fields = await deps.properties.fitting(entity)
  assertFilter(filter, [...fields.keys()])
  const names = [
    ...new Set([...readProperties(mapping, entity, entityMap), ...filter.map(({ property }) => property)]),
  ]

  let stand = openStand({ after, since }, deps.now())
  let room = limit
  while (room > 0) {
    signal?.throwIfAborted()
    // Never more than there is room for: a page is handed out whole, or its watermark would stand behind what was not.
    const found: Found =
      stand.at === 'load'
        ? await listPage(deps, entity, stand, names, Math.min(listLimit, room), signal)
        : await searchPage(deps, entity, stand, names, Math.min(searchLimit, room), signal)
    stand = found.stand
    const wanted = found.objects.filter((object) => meets(object.properties, filter))
    room -= wanted.length
    yield {
      records: wanted.map((object) => toSourceRecord(object, entityMap)),
      watermark: writeWatermark(found.isLast ? nextStand(stand, deps.lookbackMs) : stand),
      ownWrites: new Set(wanted.filter((object) => isOurs(object, entity, mapping)).map(({ id }) => id)),
    }
    if (found.isLast) return
  }
}

async function listPage(
  { api }: Deps,
  entity: HubspotEntity,
  stand: Extract<Stand, { at: 'load' }>,
  names: readonly string[],
  limit: number,
  signal?: AbortSignal,
): Promise<Found> {
  const { results, paging } = await api.need(pageSchema, {
    method: 'GET',
    path: paths.objects(entity),
    query: {
      limit: String(limit),
      properties: names.join(','),
      archived: 'false',
      ...(stand.after === null ? {} : { after: stand.after }),
    },
    ...(signal ? { signal } : {}),
  })
  const next = paging?.next?.after
  return {
    objects: results,
    stand: { ...stand, maxSeenMs: youngest(stand.maxSeenMs, results, entity), after: next ?? stand.after },
    isLast: next === undefined,
  }
}

async function searchPage(
  { api }: Deps,
  entity: HubspotEntity,
  stand: Extract<Stand, { at: 'window' }>,
  names: readonly string[],
  limit: number,
  signal?: AbortSignal,
): Promise<Found> {
  const stamp = modifiedProperty[entity]
  const { results, paging } = await api.need(pageSchema, {
    method: 'POST',
    path: paths.search(entity),
    kind: 'search',
    body: {
      filterGroups: [
        {
          filters: [
            { propertyName: stamp, operator: 'GTE', value: String(stand.fromMs) },
            { propertyName: stamp, operator: 'LTE', value: String(stand.toMs) },
            {
              propertyName: 'hs_object_id',
              operator: 'GTE',
              value: String(BigInt(stand.lastId) + 1n),
            },
          ],
        },
      ],
      sorts: ['hs_object_id'],
      // Ids and stamps alone: with all the names of a large mapping the body could pass its 3,000 characters, and what stands in
      // the records is read below as it is, not as the index has it.
      properties: [stamp],
      limit,
      after: '0',
    },
    ...(signal ? { signal } : {}),
  })
  const ids = results.map(({ id }) => id)
  const lastId = ids.reduce(largerId, stand.lastId)
  const isLast = paging?.next === undefined
  if (lastId === stand.lastId && !isLast)
    throw new Error('a search of HubSpot answered no id above the last one: the scan would never end')
  const read = await batchRead(api, entity, ids, names, signal)
  // Gone since the search, or merged into a record that the search finds by itself.
  const objects = ids.flatMap((id) => {
    const object = read.get(id)
    return object && object.id === id ? [object] : []
  })
  // By the index's stamps: a record read here may be younger than the window, and another one of that age not indexed yet.
  const maxSeenMs = youngest(stand.maxSeenMs, results, entity)
  return { objects, stand: { ...stand, lastId, maxSeenMs }, isLast }
}

function youngest(
  before: number | null,
  objects: readonly HubspotObject[],
  entity: HubspotEntity,
): number | null {
  return objects.reduce<number | null>((youngest, object) => {
    const atMs = modifiedAtMs(object, entity)
    return atMs === undefined ? youngest : Math.max(youngest ?? atMs, atMs)
  }, before)
}
