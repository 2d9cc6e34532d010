import { Problem, type Answer, type Paydirt, type RecordRef } from './paydirt-client.ts'

/** HubSpot allows an app 20 concurrent requests per account; cards need some of them. */
const maxConcurrent = 8
const busyTries = 6

export interface Tally {
  total: number
  /** Records whose request the server has accepted, whatever their result. */
  accepted: number
  answers: Answer[]
  failures: { objectId: string; problem: Problem }[]
  /** Why the remaining records were not requested. */
  stopped: Problem | 'by_hand' | undefined
}

/**
 * Requests each record once. Retries after a pause while the server is busy. A problem that affects every record, such as
 * a refused signature, stops the rest. The server continues with accepted requests after the panel is closed.
 */
export async function enrichSelection(options: {
  paydirt: Pick<Paydirt, 'enrich'>
  records: readonly RecordRef[]
  recipe?: string | undefined
  sleep: (ms: number) => Promise<void>
  isStopped: () => boolean
  onTally: (tally: Tally) => void
}): Promise<Tally> {
  const { paydirt, records, recipe, sleep, isStopped, onTally } = options
  const tally: Tally = { total: records.length, accepted: 0, answers: [], failures: [], stopped: undefined }
  const waiting = [...records]

  const request = async (record: RecordRef) => {
    for (let attempt = 1; ; attempt++) {
      try {
        tally.answers.push(await paydirt.enrich(record, recipe))
        tally.accepted += 1
        return
      } catch (error) {
        const problem = error instanceof Problem ? error : new Problem(String(error), 'Try again.')
        if (problem.isBusy && attempt < busyTries && !isStopped()) {
          await sleep(1_000 * 2 ** attempt)
          continue
        }
        tally.failures.push({ objectId: record.objectId, problem })
        if (problem.isForAll) tally.stopped = problem
        return
      }
    }
  }

  const work = async () => {
    for (let record = next(); record; record = next()) {
      await request(record)
      onTally({ ...tally })
    }
  }
  const next = () => {
    if (!tally.stopped && waiting.length > 0 && isStopped()) tally.stopped = 'by_hand'
    return tally.stopped ? undefined : waiting.shift()
  }

  await Promise.all(Array.from({ length: Math.min(maxConcurrent, records.length) }, work))
  onTally({ ...tally })
  return tally
}

/** Counts equal keys, the most frequent first: `[['written', 12], ['queued', 3]]`. */
export function countBy<Key extends string>(keys: readonly Key[]): [Key, number][] {
  const counts = new Map<Key, number>()
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1)
  return [...counts].sort(([, a], [, b]) => b - a)
}
