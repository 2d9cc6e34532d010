import type { Connector } from '../../../connectors/connector.ts'
import { ConfigError, RetriableError } from '../../../domain/errors.ts'
import { counted } from '../../../domain/values/counted.ts'
import { createCreatedRecords } from '../../../store/lists/created-records.ts'
import { createPlannedRows } from '../../../store/lists/planned-rows.ts'
import { createPlanLedger, type Plan } from '../../../store/plans/plans.ts'
import type { CreatedState } from '../../../store/database/states.ts'
import { pause } from '../../../timing/pause.ts'
import type { Context } from '../../context/context.ts'
import { newRunId } from '../../context/new-id.ts'
import { indexAges } from '../../records/index-ages.ts'
import { makeReady } from '../../runs/sync.ts'
import { listNamed } from '../pages/list-calls.ts'
import { makeRecords, type MakeOptions, type OpenRow, type StillOpen } from './make-records.ts'
import { assertMaking, indexIncomplete, listRules } from './plan-list.ts'

export interface ApplyListOptions {
  connector: Connector
  signal: AbortSignal
  onProgress?: ((done: number, total: number) => void) | undefined
  /** The longest that it waits for another list, or for the CRM. */
  waitMs?: number | undefined
}

/** The result of a list's plan. Scripts rely on its form. */
export interface AppliedList {
  planId: string
  runId: string
  list: string
  connector: string
  entity: string
  created: number
  exists: number
  rejected: number
  /** Rows that are not new any more, or are suppressed, by the verdict in their reason. */
  left: number
  /** Rows that have not ended: the same command continues. */
  waiting: number
  end: 'finished' | 'parked' | 'interrupted'
  reason?: string
}

const usualWaitMs = 30_000
const pollMs = 250

/**
 * Makes the records of a list's plan, and no others. Each row is judged again first: a record that appeared since is left as it is.
 * Interrupted or killed, the same call continues the same run.
 */
export async function applyList(
  context: Context,
  plan: Plan,
  options: ApplyListOptions,
): Promise<AppliedList> {
  const list = String(plan.job['list'])
  const settings = listNamed(context.config, list)
  if (plan.job['rules'] !== listRules(context, settings))
    throw new ConfigError(
      'plan_drifted',
      `plan ${plan.id} is not carried out: lists.${list} or the mapping has changed since. Make a new plan.`,
    )
  const connector = assertMaking(options.connector, settings, list)
  const { entity } = settings.into
  const ages = await indexAges(context)
  if (!ages.some((age) => age.connector === connector.name && age.entity === entity && age.isComplete))
    throw indexIncomplete(settings)
  await makeReady(connector, [entity])
  await connector.ensureFields(entity, { dryRun: false, forCreating: true })
  const [problem] = (await connector.maker.check?.(entity)) ?? []
  if (problem) throw new ConfigError(problem.code, `${problem.message}. ${problem.todo}`)

  const { db } = context.database
  const { run } = await context.runs.open({
    id: newRunId(context),
    connector: connector.name,
    object: plan.object,
    entity,
    recipe: plan.recipe,
    trigger: 'list',
    fingerprint: `plan|${plan.id}`,
    source: { plan: plan.id, list, entity },
  })
  await createPlanLedger(db, context).setRun(plan.id, run.id)
  const created = createCreatedRecords(db, context)
  const making = { runId: run.id, list, connector: connector.name, entity }
  let end: Pick<AppliedList, 'end' | 'reason'> = { end: 'interrupted' }
  try {
    const rows = await createPlannedRows(db).all(plan.id)
    end = await makeAll(context, { making, settings, connector, created }, rows, options)
  } finally {
    const state = { finished: 'finished', parked: 'parked', interrupted: 'stopped' } as const
    await context.runs.setState(run.id, state[end.end])
  }
  const states = [...(await created.states(run.id)).values()]
  const count = (...wanted: CreatedState[]) => states.filter((state) => wanted.includes(state)).length
  const counts = {
    created: count('created', 'archived'),
    exists: count('exists'),
    rejected: count('rejected'),
    left: count('left'),
  }
  const total = Number(plan.document['creates'] ?? states.length)
  const waiting = end.end === 'finished' ? 0 : Math.max(0, total - (states.length - count('intent', 'sent')))
  return { planId: plan.id, ...making, ...counts, waiting, ...end }
}

