import type { Connector, ScanFilter } from '../../connectors/connector.ts'
import { parseFilter } from '../../connectors/parse-filter.ts'
import { ConfigError } from '../../domain/errors.ts'
import type { SourceRecord } from '../../domain/record.ts'
import { scanWithRetry } from '../runs/scan-with-retry.ts'

interface ReadOptions {
  entity: string
  /** Conditions that a record must meet, all of them. */
  filter?: string | readonly string[] | undefined
  limit?: number | undefined
  /** The place in the settings that names them, for messages. */
  place: string
  signal: AbortSignal
  onRecords?: ((read: number) => void) | undefined
}

/**
 * Reads the records of a CRM that meet some conditions, at no cost. Records that are gone are left out. Throws ConfigError where the CRM
 * refuses requests for too long to wait.
 */
export async function readRecords(
  connector: Connector,
  { entity, filter: conditions, limit: most = Infinity, place, signal, onRecords }: ReadOptions,
): Promise<SourceRecord[]> {
  const filter = [conditions ?? []]
    .flat()
    .map(parseFilter)
    .filter((each): each is ScanFilter => each !== undefined)
  const records: SourceRecord[] = []
  let after: string | undefined
  let waits: string | undefined
  await scanWithRetry(
    async (onPage) => {
      const limit = most === Infinity ? {} : { limit: most - records.length }
      for await (const page of connector.scan(entity, { filter, signal, after, ...limit })) {
        records.push(...page.records.filter(({ gone }) => gone === undefined))
        after = page.watermark
        onPage()
        onRecords?.(records.length)
        if (signal.aborted || records.length >= most) break
      }
      return 0
    },
    (ms, reason) => void (waits = `${reason}; it can be asked again in ${Math.ceil(ms / 1_000)} seconds`),
    signal,
  )
  if (waits !== undefined)
    throw new ConfigError('accounts_unread', `${place}: the records cannot be read now: ${waits}`)
  return records.slice(0, most)
}
