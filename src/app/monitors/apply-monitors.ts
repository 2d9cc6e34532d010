import { nameByMark } from '../../domain/monitors/declared.ts'
import type { MonitorStep } from '../../domain/monitors/monitor-plan.ts'
import { utcMinute } from '../../domain/values/utc-minute.ts'
import type { Operation } from '../../domain/words.ts'
import { valueAt } from '../../service/calls/json-path.ts'
import { actionsOf, unfinishedActions } from '../../store/contract/service-actions.ts'
import { dropMonitor, keepMonitor, noteComparison } from '../../store/monitors/declared-monitors.ts'
import type { ActionEnd } from '../actions/action-end.ts'
import { performAction, settleMarginMs } from '../actions/perform-action.ts'
import { noteFromCli } from '../context/audit-from-cli.ts'
import type { Context } from '../context/context.ts'
import { knownOfAccount, withAcceptedNames } from '../service/known-of-account.ts'
import { assertAffordable, planCall, type PlannedCall } from '../service/plan-call.ts'
import { readMonitors } from './compare-monitors.ts'

export interface ApplyOptions {
  /** Deletes monitors of ours that the settings do not name. */
  prune: boolean
  /** Makes a monitor anew whose detection_mode has changed. */
  replace: boolean
  signal: AbortSignal
  settleMs?: number | undefined
  onStep?: ((step: MonitorStep) => void) | undefined
  onWait?: ((until: Date) => void) | undefined
}

export interface AppliedStep {
  step: MonitorStep
  /** `left`: it needs an option or a person. */
  state: 'done' | 'nothing' | 'left' | ActionEnd['state']
  reason?: string
  id?: string
}

/**
 * Carries a plan out, one action after the other. Each goes through the journal of actions, which sends nothing twice.
 *
 * Crash windows. Killed
 * - before the note of a new monitor, after the service made it: the journal has the answer or reads it, and the mark in its name finds
 *   it. The same command makes no second one.
 * - the same, and the settings are changed before the next command: the service may still make the one of before, which another body does
 *   not find in the journal. While it may, none is made; after that the monitors are read once more before one is.
 * - between the new monitor of a replacement and the deletion of the one before: two bear the mark. The ledger knows the new one by its
 *   note; the same command deletes the other. Killed before that note, neither is known: both are named, and a person decides.
 * - after a change, before the note that it is as declared: it is shown as different until the next comparison.
 * - after a deletion, before its note: the monitor is not shown any more, and what the ledger knows of it counts for nothing.
 */
export async function applyMonitors(
  context: Context,
  steps: readonly MonitorStep[],
  options: ApplyOptions,
): Promise<AppliedStep[]> {
  const applied: AppliedStep[] = []
  for (const step of steps) {
    if (options.signal.aborted) break
    options.onStep?.(step)
    const end = await applyStep(context, step, options)
    // Else the difference that was restored would be shown, and alerted, until the next comparison.
    if (end.state === 'done' && step.do !== 'delete')
      await noteComparison(context.database.db, [{ name: step.name, differs: false }], context.now())
    applied.push(end)
  }
  return applied
}

async function applyStep(context: Context, step: MonitorStep, options: ApplyOptions): Promise<AppliedStep> {
  const { db } = context.database
  const left = (reason: string): AppliedStep => ({ step, state: 'left', reason })
  switch (step.do) {
    case 'nothing':
      return { step, state: 'nothing', id: step.id }
    case 'decide':
      return left(`several monitors bear its mark (${step.ids.join(', ')}): delete those that are not wanted`)
    case 'create':
      return create(context, step, step.fields, options)
    case 'update':
    case 'pause':
      return ended(
        step,
        await act(context, 'monitor.update', { monitor_id: step.id, ...step.fields }, options),
        step.id,
      )
    case 'delete': {
      if (!options.prune && !(step.isCopy && options.replace))
        return left(
          step.isCopy
            ? 'it bears the mark of another one that the ledger knows: --replace or --prune deletes it'
            : 'the settings do not name it: --prune deletes it',
        )
      return remove(context, step, step.id, options)
    }
    case 'replace': {
      if (!options.replace)
        return left('its detection_mode cannot change: --replace makes a new one, and then deletes this one')
      const made = await create(context, step, step.fields, options)
      if (made.state !== 'done') return made
      const removed = await remove(context, step, step.id, options)
      if (made.id !== undefined) await keepMonitor(db, step.name, made.id, context.now())
      return { ...removed, ...(made.id !== undefined && { id: made.id }) }
    }
  }
}

