import type { CrmMapping } from '../../domain/mapping/mapping.ts'
import type { ScanOptions, ScanPage } from '../connector.ts'
import { assertFilter, assertProperties, handedOut, meets } from '../filter.ts'
import type { HubspotApi } from './api/client.ts'
import { entityMapping, type HubspotProperties } from './properties.ts'
import { batchRead, isOurs, modifiedAtMs, readProperties, toSourceRecord } from './records.ts'
import { largerId, nextPosition, openPosition, writeWatermark, type Position } from './window.ts'
import type { RequiredRules } from './required.ts'
import { modifiedProperty, pageSchema, paths, type HubspotEntity, type HubspotObject } from './api/wire.ts'

const listLimit = 100
const searchLimit = 200

type OpenPosition = Exclude<Position, { at: 'next' }>

interface Found {
  objects: HubspotObject[]
  /** The position of the scan after these records. */
  position: OpenPosition
  isLast: boolean
}

interface Deps {
  api: HubspotApi
  properties: HubspotProperties
  required: RequiredRules
  mapping: CrmMapping
  lookbackMs: number
  now: () => number
}

/** Yields every record of the window once: first all records by list, later the changed ones by search. */
export async function* scan(
  deps: Deps,
  entity: HubspotEntity,
  options: ScanOptions,
): AsyncGenerator<ScanPage> {
  const { after, since, filter = [], properties = [], limit = Infinity, signal } = options
  const { mapping } = deps
  const entityMap = entityMapping(mapping, entity)
  const fields = await deps.properties.fitting(entity)
  assertFilter(filter, [...fields.keys()])
  assertProperties(properties, [...fields.keys()])
  // For each page: a rule may be learned meanwhile.
  const namesNow = (): string[] => [
    ...new Set([
      ...readProperties(mapping, entity, entityMap),
      ...deps.required.names(entity),
      ...filter.map(({ property }) => property),
      ...properties,
    ]),
  ]

  let position = openPosition({ after, since }, deps.now())
  let room = limit
  while (room > 0) {
    signal?.throwIfAborted()
    // Never more than the limit allows: a page is returned whole, or its watermark would be after records that were not
    // returned.
    const names = namesNow()
    const found: Found =
      position.at === 'load'
        ? await listPage(deps, entity, position, names, Math.min(listLimit, room), signal)
        : await searchPage(deps, entity, position, names, Math.min(searchLimit, room), signal)
    position = found.position
    const wanted = found.objects.filter((object) => meets(object.properties, filter))
    room -= wanted.length
    yield {
      records: wanted.map((object) => {
        // Found here, before anything is bought for a record that takes no write.
        const fault = deps.required.fault(entity, object.properties)
        return {
          ...toSourceRecord(object, entityMap, fields),
          ...handedOut(object.properties, properties),
          ...(fault === undefined ? {} : { unreadable: fault }),
        }
      }),
      watermark: writeWatermark(found.isLast ? nextPosition(position, deps.lookbackMs) : position),
      ownWrites: new Set(wanted.filter((object) => isOurs(object, entity, mapping)).map(({ id }) => id)),
    }
    if (found.isLast) return
  }
}

async function listPage(
  { api }: Deps,
  entity: HubspotEntity,
  position: Extract<Position, { at: 'load' }>,
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
      ...(position.after === null ? {} : { after: position.after }),
    },
    signal,
  })
  const next = paging?.next?.after
  return {
    objects: results,
    position: {
      ...position,
      maxSeenMs: youngest(position.maxSeenMs, results, entity),
      after: next ?? position.after,
    },
    isLast: next === undefined,
  }
}

async function searchPage(
  { api }: Deps,
  entity: HubspotEntity,
  position: Extract<Position, { at: 'window' }>,
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
            { propertyName: stamp, operator: 'GTE', value: String(position.fromMs) },
            { propertyName: stamp, operator: 'LTE', value: String(position.toMs) },
            {
              propertyName: 'hs_object_id',
              operator: 'GTE',
              value: String(BigInt(position.lastId) + 1n),
            },
          ],
        },
      ],
      sorts: ['hs_object_id'],
      // Ids and stamps only: with all names of a large mapping the body could exceed 3,000 characters, and the values
      // are read below from the records themselves, not from the index.
      properties: [stamp],
      limit,
      after: '0',
    },
    signal,
  })
  const ids = results.map(({ id }) => id)
  const lastId = ids.reduce(largerId, position.lastId)
  const isLast = paging?.next === undefined
  if (lastId === position.lastId && !isLast)
    throw new Error('a HubSpot search returned no id above the last one: the scan would never end')
  const read = await batchRead(api, entity, ids, names, signal)
  // Deleted since the search, or merged into a record that the search finds by itself.
  const objects = ids.flatMap((id) => {
    const object = read.get(id)
    return object && object.id === id ? [object] : []
  })
  // By the stamps of the index: a record read here may be newer than the window, while another one of that time is not
  // indexed yet.
  const maxSeenMs = youngest(position.maxSeenMs, results, entity)
  return { objects, position: { ...position, lastId, maxSeenMs }, isLast }
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
