import { openConnector } from '../../app/context/connectors.ts'
import { entitiesOf } from '../../app/context/entities.ts'
import { indexRecords, type IndexedObject } from '../../app/records/index-records.ts'
import type { CrmName } from '../../connectors/definitions.ts'
import { counted } from '../../domain/values/counted.ts'
import { exitStatus } from '../terminal/exit.ts'
import { print } from '../terminal/print.ts'
import { liveLine } from '../terminal/live-line.ts'
import { stopSignal, withContext } from '../terminal/with-context.ts'

interface Options {
  object?: string
  rebuild: boolean
  json?: true
}

export async function buildIndex(name: CrmName, { object, rebuild, json }: Options): Promise<void> {
  const signal = stopSignal()
  await withContext(async (context) => {
    const connector = await openConnector(context.config, name, undefined)
    const done: IndexedObject[] = []
    try {
      for (const entity of entitiesOf(connector, object)) {
        const result = await indexRecords(context, connector, entity, {
          rebuild,
          signal,
          onProgress: (records) => liveLine.show(`${entity}: ${counted(records, 'record')} read`),
        }).finally(() => liveLine.end())
        done.push(result)
        if (!json) print(`${textOf(result)}\n`)
        if (result.end !== 'complete') break
      }
    } finally {
      await connector.close()
    }
    if (json) print(`${JSON.stringify({ connector: name, objects: done })}\n`)
    process.exitCode = statusOf(done)
  })
}

function textOf({ connector, entity, scan, end, records, gone, wait }: IndexedObject): string {
  const read =
    scan === 'whole'
      ? counted(records, 'record')
      : `${counted(records, 'record')} changed since the last scan`
  if (end === 'waits')
    return `${entity}: ${read} so far. ${wait?.reason}; it can go on in ${Math.ceil((wait?.ms ?? 0) / 60_000)} min: run \`paydirt index ${connector}\` again`
  if (end === 'interrupted')
    return `${entity}: ${read} so far. \`paydirt index ${connector}\` goes on from here`
  return `${entity}: ${read}${gone > 0 ? `, ${counted(gone, 'record')} dropped that ${gone === 1 ? 'is' : 'are'} not in the CRM any more` : ''}`
}

function statusOf(done: readonly IndexedObject[]): number {
  if (done.some(({ end }) => end === 'interrupted')) return exitStatus.interrupted
  return done.some(({ end }) => end === 'waits') ? exitStatus.parked : exitStatus.done
}
