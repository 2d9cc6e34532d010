import { ConfigError } from '../../domain/errors.ts'
import { formatUsd, type Atomic } from '../../domain/money.ts'
import { listFigures } from '../../store/lists/bought/list-figures.ts'
import {
  reportedDays,
  reportedFields,
  reportedLeftOut,
  reportedRuns,
  type ReportScope,
  type ReportedRun,
} from '../../store/views/reports.ts'
import type { Context } from '../context/context.ts'

/** Counts of records. */
interface ReportCounts {
  records: number
  attempted: number
  matched: number
  /** Records or fields that were written; `changed` of them replaced a value. */
  filled: number
  changed: number
  unchanged: number
  skipped: number
  rejected: number
  parked: number
  /** People whose employer or title differs from their record. */
  jobChanges: number
}

interface ReportMoney {
  settled: string
  lost: string
  inDoubt: string
  /** Paid with credits, by direct access. */
  credits: string
}

export interface Report {
  scope: { run: string } | { month: string }
  currency: 'USD'
  totals: ReportCounts & ReportMoney
  /** The share of attempted records; null when none was attempted. */
  matchRate: number | null
  /** Settled and lost amounts for each; null when there was none. */
  costPerMatched: string | null
  costPerFilledField: string | null
  /** The same in credits; null when direct access charged none. */
  creditsPerMatched: string | null
  creditsPerFilledField: string | null
  filledFields: number
  fields: {
    object: string
    field: string
    filled: number
    changed: number
    /** The share of matched records of that object. */
    fillRate: number | null
  }[]
  /** Values of the service that are none of their field's kind, and were not written. */
  leftOut: { object: string; field: string; reason: string; records: number }[]
  /** The records that lists made, with what was paid for their pages and rows. */
  lists: {
    list: string
    created: number
    existed: number
    ambiguous: number
    paid: string
    /** The part of `paid` that was bought for rows whose record was found to exist. */
    paidForExisting: string
    /** The cost of a created record; null when none was created. */
    costPerCreated: string | null
    /** The share of created and existing records that existed; null when there was none. */
    existedShare: number | null
  }[]
  days: { day: string; settled: string }[]
  runs: ({
    runId: string
    connector: string
    object: string
    trigger: string
    startedAt: Date
  } & ReportCounts &
    ReportMoney & { matchRate: number | null })[]
}

/** Returns the report of a run or of a month (UTC, `2026-11`), from the ledger alone. */
export async function makeReport(
  { database: { db } }: Pick<Context, 'database'>,
  of: { run: string } | { month: string },
): Promise<Report> {
  const scope: ReportScope = 'run' in of ? { runId: of.run } : monthOf(of.month)
  const [runs, fields, leftOut, days, lists] = [
    await reportedRuns(db, scope),
    await reportedFields(db, scope),
    await reportedLeftOut(db, scope),
    await reportedDays(db, scope),
    await listFigures(db, scope),
  ]
  if ('run' in of && runs.length === 0)
    throw new ConfigError('no_such_run', `there is no run ${of.run}; \`paydirt runs\` lists them`)
  const sum = (pick: (run: ReportedRun) => number) => runs.reduce((total, run) => total + pick(run), 0)
  const money = (pick: (run: ReportedRun) => Atomic) => runs.reduce((total, run) => total + pick(run), 0n)
  const matched = sum((run) => run.matched)
  const attempted = sum((run) => run.attempted)
  const filledFields = fields.reduce((total, { filled, changed }) => total + filled + changed, 0)
  const costAtomic = money((run) => run.settledAtomic) + money((run) => run.lostAtomic)
  const creditsAtomic = money((run) => run.creditsAtomic)
  const matchedOf = (object: string) =>
    runs.filter((run) => run.object === object).reduce((total, run) => total + run.matched, 0)
  return {
    scope: of,
    currency: 'USD',
    totals: {
      records: sum((run) => run.records),
      attempted,
      matched,
      filled: sum((run) => run.written),
      changed: sum((run) => run.changed),
      unchanged: sum((run) => run.unchanged),
      skipped: sum((run) => run.skipped),
      rejected: sum((run) => run.rejected),
      parked: sum((run) => run.parked),
      jobChanges: sum((run) => run.jobChanges),
      settled: formatUsd(money((run) => run.settledAtomic)),
      lost: formatUsd(money((run) => run.lostAtomic)),
      inDoubt: formatUsd(money((run) => run.inDoubtAtomic)),
      credits: formatUsd(creditsAtomic),
    },
    matchRate: rate(matched, attempted),
    costPerMatched: share(costAtomic, matched),
    costPerFilledField: share(costAtomic, filledFields),
    creditsPerMatched: creditsAtomic > 0n ? share(creditsAtomic, matched) : null,
    creditsPerFilledField: creditsAtomic > 0n ? share(creditsAtomic, filledFields) : null,
    filledFields,
    fields: fields.map((field) => ({
      ...field,
      fillRate: rate(field.filled + field.changed, matchedOf(field.object)),
    })),
    leftOut,
    lists: lists.map(({ paidAtomic, paidForExistingAtomic, ...counts }) => ({
      ...counts,
      paid: formatUsd(paidAtomic),
      paidForExisting: formatUsd(paidForExistingAtomic),
      costPerCreated: share(paidAtomic, counts.created),
      existedShare: rate(counts.existed, counts.created + counts.existed),
    })),
    days: days.map(({ day, settledAtomic }) => ({ day, settled: formatUsd(settledAtomic) })),
    runs: runs.map((run) => ({
      runId: run.id,
      connector: run.connector,
      object: run.object,
      trigger: run.trigger,
      startedAt: run.startedAt,
      records: run.records,
      attempted: run.attempted,
      matched: run.matched,
      filled: run.written,
      changed: run.changed,
      unchanged: run.unchanged,
      skipped: run.skipped,
      rejected: run.rejected,
      parked: run.parked,
      jobChanges: run.jobChanges,
      settled: formatUsd(run.settledAtomic),
      lost: formatUsd(run.lostAtomic),
      inDoubt: formatUsd(run.inDoubtAtomic),
      credits: formatUsd(run.creditsAtomic),
      matchRate: rate(run.matched, run.attempted),
    })),
  }
}

function monthOf(month: string): { from: Date; to: Date } {
  const match = /^(\d{4})-(0[1-9]|1[0-2])$/.exec(month)
  if (!match) throw new ConfigError('bad_month', '--month is a month such as 2026-11')
  const [year, index] = [Number(match[1]), Number(match[2]) - 1]
  return { from: new Date(Date.UTC(year, index, 1)), to: new Date(Date.UTC(year, index + 1, 1)) }
}

/** Returns the share with four decimals. */
function rate(part: number, whole: number): number | null {
  return whole === 0 ? null : Math.round((part / whole) * 10_000) / 10_000
}

/** Rounds up to the millionth, so that a cost is never reported too low. */
function share(amount: Atomic, count: number): string | null {
  if (count === 0) return null
  const parts = BigInt(count)
  return formatUsd((amount + parts - 1n) / parts)
}
