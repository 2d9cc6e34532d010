import { planMonitors, type MonitorStep } from '../../domain/monitors/monitor-plan.ts'
import { keepMonitor, knownMonitors, noteComparison } from '../../store/monitors/declared-monitors.ts'
import { nameByMark } from '../../domain/monitors/declared.ts'
import { openActionRun, type ActionRun } from '../actions/action-run.ts'
import { readAllMonitors } from '../actions/read-effect.ts'
import { differingFields } from '../actions/same-monitor.ts'
import { automaticEnrichmentWarning } from '../config/watching/on-match.ts'
import type { Context } from '../context/context.ts'
import { knownOfAccount, withAcceptedNames } from '../service/known-of-account.ts'
import { assertAffordable, planCall } from '../service/plan-call.ts'
import type { Purse } from '../signals/buying/purse.ts'
import { declaredMonitors, type Declared } from './declared-monitors.ts'

/** The monitors of the settings beside those of the service. */
export interface ComparedMonitors extends Omit<Declared, 'monitors'> {
  steps: MonitorStep[]
  /** Monitors of the workspace that are nobody's of ours. They are never touched. */
  foreign: number
  warnings: string[]
}

export interface ShownMonitor {
  id: string
  fields: Readonly<Record<string, unknown>>
}

/** Reads all monitors of the workspace, within a run of its own. Throws as a request of an action does. */
export async function readMonitors(context: Context, signal: AbortSignal): Promise<ShownMonitor[]> {
  const known = await knownOfAccount(context, { asks: false })
  const config = await withAcceptedNames(context.config, context)
  const call = planCall(config, { operation: 'monitor.list', body: {} }, known)
  assertAffordable(call)
  const run: ActionRun = await openActionRun(context, call, signal)
  try {
    const name = `monitors:${context.now().getTime().toString(36)}:${context.randomBytes(4).toString('hex')}`
    const { monitors, idName } = await readAllMonitors({ context, run }, name)
    return monitors.map((fields) => ({ id: String(fields[idName]), fields }))
  } finally {
    await run.close('finished')
  }
}

/**
 * Compares the settings with the service. Changes nothing there. What bears our mark is known from now on, so that a ledger that was lost
 * finds its monitors again.
 */
export async function compareMonitors(
  context: Context,
  options: {
    signal: AbortSignal
    purse?: Purse | undefined
    /** The monitors of the workspace, where they were read just now. */
    shown?: ShownMonitor[]
  },
): Promise<ComparedMonitors> {
  const { signal, purse } = options
  const { db } = context.database
  const { monitors: declared, ...others } = await declaredMonitors(context, { signal, purse })
  const shown = options.shown ?? (await readMonitors(context, signal))
  const ids = new Set(shown.map(({ id }) => id))
  const known = new Map(
    (await knownMonitors(db))
      .filter(({ monitorId }) => ids.has(monitorId))
      .map((each) => [each.name, each.monitorId]),
  )
  const steps = planMonitors(declared, shown, known, (sent, monitor) =>
    differingFields(sent, monitor, { comparesHidden: false }),
  )
  for (const step of steps)
    if ('id' in step && step.do !== 'delete' && !known.has(step.name))
      await keepMonitor(db, step.name, step.id, context.now())
  // A monitor whose companies are not all found at the service yet cannot be compared.
  const open = new Set(others.open.map(({ monitor }) => monitor))
  await noteComparison(
    db,
    steps.flatMap(({ name, do: step }) => (open.has(name) ? [] : [{ name, differs: step !== 'nothing' }])),
    context.now(),
  )
  const ours = new Set(known.values())
  return {
    ...others,
    steps,
    foreign: shown.filter(({ id, fields }) => !ours.has(id) && nameByMark(fields['name']) === undefined)
      .length,
    warnings: Object.entries(context.config.monitors).flatMap(([name, settings]) => {
      const warning = automaticEnrichmentWarning(settings)
      return warning === undefined ? [] : [`monitors.${name}: ${warning}`]
    }),
  }
}
