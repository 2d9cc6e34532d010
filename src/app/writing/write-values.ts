import type { Connector } from '../../connectors/connector.ts'
import { ConfigError } from '../../domain/errors.ts'
import { sameValue } from '../../domain/field-policy/same-value.ts'
import { clearedValue, type BlockedValue } from '../../domain/field-policy/blocked-values.ts'
import { observedRecipeName } from '../../domain/planning/recipes.ts'
import type { FieldValue, Patch } from '../../domain/record.ts'
import { openReadyRun, type ReadyRow } from '../../store/writes/ready-run.ts'
import { ruleOf } from '../config/policies.ts'
import type { Context } from '../context/context.ts'
import { newRunId } from '../context/new-id.ts'
import { prepareWriting } from '../runs/preflight.ts'
import type { Progress } from '../runs/run-progress.ts'
import { runToEnd, type RunEnd } from '../runs/run-to-end.ts'
import { writableFields } from './writable-fields.ts'

export interface ValuesToWrite {
  entity: string
  /** The word for what began the run: `signals`, `champions`. */
  trigger: string
  /** The subject of the run, as its page shows it; the same for every run of one pipeline. */
  source: Readonly<Record<string, unknown>>
  rows: readonly ReadyRow[]
}

export interface WriteValuesOptions {
  signal: AbortSignal
  onProgress?: ((progress: Progress) => void) | undefined
  onNotice?: ((text: string) => void) | undefined
}

export interface WrittenValues {
  /** Undefined where there was nothing to write, and no run was opened. */
  runId: string | undefined
  /** Records by outcome; those that hold the values already were not read again. */
  written: number
  unchanged: number
  skipped: number
  rejected: number
  end: RunEnd
}

const pageSize = 500

/**
 * Writes values that were observed, and for which nothing is looked up, into records of a CRM: by the ordinary way of every write, so
 * that field policy, stamps, provenance, suppression, history and undo are those of a sync. Values that the ledger knows to be in the
 * record, or to be blocked there, are left out before anything is read: a repeat writes nothing, and opens no run.
 *
 * Crash windows:
 * - The run is not opened: nothing was written, and the next call computes the values again.
 * - The run is open: its tasks are ready and are written by any process that has the connector. The next call skips those of them that
 *   have sent nothing, and writes newer values in their place.
 * - A field was sent and not confirmed: the write's own windows (src/store/writes/field-writes.ts).
 */
export async function writeValues(
  context: Context,
  connector: Connector,
  values: ValuesToWrite,
  { signal, onProgress, onNotice }: WriteValuesOptions,
): Promise<WrittenValues> {
  const { entity, trigger, source, rows } = values
  const nothing = { runId: undefined, written: 0, unchanged: rows.length, skipped: 0, rejected: 0 }
  const changed = await changedRows(context, connector, values)
  if (changed.length === 0) return { ...nothing, end: 'finished' }
  const object = connector.entities[entity]
  if (object === undefined)
    throw new ConfigError('unknown_entity', `${connector.name} has no object ${entity}`)
  const fields = [...new Set(changed.flatMap(({ patch }) => Object.keys(patch)))]
  const { writable, notice } = await writableFields(connector, entity, fields)
  if (notice !== undefined) onNotice?.(notice)
  const ready = changed.flatMap((row) => narrowed(row, (field) => writable.has(field)))
  if (ready.length === 0) return { ...nothing, end: 'finished' }
  const prepared = await prepareWriting(context)
  const id = newRunId(context)
  const recipe = observedRecipeName
  const given = {
    id,
    connector: connector.name,
    object,
    entity,
    recipe,
    trigger,
    source,
    fingerprint: `${trigger}|${id}`,
  }
  await openReadyRun(context.database.db, given, ready, context.now())
  const run = await context.runs.get(id)
  if (!run) throw new Error(`run ${id} is not in the ledger`)
  const end = await runToEnd(context, { prepared, run, connector, signal, onProgress, onNotice })
  const { written, unchanged, skipped, rejected } = await context.tasks.counts(id)
  return { runId: id, written, unchanged: unchanged + rows.length - ready.length, skipped, rejected, end }
}

/** Returns the rows with the changes that the ledger does not know to be made, or blocked, already. */
async function changedRows(
  { fieldWrites, config }: Pick<Context, 'fieldWrites' | 'config'>,
  { name }: Connector,
  { entity, rows, trigger }: ValuesToWrite,
): Promise<ReadyRow[]> {
  const changed: ReadyRow[] = []
  for (let at = 0; at < rows.length; at += pageSize) {
    const page = rows.slice(at, at + pageSize)
    const ids = page.map(({ recordId }) => recordId)
    const { ours, blocked } = await fieldWrites.history(name, entity, ids, [])
    for (const row of page) {
      const wrote = ours.get(row.recordId) ?? {}
      const kept = (blocked.get(row.recordId) ?? []).filter(
        ({ field, why, rule }) =>
          why === 'rejected' || rule === ruleOf(config.policies, name, field, trigger),
      )
      changed.push(...narrowed(row, (field) => isNew(field, row.patch, wrote, kept)))
    }
  }
  return changed
}

function isNew(
  field: string,
  patch: Patch,
  wrote: Readonly<Record<string, FieldValue>>,
  blocked: readonly BlockedValue[],
): boolean {
  const change = patch[field]
  if (!change || 'restore' in change) return false
  const before = wrote[field] ?? clearedValue
  const value = 'clear' in change ? clearedValue : change.set
  // Only what we wrote is ever cleared, so a field that we never wrote to is as good as cleared.
  const isSame = (other: FieldValue) =>
    other === clearedValue || value === clearedValue ? other === value : sameValue(field, other, value)
  return !isSame(before) && !blocked.some((each) => each.field === field && isSame(each.value))
}

function narrowed(row: ReadyRow, keeps: (field: string) => boolean): ReadyRow[] {
  const patch: Patch = Object.fromEntries(Object.entries(row.patch).filter(([field]) => keeps(field)))
  return Object.keys(patch).length > 0 ? [{ ...row, patch }] : []
}
