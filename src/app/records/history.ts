import { definitionOf } from '../../connectors/definitions.ts'
import { entitiesNamed, objectNamed } from '../../domain/entity-names.ts'
import { ConfigError } from '../../domain/errors.ts'
import { formatUsd } from '../../domain/money.ts'
import type { FieldValue, Patch } from '../../domain/record.ts'
import type { TaskKind, TaskStatus } from '../../domain/words.ts'
import type { FieldWriteState } from '../../store/database/tables/states.ts'
import { originsOf, type RecordOrigin } from '../../store/views/list-results.ts'
import { paidByRuns } from '../../store/views/record-lookups.ts'
import { tasksOfRecord, type NamedRecord, type RecordTask } from '../../store/views/record-tasks.ts'
import { sourceOf } from '../../workers/write/field-source.ts'
import type { Context } from '../context/context.ts'
import { refusalWords } from '../../domain/mapping/refusal-words.ts'

interface HistoryField {
  field: string
  /** null: it was blank. */
  old: FieldValue | null
  /** "" where the field was cleared; null: the subject was forgotten. */
  new: FieldValue | null
  lookup: string | null
  price: string
  currency: 'USD' | 'credit'
  run: string
  state: FieldWriteState
  /** Why the value was left out of the record, in words; null for a value that was not. */
  reason: string | null
  at: Date | null
  undoneAt: Date | null
}

interface HistoryTask {
  run: string
  kind: TaskKind
  status: TaskStatus
  reason: string | null
  at: Date
  /** The file that the run read. The same line of another file is another record. */
  file?: string | undefined
  /** The values in the output of a file's run: no field of the file itself was written. Absent for a CRM. */
  output?: Record<string, FieldValue>
  /** The same by the lookup that told it, with what the run paid for that lookup. */
  sources?: FileSource[]
}

interface FileSource {
  lookup: string | null
  /** Zero where the ledger had the answer already. Rows of one subject share a lookup, which was paid once. */
  price: string
  currency: 'USD' | 'credit'
  /** `had`: the row had a value of its own, which stays; the new one is in a column beside it. */
  fields: { field: string; had: boolean; new: FieldValue }[]
}

/** The row of a list of which a record was made. */
export interface HistoryOrigin {
  run: string
  list: string
  /** null: it is not known any more. */
  page: number | null
  /** The lookup that bought the page. */
  lookup: string | null
  /** The price of the whole page, which all of its rows share. */
  price: string
  currency: 'USD' | 'credit'
  at: Date | null
  /** An undo has taken it back. */
  isArchived: boolean
}

export interface RecordHistory {
  connector: string
  object: string
  id: string
  fields: HistoryField[]
  tasks: HistoryTask[]
  /** Absent for a record that Paydirt did not make. */
  made?: HistoryOrigin | undefined
  /** The ids of records that were merged into this one: their fields and tasks are among those above. */
  mergedFrom: string[]
  /** The record that this one was merged into, where that is known. */
  mergedInto: string | null
}

export interface RecordName {
  connector: string
  object: string
  id: string
}

/** Reads `hubspot:contact:123`, `salesforce:Lead:00Q...` or, by object, `hubspot:company:123`. */
export function readRecordName(text: string): RecordName {
  const match = /^([^:]+):([^:]+):(.+)$/s.exec(text)
  if (!match)
    throw new ConfigError('bad_record', 'a record is named CONNECTOR:OBJECT:ID, as in hubspot:contact:123')
  const [, connector = '', object = '', id = ''] = match
  return { connector, object, id }
}

function entitiesMeant(connector: string, object: string): string[] {
  const known = entitiesNamed(definitionOf(connector).entities, object)
  // The ledger may name an entity that the connector has no more.
  return known.length > 0 ? known : [object]
}

