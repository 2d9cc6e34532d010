import { countedRows, newPart, pagesLeft, sumOf } from '../../../domain/lists/list-parts.ts'
import type { ListQuote } from '../../../http/desk/model/lists/list-actions.ts'
import type {
  ListsPort,
  PlanFigures,
  PlannedList,
  ShownRow,
} from '../../../http/desk/model/lists/lists-port.ts'
import { fetchesOf, runsOfList } from '../../../store/lists/list-history.ts'
import { knownIdentities } from '../../../store/lists/known-identities.ts'
import { createPlannedRows } from '../../../store/lists/planned-rows.ts'
import { createReviews } from '../../../store/lists/reviews.ts'
import { createPlanLedger } from '../../../store/plans/plans.ts'
import type { Context } from '../../context/context.ts'
import { newPlanId } from '../../context/new-id.ts'
import { reviewedObject } from '../../lists/judging/answers-to.ts'
import { answerRow, forgetAnswer } from '../../lists/review/answer-row.ts'
import { rowKey } from '../../lists/review/row-key.ts'
import { identityWords, isWaiting } from '../../lists/review/waiting-rows.ts'
import { boundsOf, callOf, listCalls, listNamed, type ListCalls } from '../../lists/pages/list-calls.ts'
import { readList } from '../../lists/pages/read-list.ts'
import { createJudgedLists, type Verdicted } from './judged-lists.ts'
import { createListJobs } from './list-jobs.ts'
import { readListView } from './list-view.ts'

const rowsPerPage = 25
const answersShown = 25
const fetchesShown = 10
const runsShown = 10
const recordsShown = 5

export interface DeskLists extends ListsPort {
  /** Resolves when no action is at work any more. */
  idle(): Promise<void>
}

/** The lists of the settings for the desk. */
export function createDeskLists(context: Context, signal: AbortSignal): DeskLists {
  const { config, database } = context
  const { db } = database
  const judged = createJudgedLists(context, signal)
  const jobs = createListJobs(context, signal, () => judged.forget())

  /** Returns a page of the rows that are wanted. Undefined while they are compared. */
  async function pageOf(name: string, wanted: (row: Verdicted) => boolean, page: number) {
    const calls = await listCalls(context, name, { asks: false })
    const { fetch } = await readList(context, calls)
    const all = fetch ? await judged.of(calls, fetch) : []
    if (!all) return undefined
    const chosen = all.filter(wanted)
    const pages = Math.max(1, Math.ceil(chosen.length / rowsPerPage))
    const shown = Math.min(Math.max(1, page), pages)
    const part = chosen.slice((shown - 1) * rowsPerPage, shown * rowsPerPage)
    const found = fetch ? await judged.withValues(calls, fetch, part) : []
    const rows = found.map((each): ShownRow => ({ ...each, key: rowKey(each.row, calls.settings.search) }))
    return { rows, page: shown, pages, total: chosen.length }
  }

  return {
    names: () => Object.keys(config.lists),
    newPlanId: () => newPlanId(context),

    async read(name) {
      return Object.hasOwn(config.lists, name) ? readListView(context, judged, name) : undefined
    },

    rows: (name, { verdict, page }) =>
      pageOf(name, (row) => verdict === undefined || row.verdict === verdict, page),

    async waiting(name, wanted) {
      const { into } = listNamed(config, name)
      const found = await pageOf(name, isWaiting, wanted)
      if (!found) return undefined
      const { rows, ...place } = found
      const known = await knownIdentities(
        db,
        reviewedObject(into),
        rows.flatMap(({ records }) => records.map(({ recordId }) => recordId)),
      )
      return {
        ...place,
        rows: rows.map((row) => ({
          row,
          records: row.records.map((record) => ({
            ...record,
            known: identityWords(known.get(record.recordId) ?? []),
          })),
        })),
        answers: await createReviews(db, reviewedObject(into), context).ofList(name, answersShown),
      }
    },

    async answer(name, given) {
      const answered = await answerRow(context, name, given)
      judged.forget()
      return answered
    },

    async forgetAnswer(name, key) {
      const { answer } = await forgetAnswer(context, name, key)
      judged.forget()
      return { answer }
    },

    async history(name) {
      const fetches = await fetchesOf(db, name, fetchesShown)
      return {
        fetches: fetches.map((fetch) => ({ ...fetch, pages: sumOf(fetch.parts, ({ pages }) => pages) })),
        runs: await runsOfList(db, name, runsShown),
      }
    },

    async quote(name): Promise<ListQuote> {
      const calls = await listCalls(context, name, { asks: false })
      const { isCurrent, parts, pages, total, reachable } = await readList(context, calls)
      const bounds = boundsOf(calls)
      const isUnasked = calls.companies !== undefined && calls.parts.length === 0
      const open = isCurrent ? parts : calls.parts.map(({ name: part }) => newPart(part))
      const byTotal = open.map((part) => pagesLeft(part, bounds))
      const left = [
        ...(byTotal.includes(null) ? [] : [sumOf(byTotal, (each) => each ?? 0)]),
        // The first page of each part is bought whatever the others have brought.
        ...(bounds.limit === undefined
          ? []
          : [Math.ceil((bounds.limit - countedRows(open)) / bounds.pageSize) + open.length - 1]),
      ]
      const wanted = total === null ? 0 : Math.min(total, bounds.limit ?? total)
      return {
        pageAtomic: capOf(calls),
        // The companies tell how many questions there are.
        pagesLeft: isUnasked ? null : left.length > 0 ? Math.max(0, Math.min(...left)) : null,
        hasFirst: pages > 0 && isCurrent,
        budgetAtomic: calls.settings.budgetUsd,
        outside: Math.max(0, wanted - (reachable ?? wanted)),
      }
    },

    start: jobs.start,
    job: jobs.of,
    idle: jobs.idle,

    async plan(name, planId): Promise<PlannedList | undefined> {
      const plan = await createPlanLedger(db, context).get(planId)
      if (!plan || plan.kind !== 'list' || plan.job['list'] !== name) return undefined
      const run = plan.runId === null ? undefined : await context.runs.get(plan.runId)
      const rows = await createPlannedRows(db).after(planId, 0, recordsShown)
      return {
        id: plan.id,
        list: name,
        madeAt: plan.madeAt,
        connector: plan.connector,
        entity: plan.entity,
        figures: plan.document['plan'] === true ? (plan.document as unknown as PlanFigures) : undefined,
        runId: plan.runId ?? undefined,
        isDone: run?.state === 'finished',
        mostAtomic: plan.highAtomic,
        first: rows.map(({ values }) => values),
      }
    },
  }
}

/** Returns the cap of a page. Undefined: nobody knows the price, or there is nothing to ask for. */
function capOf(calls: ListCalls): ListQuote['pageAtomic'] {
  return calls.parts.length === 0 && !calls.companies ? undefined : callOf(calls).capAtomic
}
