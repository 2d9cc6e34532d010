import type { Connector } from '../../../connectors/connector.ts'
import type { RecordMaker } from '../../../connectors/creating.ts'
import { firstCompanyPlace } from '../../../domain/lists/company-of-person.ts'
import type { PlannedRow, PlannedRows } from '../../../store/lists/planned-rows.ts'
import type { Plan } from '../../../store/plans/plans.ts'
import type { Context } from '../../context/context.ts'
import { judgeLive } from '../judging/judge-live.ts'
import { rowOfPlan } from '../judging/row-of-plan.ts'
import type { ListLookups } from './look-up-rows.ts'

const atOnce = 300

/**
 * Returns the keys of the companies that are to be made for people of a plan. A person who turned out to exist, or who lacks what the list
 * requires though it was bought, needs none; neither does one whose lookups wait, until they end.
 */
export async function neededCompanies(
  context: Context,
  connector: Connector & { maker: RecordMaker },
  { id, object }: Pick<Plan, 'id' | 'object'>,
  planned: Pick<PlannedRows, 'after'>,
  { settings, bought }: Pick<ListLookups, 'settings' | 'bought'>,
): Promise<Set<string>> {
  const needed = new Set<string>()
  for (let place = 0; ;) {
    const page = (await planned.after(id, place, atOnce)).filter(({ ordinal }) => ordinal < firstCompanyPlace)
    const last = page.at(-1)
    if (!last) return needed
    place = last.ordinal
    const tied = page.filter(({ company }) => company && 'key' in company && !needed.has(company.key))
    const rows = (await bought(tied)).filter(({ isSuppressed }) => !isSuppressed)
    const judged = await judgeLive(
      context,
      connector,
      settings,
      rows.map((row) => rowOfPlan(object, row)),
    )
    judged.forEach(({ verdict }, at) => {
      const key = verdict === 'new' ? keyOf(rows[at]) : undefined
      if (key !== undefined) needed.add(key)
    })
  }
}

function keyOf(row: PlannedRow | undefined): string | undefined {
  return row?.company && 'key' in row.company ? row.company.key : undefined
}
