import { parseUsd } from '../../domain/money.ts'
import type { RecordName, RecordTimeline } from '../../http/desk/model/record-timeline.ts'
import { lookupsWithCharges } from '../../store/views/record-lookups.ts'
import type { Context } from '../context/context.ts'
import { tasksOfRecord } from '../../store/views/record-tasks.ts'
import { recordMeant } from '../records/history.ts'
import { lookupsOfRecord } from '../records/record-lookups.ts'

/** Returns a record's history, and the lookups behind it with every attempt to pay for them. */
export async function timelineOf(
  context: Pick<Context, 'database' | 'fieldWrites'>,
  name: RecordName,
): Promise<RecordTimeline> {
  const { db } = context.database
  const { history, steps, keys, spend } = await lookupsOfRecord(context, name)
  const tasks = await tasksOfRecord(db, recordMeant(name, history.mergedFrom))
  return {
    ...name,
    id: history.id,
    tasks: tasks.map((task) => ({
      ...task,
      lookups: [...new Set(steps.flatMap(({ run, lookups }) => (run === task.run ? lookups : [])))],
    })),
    lookups: await lookupsWithCharges(db, keys),
    mergedFrom: history.mergedFrom,
    mergedInto: history.mergedInto,
    spend,
    fields: history.fields.map(({ price, ...field }) => ({ ...field, priceAtomic: parseUsd(price) })),
  }
}