async function create(
  context: Context,
  step: MonitorStep,
  fields: Readonly<Record<string, unknown>>,
  options: ApplyOptions,
): Promise<AppliedStep> {
  const reason = await reasonToWait(context, step, fields, options)
  if (reason !== undefined) return { step, state: 'left', reason }
  const end = await act(context, 'monitor.create', fields, options)
  const id = end.state === 'done' ? idOf(context, end) : undefined
  if (id !== undefined) await keepMonitor(context.database.db, step.name, id, context.now())
  return ended(step, end, id)
}

/** Returns the reason for which a monitor must not be made now: an earlier request with other fields may have made it, or still will. */
async function reasonToWait(
  context: Context,
  step: MonitorStep,
  fields: Readonly<Record<string, unknown>>,
  { signal, settleMs }: ApplyOptions,
): Promise<string | undefined> {
  const own = digestOf(await planOf(context, 'monitor.create', fields))
  const earlier = (await unfinishedActions(context.database.db)).filter(
    ({ operation, state, digest, body }) =>
      operation === 'monitor.create' &&
      state !== 'intent' &&
      digest !== own &&
      body['name'] === fields['name'],
  )
  if (earlier.length === 0) return undefined
  const waitMs = settleMs ?? context.config.catalogue.of('monitor.create').timeoutMs + settleMarginMs
  const until = Math.max(...earlier.map(({ sentAt, createdAt }) => (sentAt ?? createdAt).getTime() + waitMs))
  if (context.now().getTime() < until)
    return `an earlier request with other settings may still make it, until ${utcMinute(new Date(until))}: apply again after that`
  const replaced = 'id' in step ? step.id : undefined
  const made = (await readMonitors(context, signal)).find(
    ({ id, fields: shown }) => id !== replaced && nameByMark(shown['name']) === step.name,
  )
  return made && `an earlier request with other settings has made it (${made.id}): apply again`
}

async function remove(
  context: Context,
  step: MonitorStep,
  id: string,
  options: ApplyOptions,
): Promise<AppliedStep> {
  const end = await act(context, 'monitor.delete', { monitor_id: id }, options)
  if (end.state === 'done') await dropMonitor(context.database.db, step.name, id, context.now())
  return ended(step, end, id)
}

function ended(step: MonitorStep, end: ActionEnd, id: string | undefined): AppliedStep {
  return {
    step,
    state: end.state,
    ...('reason' in end && { reason: end.reason }),
    ...(id !== undefined && { id }),
  }
}

/** Sends one action. One that was done before is repeated, because the comparison has shown that its effect is gone. */
export async function act(
  context: Context,
  operation: Operation,
  body: Readonly<Record<string, unknown>>,
  {
    signal,
    settleMs,
    onWait,
    isNoted = false,
  }: Pick<ApplyOptions, 'signal' | 'settleMs' | 'onWait'> & {
    /** The audit log has it already, with the person who asked for it. */
    isNoted?: boolean
  },
): Promise<ActionEnd> {
  const call = await planOf(context, operation, body)
  assertAffordable(call)
  const end = await performAction(context, call, {
    signal,
    again: await wasDone(context, call),
    ...(settleMs !== undefined && { settleMs }),
    ...(onWait && { onWait }),
  })
  // After the act: its own journal is there from before the first byte, so that a kill here loses no action.
  if (end.state !== 'parked' && !isNoted)
    await noteFromCli(context, 'service.action', {
      target: operation,
      details: { state: end.state, action: String(end.action.id) },
    })
  return end
}

/** The words of the settings are the person's own: a monitor with a word that no answer has held is refused by the service, at no cost. */
async function planOf(
  context: Context,
  operation: Operation,
  body: Readonly<Record<string, unknown>>,
): Promise<PlannedCall> {
  const known = await knownOfAccount(context, { asks: false })
  const config = await withAcceptedNames(context.config, context)
  return planCall(config, { operation, body, isUnchecked: true }, known)
}

function digestOf({ key }: Pick<PlannedCall, 'key'>): string {
  return /v1:([0-9a-f]{64})/.exec(key)?.[1] ?? key
}

async function wasDone({ database }: Pick<Context, 'database'>, call: PlannedCall): Promise<boolean> {
  const last = (await actionsOf(database.db, call.operation, digestOf(call))).at(-1)
  return last?.state === 'done' && last.answer !== null
}

function idOf(
  { config }: Pick<Context, 'config'>,
  end: Extract<ActionEnd, { state: 'done' }>,
): string | undefined {
  const { answer } = config.catalogue.of('monitor.create')
  const made = valueAt(end.fact.data, answer.at.value) as Record<string, unknown> | undefined
  const id = made?.[config.catalogue.of('monitor.list').answer.rows?.id.value ?? 'monitor_id']
  return typeof id === 'string' || typeof id === 'number' ? String(id) : undefined
}
