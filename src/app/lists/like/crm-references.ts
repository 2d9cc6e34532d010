import type { Connector, ScanFilter } from '../../../connectors/connector.ts'
import { parseFilter } from '../../../connectors/parse-filter.ts'
import { ConfigError } from '../../../domain/errors.ts'
import { bestRecords } from '../../../domain/lists/best-records.ts'
import type { GivenReference } from '../../../domain/lists/references.ts'
import { counted } from '../../../domain/values/counted.ts'
import type { ObjectKind } from '../../../domain/words.ts'
import type { LikeSettings } from '../../config/list-sources.ts'
import { scanWithRetry } from '../../runs/scan-with-retry.ts'

const usualTop = 50

/**
 * Reads the references of a CRM: the records that meet the filter, of them the best by a property. Pays nothing, and writes nothing
 * into the CRM. Throws ConfigError where nobody has said which of too many records are the best.
 */
export async function crmReferences(
  connector: Connector,
  object: ObjectKind,
  { entity: asked, filter = [], top = usualTop, by }: LikeSettings,
  { place, signal }: { place: string; signal: AbortSignal },
): Promise<GivenReference[]> {
  const entity = entityOf(connector, object, asked, place)
  const conditions = (typeof filter === 'string' ? [filter] : filter)
    .map(parseFilter)
    .filter((each): each is ScanFilter => each !== undefined)
  const properties = by === undefined ? [] : [by]
  const best = bestRecords<GivenReference>(top, by !== undefined)
  let after: string | undefined
  let waits: string | undefined
  await scanWithRetry(
    async (onPage) => {
      const options = { filter: conditions, properties, signal, ...(after !== undefined && { after }) }
      for await (const page of connector.scan(entity, options)) {
        for (const { id, identity, values, properties: own, unreadable, gone } of page.records) {
          if (gone !== undefined) continue
          const fault = unreadable === undefined ? {} : { fault: unreadable }
          const item = {
            place: `${entity}:${id}`,
            identity,
            recordId: id,
            ...(values && { values }),
            ...fault,
          }
          best.add({ item, by: by === undefined ? undefined : own?.[by] })
        }
        after = page.watermark
        onPage()
        if (signal.aborted) break
      }
      return 0
    },
    (ms, reason) => void (waits = `${reason}; it can be asked again in ${Math.ceil(ms / 1_000)} seconds`),
    signal,
  )
  signal.throwIfAborted()
  if (waits !== undefined)
    throw new ConfigError('references_unread', `${place}: the records cannot be read now: ${waits}`)
  const { all, compared } = best.counts()
  if (by === undefined && all > top)
    throw new ConfigError(
      'references_unordered',
      `${place}: ${counted(all, 'record')} meet the filter, and ${top} are taken: name the property by which they are the best (by), or raise top`,
    )
  if (by !== undefined && all > 0 && compared === 0)
    throw new ConfigError(
      'references_unordered',
      `${place}.by: none of the ${counted(all, 'record')} that meet the filter has a number or a time in ${by}`,
    )
  return best.best()
}

function entityOf(
  { name, entities }: Connector,
  object: ObjectKind,
  asked: string | undefined,
  place: string,
): string {
  const fitting = Object.keys(entities).filter((entity) => entities[entity] === object)
  const found = asked === undefined ? fitting[0] : fitting.find((entity) => entity === asked)
  if (found !== undefined) return found
  throw new ConfigError(
    'unknown_entity',
    `${place}.entity: ${name} has no object ${asked ?? 'of this kind'} for ${object === 'company' ? 'companies' : 'people'}; there is ${fitting.join(', ') || 'none'}`,
  )
}
