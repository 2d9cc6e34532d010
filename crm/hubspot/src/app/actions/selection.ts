import { Problem, type Answer, type Paydirt, type RecordRef } from '../cards/paydirt-client.ts'

/** HubSpot lets an app have 20 requests under way in an account; cards need some of them. */
const atOnce = 8
const busyTries = 6

export interface Tally {
  total: number
  /** Records for which the server has taken the task, whatever came of it yet. */
  accepted: number
  answers: Answer[]
  failures: { objectId: string; problem: Problem }[]
  /** Why no further record was asked for. */
  stopped: Problem | 'by_hand' | undefined
}

/**
 * Asks for each record once. A busy server is asked again after a pause; what every record would meet with (a refused
 * signature) stops the rest. What is asked for goes on in the server, whether this panel stays open or not.
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

  const ask = async (record: RecordRef) => {
    for (let attempt = 1; ; attempt++) {
      try {
        tally.answers.push(await paydirt.enrich(record, recipe))
        tally.accepted += 1
        return
      } catch (error) {
        const problem = error instanceof Problem ? error : new Problem(String(error), 'Try it again.')
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
      await ask(record)
      onTally({ ...tally })
    }
  }
  const next = () => {
    if (!tally.stopped && waiting.length > 0 && isStopped()) tally.stopped = 'by_hand'
    return tally.stopped ? undefined : waiting.shift()
  }

  await Promise.all(Array.from({ length: Math.min(atOnce, records.length) }, work))
  onTally({ ...tally })
  return tally
}

/** How many records came out how, the most frequent first: `[['written', 12], ['queued', 3]]`. */
export function countBy<Key extends string>(keys: readonly Key[]): [Key, number][] {
  const counts = new Map<Key, number>()
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1)
  return [...counts].sort(([, a], [, b]) => b - a)
}
