import { durationBounds, quantileMs } from '../../../domain/measuring/durations.ts'
import { paces, type Pace } from '../../../domain/operations.ts'
import type { Database } from '../../../store/database/database.ts'
import { measuredSince } from '../../../store/measurements/measurements.ts'
import {
  costByWeek,
  lookupTimes,
  lookupTimesByOperation,
  type LookupTimes,
  type WeekCost,
} from '../../../store/views/desk-charts.ts'

/** A part of the past, divided into equal steps. `span` has measurements for it. */
export const ranges = {
  '3h': { name: '3 hours', ms: 3 * 3_600_000, stepMs: 300_000, step: '5 minutes', span: 'minute' },
  '24h': { name: '24 hours', ms: 24 * 3_600_000, stepMs: 1_800_000, step: '30 minutes', span: 'quarter' },
  '7d': { name: '7 days', ms: 7 * 86_400_000, stepMs: 4 * 3_600_000, step: '4 hours', span: 'quarter' },
} as const
export type RangeName = keyof typeof ranges

export interface CrmTimes {
  connector: string
  steps: (Times | undefined)[]
  calls: ({ call: string } & Times)[]
}

interface Times {
  count: number
  p50Ms: number
  p95Ms: number
}

export interface PaceSteps {
  path: Pace
  steps: ({ sentPerSecond: number; limitedShare: number; allowedPerSecond: number | undefined } | undefined)[]
}

export interface ChartsModel {
  range: RangeName
  from: Date
  to: Date
  /** The beginning of each step. */
  times: Date[]
  lookups: {
    steps: (LookupTimes | undefined)[]
    operations: Awaited<ReturnType<typeof lookupTimesByOperation>>
  }
  crms: CrmTimes[]
  paces: PaceSteps[]
  weeks: { weeks: string[]; costs: WeekCost[] }
}

const weekMs = 7 * 86_400_000
const weeksShown = 12

export async function readCharts(db: Database, now: Date, range: RangeName): Promise<ChartsModel> {
  const { ms, stepMs, span } = ranges[range]
  // Whole steps: the last one is still under way.
  const endMs = Math.ceil((now.getTime() + 1) / stepMs) * stepMs
  const [from, to] = [new Date(endMs - ms), new Date(endMs)]
  const times = Array.from({ length: ms / stepMs }, (_, index) => new Date(from.getTime() + index * stepMs))
  const stepOf = (at: Date) => Math.floor((at.getTime() - from.getTime()) / stepMs)
  const weeks = weeksUntil(now)
  const [answers, operations, calls, requests, allowed, costs] = [
    await lookupTimes(db, { from, to }, stepMs),
    await lookupTimesByOperation(db, { from, to }),
    await measuredSince(db, 'crm_call', span, from),
    await measuredSince(db, 'request', span, from),
    await measuredSince(db, 'pace', span, from),
    await costByWeek(db, new Date(`${weeks[0]}T00:00:00Z`)),
  ]
  const byStep = new Map(answers.map((answer) => [stepOf(answer.at), answer]))
  return {
    range,
    from,
    to,
    times,
    lookups: { steps: times.map((_, index) => byStep.get(index)), operations },
    crms: crmTimes(calls, times.length, stepOf),
    paces: paceSteps(
      requests,
      allowed,
      times,
      (index) => {
        // A step that is under way has not had all of its time.
        const endsMs = Math.min(now.getTime(), from.getTime() + (index + 1) * stepMs)
        return Math.max(1, (endsMs - from.getTime() - index * stepMs) / 1_000)
      },
      stepOf,
    ),
    weeks: { weeks, costs },
  }
}

type Measured = Awaited<ReturnType<typeof measuredSince>>

function crmTimes(calls: Measured, steps: number, stepOf: (at: Date) => number): CrmTimes[] {
  const connectors = [...new Set(calls.map(({ name }) => name))].sort()
  return connectors.map((connector) => {
    const own = calls.filter(({ name }) => name === connector)
    const names = [...new Set(own.map(({ part }) => part))]
    return {
      connector,
      steps: Array.from({ length: steps }, (_, index) =>
        timesOf(own.filter(({ beginsAt }) => stepOf(beginsAt) === index)),
      ),
      calls: names
        .flatMap((call) => {
          const times = timesOf(own.filter(({ part }) => part === call))
          return times ? [{ call, ...times }] : []
        })
        .sort((a, b) => b.count - a.count),
    }
  })
}

function timesOf(rows: Measured): Times | undefined {
  const counts = Array.from({ length: durationBounds.length + 1 }, (_, place) =>
    rows.reduce((sum, { buckets }) => sum + (buckets[place] ?? 0), 0),
  )
  const [p50Ms, p95Ms] = [quantileMs(counts, 0.5), quantileMs(counts, 0.95)]
  if (p50Ms === undefined || p95Ms === undefined) return undefined
  return { count: counts.reduce((sum, count) => sum + count, 0), p50Ms, p95Ms }
}

function paceSteps(
  requests: Measured,
  allowed: Measured,
  times: readonly Date[],
  secondsOf: (index: number) => number,
  stepOf: (at: Date) => number,
): PaceSteps[] {
  const used = paces.filter((path) => path === 'lookup' || requests.some(({ name }) => name === path))
  return used.map((path) => ({
    path,
    steps: times.map((_, index) => {
      const isHere = ({ name, beginsAt }: Measured[number]) => name === path && stepOf(beginsAt) === index
      const own = requests.filter(isHere)
      const sent = sumOf(own, 'count')
      if (sent === 0) return undefined
      const limited = sumOf(
        own.filter(({ part }) => part === 'rate_limited'),
        'count',
      )
      const read = allowed.filter(isHere)
      const readings = sumOf(read, 'count')
      return {
        sentPerSecond: sent / secondsOf(index),
        limitedShare: limited / sent,
        allowedPerSecond: readings === 0 ? undefined : sumOf(read, 'sum') / readings,
      }
    }),
  }))
}

function sumOf(rows: Measured, field: 'count' | 'sum'): number {
  return rows.reduce((total, row) => total + row[field], 0)
}

/** Returns the Mondays of the weeks that are shown, the current week last. */
function weeksUntil(now: Date): string[] {
  const day = (now.getUTCDay() + 6) % 7
  const monday = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() - day)
  return Array.from({ length: weeksShown }, (_, index) =>
    new Date(monday - (weeksShown - 1 - index) * weekMs).toISOString().slice(0, 10),
  )
}
