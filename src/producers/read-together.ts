import type { Connector, Later } from '../connectors/connector.ts'
import { RetriableError } from '../domain/errors.ts'
import { createTurns } from '../timing/turns.ts'
import { recordsById, type FoundRecord } from './records-by-id.ts'

interface Asked {
  ids: readonly string[]
  later: Later | undefined
  resolve(found: Map<string, FoundRecord>): void
  reject(error: unknown): void
}

interface Line {
  waiting: Asked[]
  underWay: number
  timer?: NodeJS.Timeout | undefined
}

/** So many reads of an entity are under way at once before further ones are put together. */
const readsAtOnce = 2
/** Presses that come faster than this are read together also where the CRM answers before the next one comes. */
const reads = { atOnce: 8, perSecond: 3 }
/** As many records as one request to a CRM reads. */
const idsAtOnce = 100

/**
 * Returns `recordsById` for many callers at once. A CRM counts requests: 200 people who press at once would each take a
 * request, more than an account has in ten seconds. A read begins at once while there are few; those that come while two
 * are under way, or after eight in a moment, are read together.
 */
export function createReadTogether(nowMs = () => performance.now()): typeof recordsById {
  const lines = new Map<string, Line>()
  const turns = createTurns(reads, nowMs)

  return (connector, entity, ids, later) =>
    new Promise((resolve, reject) => {
      const name = `${connector.name}/${entity}`
      const line = lines.get(name) ?? { waiting: [], underWay: 0 }
      lines.set(name, line)
      line.waiting.push({ ids, later, resolve, reject })
      readNext(connector, entity, line)
    })

  function readNext(connector: Connector, entity: string, line: Line): void {
    if (line.underWay >= readsAtOnce || line.waiting.length === 0 || line.timer) return
    const name = `${connector.name}/${entity}`
    const waitMs = turns.waitMs(name)
    if (waitMs > 0) {
      line.timer = setTimeout(() => {
        line.timer = undefined
        readNext(connector, entity, line)
      }, waitMs)
      return
    }
    turns.take(name)
    line.underWay += 1
    void readGroup(connector, entity, nextGroup(line)).finally(() => {
      line.underWay -= 1
      readNext(connector, entity, line)
    })
  }
}

/** Takes callers in their order, as long as their records fit into one request. */
function nextGroup(line: Line): Asked[] {
  let ids = 0
  const end = line.waiting.findIndex((asked, place) => {
    ids += asked.ids.length
    return place > 0 && ids > idsAtOnce
  })
  return line.waiting.splice(0, end === -1 ? line.waiting.length : end)
}

/** Never rejects. An error that time does not mend may come from one caller's records, so each is then read alone. */
async function readGroup(connector: Connector, entity: string, group: readonly Asked[]): Promise<void> {
  try {
    const works: (() => Promise<void>)[] = []
    const ids = [...new Set(group.flatMap((asked) => asked.ids))]
    const found = await recordsById(connector, entity, ids, (work) => void works.push(work))
    // Done once for all of them, by whoever comes to it first.
    let done: Promise<unknown> | undefined
    const workOnce = async () => void (await (done ??= Promise.all(works.map((work) => work()))))
    if (!group.every(({ later }) => later)) await workOnce()
    for (const asked of group) {
      asked.later?.(workOnce)
      asked.resolve(new Map([...found].filter(([id]) => asked.ids.includes(id))))
    }
  } catch (error) {
    if (group.length === 1 || error instanceof RetriableError) for (const { reject } of group) reject(error)
    else for (const asked of group) await readGroup(connector, entity, [asked])
  }
}
