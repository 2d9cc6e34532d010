import type { StoredRow } from '../../../domain/lists/list-row.ts'
import type { JudgedRow } from '../../../domain/lists/judged-row.ts'
import { createListRows } from '../../../store/lists/list-rows.ts'
import { objectOfList } from '../../config/lists.ts'
import type { Context } from '../../context/context.ts'
import { judgedRowsOf } from '../../lists/judging/judged-rows.ts'
import type { ListCalls } from '../../lists/pages/list-calls.ts'
import type { ListFetch } from '../../../store/lists/list-fetches.ts'
import { moduleLog } from '../../context/log.ts'

/** Verdicts are as old as this at most: records of the CRM and answers from elsewhere change them. */
const longestFreshMs = 20_000
/** Verdicts are kept for so many times as long as comparing took, so that pages that are loaded often do not compare all the time. */
const freshForEachMs = 20
/** A page does not wait longer: it shows what was known before, or that rows are being compared. */
const patienceMs = 2_500
/** Rows so close together are read at once. */
const mostAtOnce = 200

/** A row with its verdict, without its values: of a long list only these are remembered. */
export type Verdicted = Omit<JudgedRow, 'row'>

export interface JudgedLists {
  /** Returns the rows of a fetch in order. Undefined while they are compared for the first time. */
  of(calls: ListCalls, fetch: ListFetch): Promise<readonly Verdicted[] | undefined>
  /** Adds their values to rows. A row that was erased meanwhile is left out. */
  withValues(calls: ListCalls, fetch: ListFetch, rows: readonly Verdicted[]): Promise<JudgedRow<StoredRow>[]>
  /** Compares every list anew: an answer of one list holds for others. */
  forget(): void
}

interface Reading {
  fetchId: string
  stored: number
  freshUntilMs: number
  rows: readonly Verdicted[]
}

/** Remembers the verdicts on the rows of lists for a moment, so that each page of a long list does not compare all of it again. */
export function createJudgedLists(context: Context, signal: AbortSignal): JudgedLists {
  const known = new Map<string, Reading>()
  const atWork = new Map<string, Promise<void>>()
  let era = 0

  async function read(calls: ListCalls, { id, stored }: ListFetch): Promise<void> {
    const [began, beganMs] = [era, performance.now()]
    const rows: Verdicted[] = []
    for await (const batch of judgedRowsOf(context, calls, id)) {
      if (signal.aborted) return
      for (const { row: _, ...verdict } of batch) rows.push(verdict)
    }
    const endedMs = performance.now()
    const freshUntilMs = endedMs + Math.min(longestFreshMs, (endedMs - beganMs) * freshForEachMs)
    if (began === era) known.set(calls.name, { fetchId: id, stored, freshUntilMs, rows })
  }

  return {
    async of(calls, fetch) {
      const last = known.get(calls.name)
      const isOfFetch = last?.fetchId === fetch.id && last.stored === fetch.stored
      if (last && isOfFetch && performance.now() < last.freshUntilMs) return last.rows
      const work = atWork.get(calls.name) ?? read(calls, fetch).finally(() => atWork.delete(calls.name))
      atWork.set(calls.name, work)
      const isLate = await Promise.race([
        work.then(() => false),
        new Promise<boolean>((resolve) => void setTimeout(resolve, patienceMs, true).unref()),
      ])
      // It fails after its reader has left, too.
      if (isLate)
        work.catch((error: unknown) =>
          moduleLog(context.log, 'web').debug({ error }, 'a list could not be compared'),
        )
      return known.get(calls.name)?.rows
    },

    async withValues({ settings }, fetch, rows) {
      const stored = createListRows(context.database.db)
      const object = objectOfList(settings)
      const [first, last] = [rows[0]?.ordinal ?? 0, rows.at(-1)?.ordinal ?? 0]
      const read = (from: number, count: number) => stored.after(fetch.id, object, from - 1, count)
      const found =
        last - first < mostAtOnce
          ? await read(first, last - first + 1)
          : (await Promise.all(rows.map(({ ordinal }) => read(ordinal, 1)))).flat()
      const byOrdinal = new Map(found.map((row) => [row.ordinal, row]))
      return rows.flatMap((verdict) => {
        const row = byOrdinal.get(verdict.ordinal)
        return row ? [{ ...verdict, row }] : []
      })
    },

    forget() {
      era += 1
      known.clear()
      atWork.clear()
    },
  }
}
