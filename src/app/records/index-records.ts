import type { Connector } from '../../connectors/connector.ts'
import { createIndexStates, type IndexState, type IndexStates } from '../../store/identities/index-state.ts'
import { scanWithRetry } from '../runs/scan-with-retry.ts'
import type { Context } from '../context/context.ts'

/** The index of one object, as it stands after `indexRecords`. */
export interface IndexedObject {
  connector: string
  entity: string
  /** `changes`: only what changed since the last scan was read. */
  scan: 'whole' | 'changes'
  end: 'complete' | 'interrupted' | 'waits'
  /** The records read, by this command or by an interrupted one before it. */
  records: number
  /** Records that were in the index and are not in the CRM any more. */
  gone: number
  /** Set for `waits`: the CRM allows no calls for so long. */
  wait?: { ms: number; reason: string }
}

export interface IndexOptions {
  /** Read every record again. Default: only when no whole scan was completed; else what has changed since. */
  rebuild: boolean
  signal: AbortSignal
  onProgress?: (records: number) => void
}

/**
 * Reads the records of one object of a CRM into the index. Buys nothing and writes nothing into the CRM. A scan that was
 * interrupted goes on behind its last page.
 *
 * Crash window: a page's entries are stored before its place. Killed in between, the page is read again, which changes nothing.
 */
export async function indexRecords(
  context: Pick<Context, 'database' | 'recordIndex' | 'now'>,
  connector: Connector,
  entity: string,
  options: IndexOptions,
): Promise<IndexedObject> {
  const states = createIndexStates(context.database.db, context)
  const before = await states.get(connector.name, entity)
  const isUnfinished = before !== undefined && isUnderWay(before)
  const isWhole =
    options.rebuild || before === undefined || isUnfinished || !connector.capabilities.scansChanges
  const state = before && (!isWhole || isUnfinished) ? before : await states.begin(connector.name, entity)
  const scan = isWhole ? 'whole' : 'changes'
  return readInto(context, connector, { states, state, scan, ...options })
}

/** A whole scan is under way, or was broken off, while it began after the last one that ended. */
export function isUnderWay({
  startedAt,
  completedAt,
}: Pick<IndexState, 'startedAt' | 'completedAt'>): boolean {
  return completedAt === null || startedAt > completedAt
}

async function readInto(
  { recordIndex, now }: Pick<Context, 'recordIndex' | 'now'>,
  connector: Connector,
  work: IndexOptions & { states: IndexStates; state: IndexState; scan: IndexedObject['scan'] },
): Promise<IndexedObject> {
  const { states, state, scan, signal, onProgress } = work
  const { connector: name, entity } = state
  const startedAt = now()
  let { watermark } = state
  let total = state.records
  let read = scan === 'whole' ? state.records : 0
  let wait: IndexedObject['wait']

  async function scanOn(onPage: () => void): Promise<number> {
    const after = watermark === null ? {} : { after: watermark }
    for await (const page of connector.scan(entity, { ...after, signal })) {
      const gone = page.records.flatMap(({ id, gone: reason }) => (reason === undefined ? [] : [id]))
      const merged = page.records.flatMap(({ mergedIds = [] }) => mergedIds)
      const present = page.records.filter((record) => record.gone === undefined)
      await recordIndex.drop(name, entity, [...gone, ...merged])
      await recordIndex.keepSince(name, entity, present, scan === 'whole' ? state.startedAt : startedAt)
      watermark = page.watermark
      read += page.records.length
      total = scan === 'whole' ? read : total
      await states.move(name, entity, watermark, total)
      onProgress?.(read)
      onPage()
      if (signal.aborted) break
    }
    return read
  }

  await scanWithRetry(scanOn, (ms, reason) => void (wait = { ms, reason }), signal)
  const result = { connector: name, entity, scan, records: read }
  if (wait) return { ...result, end: 'waits', gone: 0, wait }
  if (signal.aborted) return { ...result, end: 'interrupted', gone: 0 }
  if (scan === 'whole') return { ...result, end: 'complete', gone: await states.complete(state) }
  await states.catchUp(name, entity, startedAt)
  return { ...result, end: 'complete', gone: 0 }
}
