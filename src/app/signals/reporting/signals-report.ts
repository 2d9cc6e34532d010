import { nearNames } from '../../../domain/normalise/near-names.ts'
import { ConfigError } from '../../../domain/errors.ts'
import { formatUsd } from '../../../domain/money.ts'
import { dayBefore, utcDay } from '../../../domain/signals/change.ts'
import {
  byChange,
  hasMoved,
  newAndGone,
  reportedAccount,
  type ReportedAccount,
  type ReportedName,
} from '../../../domain/signals/report.ts'
import { pages } from '../../../store/database/parameters.ts'
import { accountsById, signalsOf, type KeptAccount } from '../../../store/signals/kept-signals.ts'
import { scoredAccounts, scoreHistory } from '../../../store/signals/score-days.ts'
import { signalCharges } from '../../../store/signals/signal-charges.ts'
import { pipelineBudget } from '../../config/watching/purses.ts'
import type { Context } from '../../context/context.ts'
import { assertPipeline } from './explain-score.ts'
import type { ScoredPipeline, ScoredPipelines } from './scored-pipelines.ts'
import { ownersOfAccounts, type AccountOwner } from './account-owners.ts'

/** An account of the report; its owner is read only where the report is for one. */
export type OwnedAccount = ReportedAccount & { owner: AccountOwner | null }

export interface PipelineReport {
  pipeline: string
  /** The last day (UTC) for which scores were computed; null: never. */
  scoredOn: string | null
  /** Accounts that its source has. */
  watched: number
  /** Those of them for which something new was seen, or whose stage changed, by change. */
  moved: OwnedAccount[]
  added: ReportedName[]
  gone: ReportedName[]
  cost: ReportedCost[]
}

/** In decimals of the currency: USD, or credits by direct access. */
export interface ReportedCost {
  currency: 'USD' | 'credit'
  charges: number
  settled: string
  inDoubt: string
  lost: string
}

export interface SignalsReport {
  madeAt: Date
  /** The day (UTC) with which scores are compared; the period begins after it. */
  since: string
  owner: AccountOwner | null
  pipelines: PipelineReport[]
}

export interface SignalsReportOptions {
  pipeline?: string | undefined
  /** `7d`, `2w`, or a day: `2026-11-16`. */
  since?: string | undefined
  /** The id or the name of an owner in the CRM. */
  owner?: string | undefined
  at?: Date | undefined
}

export type ReportContext = Pick<Context, 'config' | 'connectors' | 'database' | 'now'>

const pageSize = 500
const usualDays = 7

/**
 * Returns what moved among the accounts of one pipeline, or of all, from the ledger. Only `owner` asks the CRM, for the owners of the
 * accounts that moved. Throws ConfigError for a pipeline, a period or an owner that there is not.
 */
export async function makeSignalsReport(
  context: ReportContext,
  pipelines: ScoredPipelines,
  { pipeline, since, owner, at = context.now() }: SignalsReportOptions,
): Promise<SignalsReport> {
  if (pipeline !== undefined) assertPipeline(pipelines, pipeline)
  const sinceDay = sinceDayOf(since, at)
  const names = pipeline === undefined ? Object.keys(pipelines) : [pipeline]
  const reports: PipelineReport[] = []
  for (const name of names) reports.push(await reportOf(context, name, pipelines[name]!, { at, sinceDay }))
  const report = { madeAt: at, since: sinceDay, owner: null, pipelines: reports }
  return owner === undefined ? report : ofOwner(context, report, owner)
}

