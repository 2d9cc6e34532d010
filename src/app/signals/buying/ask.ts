import type { Fact } from '../../../domain/record.ts'
import { readRow, type ReadRow } from '../../../domain/signals/read-row.ts'
import { searches } from '../../../domain/signals/searches.ts'
import type { SignalType } from '../../../domain/signals/signal.ts'
import { observations } from '../../../store/contract/answer-fields.ts'
import { takeChecks } from '../../../store/signals/take-checks.ts'
import type { Context } from '../../context/context.ts'
import { pageOf } from '../../service/call-result.ts'
import type { PlannedCall } from '../../service/plan-call.ts'
import type { Purse } from './purse.ts'
import { bodyOf, halvesOf, mostTogether, type Question } from './questions.ts'

interface AskContext {
  context: Pick<Context, 'database' | 'now' | 'config'>
  pipeline: string
  purse: Purse
}

/** The accounts whose check was made, and those that were left for the next run. */
export interface Asked {
  checked: number
  left: number
  signals: number
  /** True where each row named its company, so that many accounts can go into one search. */
  isAttributed: boolean
}

/**
 * Asks one question and takes its answers in, once all of its pages are there. A question with more rows than the service answers is
 * divided, so that no row is left out in silence. The oldest rows come first and the pages are read in order, so that a row which comes
 * meanwhile stands behind them.
 */
export async function ask(asked: AskContext, question: Question): Promise<Asked> {
  const { context, pipeline, purse } = asked
  const today = context.now().toISOString().slice(0, 10)
  const operation = searches[question.type]
  const body = bodyOf(question, today)
  const first = await purse.buy(operation, body, 1, optional)
  if (first.state !== 'answered') return leftOf(question)
  if (isOfOthers(question, first)) {
    purse.fail(
      `${operation} answered with rows of companies that were not asked for: its filter has no effect`,
    )
    return leftOf(question)
  }
  const pages: { call: PlannedCall; fact: Fact }[] = [first]
  const total = pageOf(first.call, first.fact)?.total ?? 0
  const size = pageOf(first.call, first.fact)?.arrived || purse.pageSize
  const last = Math.ceil(total / size)
  if (purse.lastPage !== undefined && last > purse.lastPage) {
    const halves = halvesOf(question)
    if (!halves) {
      const [{ connector, entity, recordId } = question.accounts[0]!] = question.accounts
      purse.report(
        `${operation}: ${connector}:${entity}:${recordId} has ${total} rows, and the service answers ${purse.lastPage} pages of ${size}; nothing is concluded from a part, so it stays due`,
      )
      return leftOf(question)
    }
    const [one, other] = [await ask(asked, halves[0]), await ask(asked, halves[1])]
    return {
      checked: one.checked + other.checked,
      left: one.left + other.left,
      signals: one.signals + other.signals,
      isAttributed: one.isAttributed && other.isAttributed,
    }
  }
  for (let page = 2; page <= last && !reaches(question, pages); page += 1) {
    const next = await purse.buy(operation, body, page, optional)
    if (next.state !== 'answered') return leftOf(question)
    pages.push(next)
  }
  const rows = pages.flatMap(({ call, fact }) => pageOf(call, fact)?.rows ?? [])
  // In another order than the one that was asked for every page was read, so that all is there.
  const isPart = question.type === 'expansion' && !question.isWhole && areNewestFirst(rows)
  const isWhole = question.isWhole || (question.type === 'expansion' && !isPart)
  const read = rows.map((row) => readRow(question.type, row))
  // Rows from before are on the page because of other accounts: what is known of one does not depend on those beside it.
  const given = rowsOfAccounts(
    question,
    isPart ? read.filter((_, at) => lastDayOf(rows[at]!)! >= question.from!) : read,
  )
  const { capAtomic = 0n, priceAtomic = capAtomic } = first.call
  await takeChecks(context.database.db, {
    pipeline,
    type: question.type,
    at: context.now(),
    isWhole,
    from: question.isWhole ? question.from : undefined,
    lookupKey: first.call.key,
    priceAtomic: ((priceAtomic ?? 0n) * BigInt(pages.length)) / BigInt(question.accounts.length),
    checks: question.accounts.map(({ id }, at) => ({
      accountId: id,
      rows: given[at] ?? [],
      isMatched: true,
    })),
  })
  return {
    checked: question.accounts.length,
    left: 0,
    signals: read.length,
    isAttributed: read.length > 0 && read.every(({ serviceId }) => serviceId !== null),
  }
}

/** The order of market entries is shown of another search of the service. Where it has no effect, all pages are read. */
const optional = ['sort_by']

/** True once the rows that are the newest first have come to the day from which on a question asks. */
function reaches(
  { type, isWhole, from }: Question,
  pages: readonly { call: PlannedCall; fact: Fact }[],
): boolean {
  if (type !== 'expansion' || isWhole || from === undefined) return false
  const rows = pages.flatMap(({ call, fact }) => pageOf(call, fact)?.rows ?? [])
  const oldest = rows.at(-1)
  return oldest !== undefined && areNewestFirst(rows) && lastDayOf(oldest)! < from
}

function areNewestFirst(rows: readonly Readonly<Record<string, unknown>>[]): boolean {
  const days = rows.map(lastDayOf)
  return days.every((day, at) => day !== undefined && (at === 0 || day <= days[at - 1]!))
}

/** Returns the day of the last signal of a market entry. */
function lastDayOf(row: Readonly<Record<string, unknown>>): string | undefined {
  return readRow('expansion', row).seenAt?.toISOString().slice(0, 10)
}

/** True for a page of another search than the one that was asked for: its other pages would be bought for nothing. */
function isOfOthers(
  { type, accounts }: Question,
  { call, fact }: { call: PlannedCall; fact: Fact },
): boolean {
  const asked = new Set(accounts.map(({ serviceId }) => serviceId))
  return (pageOf(call, fact)?.rows ?? []).some((row) => {
    const { serviceId } = readRow(type, row)
    return serviceId !== null && !asked.has(serviceId)
  })
}

function leftOf({ accounts }: Question): Asked {
  return { checked: 0, left: accounts.length, signals: 0, isAttributed: false }
}

/** Returns the rows of each account. A row that names no company belongs to the one account that was asked for, and else to none. */
function rowsOfAccounts({ accounts }: Question, rows: readonly ReadRow[]): ReadRow[][] {
  const only = accounts.length === 1
  return accounts.map(({ serviceId }) =>
    rows.filter((row) => (row.serviceId === null ? only : row.serviceId === serviceId)),
  )
}

/**
 * Returns how many accounts go into one search of each type: many once an answer has shown that its rows name their company, until then
 * one.
 */
export async function togetherOf(
  { database: { db }, config }: Pick<Context, 'database' | 'config'>,
  types: readonly SignalType[],
): Promise<Map<SignalType, number>> {
  const sizes = new Map<SignalType, number>()
  for (const type of types) {
    const { at } = config.catalogue.of(searches[type]).answer
    const seen = await observations(db, searches[type])
    const isConfirmed = seen.some(({ path }) => path === `${at.value}[].domain_search_id`)
    sizes.set(type, isConfirmed ? mostTogether : 1)
  }
  return sizes
}
