import type { Connector, ScanFilter } from '../../../connectors/connector.ts'
import { parseFilter } from '../../../connectors/parse-filter.ts'
import { ConfigError } from '../../../domain/errors.ts'
import type { ListRow } from '../../../domain/lists/list-row.ts'
import { createListExclusions, exclusionText } from '../../../store/lists/list-exclusions.ts'
import type { ExcludeFilter } from '../../config/list-exclusions.ts'
import type { ListSettings } from '../../config/lists.ts'
import { openConnector } from '../../context/connectors.ts'
import type { Context } from '../../context/context.ts'
import { scanWithRetry } from '../../runs/scan-with-retry.ts'
import { namesOfRecord, namesOfRow } from './excluded-names.ts'

/** The records that the filters of a list have found, for as long as one command compares rows with them. */
export interface Exclusions {
  /** The records of each filter, in the order of the settings. */
  filters: readonly FoundRecords[]
  /** Returns the rows that are left out, by index. */
  among(rows: readonly ListRow[]): Promise<ReadonlySet<number>>
  close(): Promise<void>
}

export interface FoundRecords {
  /** The place in the settings: `lists.dach.exclude.filters[0]`. */
  place: string
  connector: string
  entity: string
  records: number
  /** Those of them that have nothing by which a row could be recognised. */
  nameless: number
}

export interface ReadExclusionsOptions {
  signal: AbortSignal
  /** Called with each page of records. */
  onExcluding?: ((found: FoundRecords) => void) | undefined
}

type ReadContext = Pick<Context, 'config' | 'database' | 'recordIndex' | 'now' | 'randomBytes'>

/** True for a list whose rows are compared with what filters of a CRM find. Without a reading its rows are not taken in. */
export function hasFilters({ exclude }: Pick<ListSettings, 'exclude'>): boolean {
  return (exclude?.filters?.length ?? 0) > 0
}

/**
 * Returns the calls of a list with the records that its filters leave out, which the caller closes. Without them where the list has no
 * filters, and where the reading was stopped: then no row is taken in.
 */
export async function withExclusions<C extends { name: string; settings: ListSettings }>(
  context: ReadContext,
  calls: C,
  options: ReadExclusionsOptions,
): Promise<C & { exclusions?: Exclusions }> {
  try {
    const exclusions = await readExclusions(context, calls.name, calls.settings, options)
    return exclusions ? { ...calls, exclusions } : calls
  } catch (error) {
    if (options.signal.aborted) return calls
    throw error
  }
}

/**
 * Reads the records that the filters of a list leave out. Pays nothing, and writes nothing into the CRM. Undefined: the list has no
 * filters. Throws ConfigError where one of them cannot be read to its end: a list that leaves nobody out without saying so would be worse
 * than none.
 */
async function readExclusions(
  context: ReadContext,
  name: string,
  settings: ListSettings,
  options: ReadExclusionsOptions,
): Promise<Exclusions | undefined> {
  if (!hasFilters(settings)) return undefined
  const { config, database, randomBytes } = context
  const store = createListExclusions(database.db, context)
  const reading = `${name}-${randomBytes(8).toString('hex')}`
  const filters: FoundRecords[] = []
  try {
    for (const [at, filter] of (settings.exclude?.filters ?? []).entries()) {
      const place = `lists.${name}.exclude.filters[${at}]`
      filters.push(
        await readFilter(context, { place, settings, filter }, (page) => store.add(reading, page), options),
      )
    }
  } catch (error) {
    await store.drop(reading)
    throw error
  }
  return {
    filters,
    async among(rows) {
      const names = rows.map((row) => namesOfRow(row, config.networkHosts))
      const found = await store.among(reading, names.flat())
      return new Set(
        names.flatMap((each, at) => (each.some((one) => found.has(exclusionText(one))) ? [at] : [])),
      )
    },
    close: () => store.drop(reading),
  }
}

async function readFilter(
  context: Pick<Context, 'config' | 'recordIndex'>,
  {
    place,
    settings: { into },
    filter: asked,
  }: { place: string; settings: ListSettings; filter: ExcludeFilter },
  keep: (identities: ReturnType<typeof namesOfRecord>) => Promise<void>,
  { signal, onExcluding }: ReadExclusionsOptions,
): Promise<FoundRecords> {
  const connector = await openConnector(context.config, asked.connector ?? into.connector, context).catch(
    (error: unknown) => refuse(error, place),
  )
  try {
    const entity = entityOf(connector, asked, into)
    const found: FoundRecords = { place, connector: connector.name, entity, records: 0, nameless: 0 }
    let after: string | undefined
    let waits: string | undefined
    await scanWithRetry(
      async (onPage) => {
        const options = { filter: conditionsOf(asked), signal, ...(after !== undefined && { after }) }
        for await (const page of connector.scan(entity, options)) {
          const present = page.records.filter(({ gone }) => gone === undefined)
          const names = present.map((record) => namesOfRecord(record, context.config.networkHosts))
          await keep(names.flat())
          found.records += present.length
          found.nameless += names.filter((each) => each.length === 0).length
          after = page.watermark
          onExcluding?.(found)
          onPage()
        }
        return found.records
      },
      (ms, reason) => void (waits = `${reason}; it can be asked again in ${Math.ceil(ms / 1_000)} seconds`),
      signal,
    )
    signal.throwIfAborted()
    if (waits !== undefined)
      throw new ConfigError('exclusions_unread', `the records cannot be read now: ${waits}`)
    return found
  } catch (error) {
    return refuse(error, place)
  } finally {
    await connector.close()
  }
}

function conditionsOf({ filter }: ExcludeFilter): ScanFilter[] {
  return (typeof filter === 'string' ? [filter] : filter).flatMap((text) => parseFilter(text) ?? [])
}

function entityOf(
  { name, entities, capabilities }: Connector,
  { entity }: ExcludeFilter,
  into: ListSettings['into'],
): string {
  if (!capabilities.filters) throw new ConfigError('no_filters', `${name} takes no filters`)
  const wanted = entity ?? (name === into.connector ? into.entity : undefined)
  const all = Object.keys(entities).join(', ')
  if (wanted === undefined)
    throw new ConfigError('unknown_entity', `name the object of ${name} (entity): ${all}`)
  if (entities[wanted] !== undefined) return wanted
  throw new ConfigError('unknown_entity', `${name} has no object ${wanted}; it has ${all}`)
}

/** Names the place in the settings. Errors of other kinds stay as they are. */
function refuse(error: unknown, place: string): never {
  if (error instanceof ConfigError)
    throw new ConfigError(error.code, `${place}: ${error.message}`, { cause: error })
  throw error
}