async function reportOf(
  { database: { db } }: Pick<Context, 'database'>,
  pipeline: string,
  { types, rules }: ScoredPipeline,
  period: { at: Date; sinceDay: string },
): Promise<PipelineReport> {
  const { current, added, gone } = newAndGone(await scoredAccounts(db, pipeline), period.sinceDay)
  const moved: OwnedAccount[] = []
  for (const ids of pages(
    current.map(({ accountId }) => accountId),
    pageSize,
  )) {
    const accounts = await accountsById(db, ids)
    const signals = await signalsOf(db, ids)
    const history = await scoreHistory(db, pipeline, ids, period.sinceDay)
    for (const account of accounts.values()) {
      const watched = {
        account: named(account),
        signals: (signals.get(account.id) ?? []).filter(({ type }) => types.includes(type)),
        history: history.get(account.id) ?? [],
        stage: account.stage,
      }
      const reported = reportedAccount(watched, rules, period)
      if (hasMoved(reported)) moved.push({ ...reported, owner: null })
    }
  }
  return {
    pipeline,
    scoredOn: current[0]?.lastDay ?? null,
    watched: current.length,
    moved: moved.toSorted(byChange),
    added: await names(db, added),
    gone: await names(db, gone),
    cost: (await signalCharges(db, pipelineBudget(pipeline), period)).map((row) => ({
      currency: row.currency,
      charges: row.charges,
      settled: formatUsd(row.settledAtomic),
      inDoubt: formatUsd(row.inDoubtAtomic),
      lost: formatUsd(row.lostAtomic),
    })),
  }
}

/** Keeps the accounts of one owner. The cost stays that of the pipeline: a search is bought for accounts of all owners. */
async function ofOwner(
  context: ReportContext,
  report: SignalsReport,
  wanted: string,
): Promise<SignalsReport> {
  const all = report.pipelines.flatMap(({ moved, added, gone }) => [...moved, ...added, ...gone])
  const owners = await ownersOfAccounts(context, all)
  const known = [...new Map([...owners.values()].map((owner) => [owner.id, owner])).values()]
  const owner =
    known.find(({ id }) => id === wanted) ??
    known.find(({ name }) => name.trim().toLowerCase() === wanted.trim().toLowerCase())
  if (!owner) {
    const near = nearNames(
      wanted,
      known.map(({ name }) => name),
    )
    throw new ConfigError(
      'no_such_owner',
      `no account of this report belongs to ${wanted}; ${
        near.length > 0
          ? `did you mean ${near.join(' or ')}?`
          : known.length > 0
            ? `its owners are ${known
                .slice(0, 10)
                .map(({ id, name }) => `${name} (${id})`)
                .join(', ')}${known.length > 10 ? ` and ${known.length - 10} more` : ''}`
            : 'none of its accounts has an owner in the CRM'
      }`,
    )
  }
  const isTheirs = (account: ReportedName) => owners.get(account)?.id === owner.id
  return {
    ...report,
    owner,
    pipelines: report.pipelines.map((each) => ({
      ...each,
      moved: each.moved.filter(isTheirs).map((account) => ({ ...account, owner })),
      added: each.added.filter(isTheirs),
      gone: each.gone.filter(isTheirs),
    })),
  }
}

/** Returns the day with which a report compares. Throws ConfigError. */
export function sinceDayOf(text: string | undefined, at: Date): string {
  const today = utcDay(at)
  if (text === undefined) return dayBefore(today, usualDays)
  const [, count, unit] = /^(\d{1,3})([dw])$/.exec(text) ?? []
  const days = Number(count) * (unit === 'w' ? 7 : 1)
  if (count !== undefined && days > 0) return dayBefore(today, days)
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text))
  if (isDay && utcDay(new Date(text)) === text && text < today) return text
  throw new ConfigError(
    'bad_since',
    `--since ${text}: give days or weeks, as 7d or 2w, or a day before today (UTC), as ${dayBefore(today, 7)}`,
  )
}

async function names(
  db: Context['database']['db'],
  scored: readonly { accountId: bigint }[],
): Promise<ReportedName[]> {
  const accounts: ReportedName[] = []
  for (const ids of pages(
    scored.map(({ accountId }) => accountId),
    pageSize,
  ))
    accounts.push(...[...(await accountsById(db, ids)).values()].map(named))
  return accounts
}

function named({ connector, entity, recordId, name }: KeptAccount): ReportedName {
  return { connector, entity, id: recordId, name }
}
