import { describeError, PaydirtError } from '../../../domain/errors.ts'
import type { Verdict } from '../../../domain/words.ts'
import type { ListView } from '../../../http/desk/model/lists/lists-port.ts'
import { spendOnLookups } from '../../../store/views/record-lookups.ts'
import type { Context } from '../../context/context.ts'
import { indexOfList } from '../../lists/judging/judge-list.ts'
import { listMonth } from '../../money/list-months.ts'
import { callOf, listCalls, listNamed, type ListCalls } from '../../lists/pages/list-calls.ts'
import { readList, type ReadList } from '../../lists/pages/read-list.ts'
import type { JudgedLists, Verdicted } from './judged-lists.ts'

const noSpend = { settledAtomic: 0n, inDoubtAtomic: 0n, lostAtomic: 0n, creditsAtomic: 0n }

/** Reads a list as far as the ledger has it. Settings that allow no search are its problem, and no other list's. */
export async function readListView(context: Context, judged: JudgedLists, name: string): Promise<ListView> {
  const { search, into } = listNamed(context.config, name)
  const base: ListView = {
    name,
    search,
    connector: into.connector,
    entity: into.entity,
    total: null,
    reachable: null,
    rows: 0,
    pages: 0,
    isComplete: false,
    isCurrent: false,
    startedAt: null,
    dropped: {},
    moved: 0,
    faults: [],
    parts: [],
    verdicts: {},
    spend: noSpend,
    month: await listMonth(context, name),
    indexIsComplete: (await indexOfList(context, { into }))?.isComplete ?? false,
  }
  try {
    const calls = await listCalls(context, name, { asks: false })
    const list = await readList(context, calls)
    const { fetch, total, reachable, rows, pages, isComplete, isCurrent, dropped, moved, faults } = list
    const rowsOfFetch = fetch ? await judged.of(calls, fetch) : []
    return {
      ...base,
      total,
      reachable,
      rows,
      pages,
      isComplete,
      isCurrent,
      dropped,
      moved,
      faults,
      startedAt: fetch?.startedAt ?? null,
      parts: list.parts.map((part) => ({
        name: part.name,
        total: part.total,
        pages: part.pages,
        rows: part.arrived,
        cutAt: part.cut?.page ?? null,
      })),
      verdicts: rowsOfFetch && countsOf(rowsOfFetch),
      spend: await spendOnLookups(context.database.db, await keysOf(context, calls, list)),
    }
  } catch (error) {
    if (!(error instanceof PaydirtError)) throw error
    return { ...base, problem: describeError(error) }
  }
}

function countsOf(rows: readonly Verdicted[]): Partial<Record<Verdict, number>> {
  const counts: Partial<Record<Verdict, number>> = {}
  for (const { verdict } of rows) counts[verdict] = (counts[verdict] ?? 0) + 1
  return counts
}

/** The lookups of its pages, also of those that were bought before the last fetch began. */
async function keysOf(context: Context, calls: ListCalls, { parts }: ReadList): Promise<string[]> {
  const { companies } = calls
  const ofCompanies = companies
    ? await keysOf(context, companies.calls, await readList(context, companies.calls))
    : []
  const own = parts.flatMap(({ pages }, part) =>
    Array.from({ length: pages }, (_, at) => callOf(calls, part, at + 1).key),
  )
  return [...ofCompanies, ...own]
}
