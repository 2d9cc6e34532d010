import type { FieldWrite } from '../../store/writes/written-fields.ts'
import type { Context } from '../context/context.ts'

const pageSize = 100

/** Yields what the run wrote, or was about to write, some records at a time, until it is interrupted. */
export async function* writesToUndo(
  fieldWrites: Context['fieldWrites'],
  runId: string,
  { plan, field, signal }: { plan: boolean; field?: string | undefined; signal: AbortSignal },
): AsyncGenerator<FieldWrite[]> {
  // A plan changes nothing: it reads the open intents where they are, and an undo makes rows of them.
  const open = plan ? await fieldWrites.openOfRun(runId) : []
  if (!plan) await fieldWrites.unpackIntents(runId)
  let after = ''
  while (!signal.aborted) {
    const records = await fieldWrites.recordsOf(runId, after, pageSize)
    const last = records.at(-1)
    if (last === undefined) break
    after = last
    const writes = await fieldWrites.ofRun(runId, records, field)
    if (writes.length > 0) yield writes
  }
  const meant = open.filter((write) => field === undefined || write.field === field)
  if (meant.length > 0 && !signal.aborted) yield meant
}
