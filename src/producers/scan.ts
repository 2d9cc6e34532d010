import type { Connector, ScanOptions, ScanPage } from '../connectors/connector.ts'
import { stop, type Stop } from '../domain/planning/step.ts'
import type { SourceRecord } from '../domain/record.ts'
import type { Advance } from '../planning/advance.ts'
import { beginTasks } from '../planning/begin-tasks.ts'
import type { ClosedFieldsFinder } from '../planning/closed-fields.ts'
import type { StepPlanner } from '../planning/step-planner.ts'
import type { LookupLedger } from '../store/ledger/lookups.ts'
import type { Run, RunLedger } from '../store/runs/runs.ts'
import type { TaskLedger } from '../store/runs/tasks.ts'

export interface ScanSettings {
  runs: Pick<RunLedger, 'get' | 'markScanned' | 'setClosed'>
  tasks: Pick<TaskLedger, 'insertPage' | 'firstOrdinals' | 'noteMerges'>
  lookups: Pick<LookupLedger, 'want' | 'facts'>
  planner: StepPlanner
  closedFields: ClosedFieldsFinder
  /** Absent for a plan: then tasks are stored, and no lookup is asked for. */
  advance?: Pick<Advance, 'advanceTasksWaitingFor'>
  onPage?: (records: number) => void
}

/**
 * Reads a connector page by page into tasks, and asks for the lookups that they need. A page and its watermark are stored
 * together, so a scan that is interrupted continues after its last page. Returns the number of records of the run.
 */
export async function scan(
  run: Run,
  connector: Connector,
  settings: ScanSettings,
  source: ScanOptions = {},
): Promise<number> {
  // The caller's copy of the run may be older than an interrupted scan of it.
  const stored = await settings.runs.get(run.id)
  let records = stored?.records ?? 0
  if (stored?.scannedAt) return records
  const after = stored?.watermark ?? source.after
  const limit = source.limit === undefined ? undefined : source.limit - records
  if (limit === undefined || limit > 0) {
    const options = { ...source, ...(after ? { after } : {}), ...(limit === undefined ? {} : { limit }) }
    for await (const page of connector.scan(run.entity, options)) {
      await storePage(run, connector, page, records, settings)
      records += page.records.length
      settings.onPage?.(records)
      if (source.signal?.aborted) return records
    }
  }
  if (!source.signal?.aborted) await settings.runs.markScanned(run.id)
  return records
}

async function storePage(
  run: Run,
  connector: Connector,
  page: ScanPage,
  before: number,
  settings: ScanSettings,
): Promise<void> {
  const { runs, tasks, planner, closedFields, lookups, advance } = settings
  const { records, watermark, ownWrites } = page
  // First of all: the history of a record includes what was written under the ids that it had before.
  const merges = records.flatMap(({ id: into, mergedIds = [] }) => mergedIds.map((id) => ({ id, into })))
  if (merges.length > 0) await tasks.noteMerges(run.connector, run.entity, merges)
  await beginTasks(
    run,
    records.map((record, index) => ({
      ...record,
      ordinal: before + index + 1,
      ended: endOfRecord(record, ownWrites),
    })),
    {
      connector,
      planner,
      closedFields,
      runs,
      lookups,
      advance,
      firstOrdinals: (keys) => tasks.firstOrdinals(run.id, keys),
      store: (begun) =>
        tasks.insertPage(
          run.id,
          begun.map((task, index) => ({
            ...task,
            ordinal: before + index + 1,
            recordId: records[index]?.id ?? '',
          })),
          watermark,
        ),
    },
  )
}

function endOfRecord(
  { id, unreadable, gone }: SourceRecord,
  ownWrites: ReadonlySet<string> | undefined,
): Stop | undefined {
  // Its last change was our own: looking it up again would only find what we wrote.
  if (ownWrites?.has(id)) return stop('unchanged', 'our own write')
  if (gone !== undefined) return stop('skipped', gone)
  return unreadable === undefined ? undefined : stop('rejected', unreadable)
}
