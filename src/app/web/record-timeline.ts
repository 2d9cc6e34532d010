import { parseUsd } from '../../domain/money.ts'
import type { RecordName, RecordTimeline } from '../../http/desk/model/record-timeline.ts'
import { lookupsOfTasks, lookupsWithCharges } from '../../store/views/record-lookups.ts'
import type { Context } from '../context/context.ts'
import { historyOf } from '../records/history.ts'

/** Returns a record's history, and the lookups behind it with every attempt to pay for them. */
export async function timelineOf(
  context: Pick<Context, 'database' | 'fieldWrites'>,
  name: RecordName,
): Promise<RecordTimeline> {
  const { db } = context.database
  const history = await historyOf(context, name)
  const ids = [name.id, ...history.mergedFrom]
  const steps = (await Promise.all(ids.map((id) => lookupsOfTasks(db, { ...name, id })))).flat()
  const keys = new Set([
    ...steps.flatMap(({ lookups }) => lookups),
    ...history.fields.flatMap(({ lookup }) => lookup ?? []),
  ])
  return {
    ...name,
    tasks: history.tasks.map((task) => ({
      ...task,
      lookups: [...new Set(steps.flatMap(({ run, lookups }) => (run === task.run ? lookups : [])))],
    })),
    lookups: await lookupsWithCharges(db, [...keys]),
    fields: history.fields.map(({ price, ...field }) => ({ ...field, priceAtomic: parseUsd(price) })),
  }
}