/** Returns the record that a name means, for the queries of the ledger: also under the ids that were merged into it. */
export function recordMeant(
  { connector, object, id }: RecordName,
  mergedFrom: readonly string[],
): NamedRecord {
  const kind = objectNamed(object)
  const ids = [definitionOf(connector).canonicalId(id), ...mergedFrom]
  return kind === undefined
    ? { connector, ids, entities: entitiesMeant(connector, object) }
    : { connector, ids, object: kind }
}

/** Returns what the ledger knows about one record, or of one run about it: the fields written, and the result of each run. */
export async function historyOf(
  { database, fieldWrites }: Pick<Context, 'database' | 'fieldWrites'>,
  { connector, object, id: given, run }: RecordName & { run?: string | undefined },
): Promise<RecordHistory> {
  const isMeant = (runId: string) => run === undefined || run === runId
  const { canonicalId, capabilities } = definitionOf(connector)
  const id = canonicalId(given)
  const named = entitiesMeant(connector, object)
  const mergedFrom = (await fieldWrites.earlierIds(connector, named, [id])).get(id) ?? []
  const mergedInto = await fieldWrites.mergedInto(connector, named, id)
  const found = await tasksOfRecord(database.db, recordMeant({ connector, object, id }, mergedFrom))
  const tasks = found.filter((task) => isMeant(task.run))
  const paid = capabilities.keepsValues
    ? []
    : await paidByRuns(
        database.db,
        tasks.map((task) => task.run),
        tasks.flatMap(({ steps }) => steps),
      )
  const entities = [...new Set(tasks.map(({ entity }) => entity))]
  const writes =
    entities.length > 0 ? await fieldWrites.ofRecords(connector, entities, [id, ...mergedFrom]) : []
  const [origin] = await originsOf(database.db, { connector, entities, ids: [id, ...mergedFrom] })
  return {
    connector,
    object,
    id,
    made: origin && isMeant(origin.run) ? madeFrom(origin) : undefined,
    fields: writes
      .filter(({ runId }) => isMeant(runId))
      .map((write) => ({
        field: write.field,
        old: write.old,
        new: write.new,
        lookup: write.lookupKey,
        price: formatUsd(write.priceAtomic),
        currency: write.currency ?? 'USD',
        run: write.runId,
        state: write.state,
        reason: write.state === 'rejected' ? refusalWords(write.code ?? 'refused') : null,
        at: write.writtenAt,
        undoneAt: write.undoneAt,
      })),
    tasks: tasks.map((task) => ({
      run: task.run,
      kind: task.kind,
      status: task.status,
      reason: task.reason,
      at: task.at,
      file: task.file ?? undefined,
      ...(capabilities.keepsValues || task.status !== 'written'
        ? {}
        : { output: valuesOf(task.patch ?? {}), sources: sourcesOf(task, paid) }),
    })),
    mergedFrom,
    mergedInto,
  }
}

function madeFrom({ state, amountAtomic, ...origin }: RecordOrigin): HistoryOrigin {
  return { ...origin, price: formatUsd(amountAtomic), isArchived: state === 'archived' }
}

function sourcesOf(
  { run, entity, patch, steps, closed }: RecordTask,
  paid: Awaited<ReturnType<typeof paidByRuns>>,
): FileSource[] {
  const sources = new Map<string | null, FileSource>()
  for (const [field, value] of Object.entries(valuesOf(patch ?? {}))) {
    const lookup = sourceOf(field, objectNamed(entity) ?? 'company', steps)
    const bought = paid.find((each) => each.run === run && each.key === lookup)
    const source = sources.get(lookup) ?? {
      lookup,
      price: formatUsd(bought?.amountAtomic ?? 0n),
      currency: bought?.currency ?? 'USD',
      fields: [],
    }
    source.fields.push({ field, had: closed?.[field] === 'filled', new: value })
    sources.set(lookup, source)
  }
  return [...sources.values()]
}

function valuesOf(patch: Patch): Record<string, FieldValue> {
  return Object.fromEntries(
    Object.entries(patch).flatMap(([field, change]) => ('set' in change ? [[field, change.set]] : [])),
  )
}
