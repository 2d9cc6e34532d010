import type { Connector } from '../../../connectors/connector.ts'
import type { RecordMaker } from '../../../connectors/creating.ts'
import type { PlannedRow } from '../../../store/lists/planned-rows.ts'
import type { Plan } from '../../../store/plans/plans.ts'
import type { ListSettings } from '../../config/lists.ts'
import type { Context } from '../../context/context.ts'
import { judgeLive } from '../judging/judge-live.ts'
import { rowOfPlan } from '../judging/row-of-plan.ts'

/**
 * Returns a function that judges rows of a plan once more, against the CRM as it is now, and returns why nothing is bought for those of
 * which no record is made any more. A record that exists is still looked up where the list updates it. Suppressed rows are left to the
 * run itself, which keeps nothing of them.
 */
export function leftRows(
  context: Context,
  connector: Connector & { maker: RecordMaker },
  { object }: Pick<Plan, 'object'>,
  settings: ListSettings,
): (rows: readonly PlannedRow[]) => Promise<Map<number, string>> {
  const { entity, update } = settings.into
  return async (rows) => {
    const judged = await judgeLive(
      context,
      connector,
      settings,
      rows.map((row) => rowOfPlan(object, row)),
    )
    const left = new Map<number, string>()
    judged.forEach(({ verdict, reason, records }, at) => {
      const isUpdated = verdict === 'exists' && update && records.some((each) => each.entity === entity)
      if (verdict === 'new' || verdict === 'suppressed' || isUpdated) return
      left.set(rows[at]!.ordinal, `${verdict}: ${reason}`)
    })
    return left
  }
}
