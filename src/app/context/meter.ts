import { setTimeout as delay } from 'node:timers/promises'
import { addTo, noCounts } from '../../domain/measuring/durations.ts'
import type { ExchangeOutcome, Meter } from '../../domain/ports/meter.ts'
import type { Database } from '../../store/database/database.ts'
import { addMeasurements, type Measurement } from '../../store/measurements/measurements.ts'
import { startPollLoop } from '../../timing/poll-loop.ts'
import type { Service } from './service.ts'

export interface OpenMeter extends Meter {
  /** Adds what was counted since the last time to the database. */
  save(): Promise<void>
  /** Saves once more, and ends. */
  close(): Promise<void>
}

interface MeterOptions {
  now: () => Date
  /** Reads the current pace of a path, in requests a second. */
  paceOf: (path: string) => Promise<number>
  onError: (error: unknown) => void
}

type Kind = Measurement['kind']

const saveEveryMs = 10_000
/** The database or Redis may be gone when a process ends: measurements are not worth a longer wait. */
const patienceMs = 1_000
/** While the database is away what was counted waits, up to so many rows; what comes then is not counted. */
const mostRows = 5_000
const spanMs = { minute: 60_000, quarter: 900_000 } as const

/**
 * Counts in memory and adds the counts to the database every ten seconds, so that all processes together have one count and a
 * restart loses none. A process that is killed loses those of its last ten seconds. No row names a record: the number of rows
 * is bounded by operations, outcomes, calls, and the minutes and quarters that are kept.
 */
export function createMeter(db: Database, { now, paceOf, onError }: MeterOptions): OpenMeter {
  let held = new Map<string, Measurement>()
  const usedPaths = new Set<string>()

  function add(
    kind: Kind,
    name: string,
    part: string,
    spans: readonly Measurement['span'][],
    { sum, ms }: { sum: number; ms?: number },
  ): void {
    const atMs = now().getTime()
    for (const span of spans) {
      const beginsMs = span === 'all' ? 0 : atMs - (atMs % spanMs[span])
      const id = `${kind} ${name} ${part} ${span} ${beginsMs}`
      let row = held.get(id)
      if (!row) {
        if (held.size >= mostRows) return
        const buckets = ms === undefined ? [] : noCounts()
        row = { kind, name, part, span, beginsAt: new Date(beginsMs), count: 0, sum: 0, buckets }
        held.set(id, row)
      }
      row.count += 1
      row.sum += sum
      if (ms !== undefined) addTo(row.buckets, ms)
    }
  }

  /** The pace is shared, so each process that sends reads the same one: its mean is taken over their readings. */
  async function samplePaces(): Promise<void> {
    const paths = [...usedPaths]
    usedPaths.clear()
    for (const path of paths) {
      const perSecond = await Promise.race([
        paceOf(path).catch(() => undefined),
        delay(patienceMs, undefined, { ref: false }),
      ])
      if (perSecond !== undefined) add('pace', path, 'allowed', ['minute', 'quarter'], { sum: perSecond })
    }
  }

  async function save(): Promise<void> {
    await samplePaces()
    const rows = held
    held = new Map()
    try {
      await addMeasurements(db, [...rows.values()])
    } catch (error) {
      for (const [id, row] of rows) keep(id, row)
      throw error
    }
  }

  function keep(id: string, row: Measurement): void {
    const later = held.get(id)
    if (!later) {
      held.set(id, row)
      return
    }
    later.count += row.count
    later.sum += row.sum
    later.buckets = later.buckets.map((count, index) => count + (row.buckets[index] ?? 0))
  }

  // The first save waits as well: a short command saves once, at its end.
  let isFirst = true
  const saving = startPollLoop({
    name: 'save measurements',
    work: async () => {
      if (!isFirst) await save()
      isFirst = false
    },
    pauseMs: saveEveryMs,
    onError,
  })

  return {
    // The ledger has each paid exchange with its times, so that minutes and quarters of them would say it twice.
    exchange: (operation, outcome, ms) =>
      add('exchange', operation, outcome, ['all'], { sum: ms / 1_000, ms }),
    crmCall: (connector, call, ms) =>
      add('crm_call', connector, call, ['all', 'minute', 'quarter'], { sum: ms / 1_000, ms }),
    // The ledger keeps the outcome of each record only for as long as its retention says, and a counter must not go back.
    written: (connector, outcome) => add('written', connector, outcome, ['all'], { sum: 0 }),
    onDemand: (connector, outcome, ms) =>
      add('on_demand', connector, outcome, ['all'], { sum: ms / 1_000, ms }),
    request(path, end) {
      usedPaths.add(path)
      add('request', path, end, ['minute', 'quarter'], { sum: 0 })
    },
    save,
    async close() {
      const ended = saving.stop().then(save)
      await Promise.race([ended, delay(2 * patienceMs, undefined, { ref: false })]).catch(onError)
    },
  }
}

/** Returns the same call, whose outcome and time the meter counts. */
export function measured(fetchFree: Service['fetchFree'], meter: Meter): Service['fetchFree'] {
  return async (operation, request) => {
    const startedMs = performance.now()
    let outcome: ExchangeOutcome = 'unanswered'
    try {
      const fact = await fetchFree(operation, request)
      outcome = fact.outcome
      return fact
    } finally {
      meter.exchange(operation, outcome, performance.now() - startedMs)
    }
  }
}