async function makeAll(
  context: Context,
  options: MakeOptions,
  rows: readonly OpenRow['row'][],
  { signal, onProgress, waitMs = usualWaitMs }: ApplyListOptions,
): Promise<Pick<AppliedList, 'end' | 'reason'>> {
  const { connector, created, making } = options
  const states = await created.states(making.runId)
  const isEnded = (ordinal: number): boolean => !openStates.has(states.get(ordinal) ?? 'intent')
  const open = rows.filter(({ ordinal }) => !isEnded(ordinal))
  try {
    let queue = await withoutMade(
      context,
      options,
      open.map((row) => ({ row, isRepeat: states.get(row.ordinal) === 'sent' })),
    )
    let givesUpAt = context.now().getTime() + waitMs
    while (queue.length > 0) {
      const next: OpenRow[] = []
      let [pauseMs, isMoving, reason] = [0, false, '']
      for (let at = 0; at < queue.length; at += connector.maker.perCreate) {
        if (signal.aborted) return { end: 'interrupted' }
        const stop = await context.runs.stopOf(making.runId)
        if (stop) return { end: 'interrupted', reason: 'the run was stopped' }
        const batch = queue.slice(at, at + connector.maker.perCreate)
        const { again, held } = await makeRecords(context, options, batch).catch(
          (error: unknown): StillOpen => {
            // Nothing of the batch was sent: what was sent and is not known has ended as `again`.
            if (!(error instanceof RetriableError)) throw error
            const { retryAfterMs = 1_000, message } = error
            return { again: { rows: batch, afterMs: retryAfterMs, reason: message }, held: [] }
          },
        )
        next.push(...(again?.rows ?? []), ...held.map((each) => each.open))
        if ((again?.rows.length ?? 0) + held.length < batch.length) isMoving = true
        if (again) [pauseMs, reason] = [Math.max(pauseMs, again.afterMs), again.reason]
        const [first] = held
        if (first) {
          pauseMs = Math.max(pauseMs, pollMs)
          reason ||= `run ${first.holder.runId} of the list ${first.holder.list} is making ${counted(held.length, 'of these record')}: when it has ended, the same command continues`
        }
        onProgress?.(rows.length - next.length - Math.max(0, queue.length - at - batch.length), rows.length)
      }
      const nowMs = context.now().getTime()
      if (isMoving) givesUpAt = nowMs + waitMs
      if (next.length > 0 && nowMs + pauseMs > givesUpAt) return { end: 'parked', reason }
      if (next.length > 0) await pause(pauseMs, signal)
      queue = await withoutMade(context, options, next)
    }
    return { end: 'finished' }
  } catch (error) {
    if (!(error instanceof RetriableError)) throw error
    return { end: 'parked', reason: error.message }
  }
}

const openStates: ReadonlySet<CreatedState> = new Set(['intent', 'sent'])

/** Ends the rows whose record is there by its key: an earlier attempt has made it, and nobody knows what it held then. */
async function withoutMade(
  context: Context,
  { connector, created, making }: MakeOptions,
  rows: readonly OpenRow[],
): Promise<OpenRow[]> {
  const repeats = rows.filter(({ isRepeat }) => isRepeat).map(({ row }) => row)
  if (repeats.length === 0) return [...rows]
  const ids = await connector.maker.findByKey(
    making.entity,
    repeats.map(({ key }) => key),
  )
  const there = repeats.flatMap((row) => {
    const id = ids.get(row.key)
    return id === undefined ? [] : [{ row, id }]
  })
  await created.end(
    making,
    repeats,
    there.map(({ row, id }) => ({
      ordinal: row.ordinal,
      state: 'created',
      recordId: id,
      snapshot: null,
      reason: `made of page ${row.page ?? '?'} of the list ${making.list}`,
    })),
  )
  await context.recordIndex.add(
    making.connector,
    making.entity,
    there.map(({ row, id }) => ({ id, object: 'company', identity: row.identity, values: row.values })),
  )
  return rows.filter(({ row }) => !ids.has(row.key))
}
