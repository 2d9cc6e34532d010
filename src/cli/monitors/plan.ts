import { applyMonitors, type AppliedStep } from '../../app/monitors/apply-monitors.ts'
import { compareMonitors, type ComparedMonitors } from '../../app/monitors/compare-monitors.ts'
import { openPurse } from '../../app/signals/buying/purse.ts'
import { hasDrift, type MonitorStep } from '../../domain/monitors/monitor-plan.ts'
import { parseUsd } from '../../domain/money.ts'
import { counted } from '../../domain/values/counted.ts'
import { printable } from '../../domain/values/printable.ts'
import { exitStatus } from '../terminal/exit.ts'
import { liveLine } from '../terminal/live-line.ts'
import { print, printError } from '../terminal/print.ts'
import { stopSignal, withContext } from '../terminal/with-context.ts'

export async function showPlan({ check, json }: { check: boolean; json?: true }): Promise<void> {
  await withContext(
    async (context) => {
      const compared = await compareMonitors(context, { signal: stopSignal() })
      print(json ? `${JSON.stringify(compared)}\n` : planText(compared))
      if (check && hasDrift(compared.steps)) process.exitCode = exitStatus.failed
    },
    undefined,
    { saysItself: true },
  )
}

interface ApplyCommandOptions {
  prune: boolean
  replace: boolean
  budget: string
  json?: true
}

export async function applyPlan({ budget, json, ...options }: ApplyCommandOptions): Promise<void> {
  await withContext(
    async (context) => {
      const signal = stopSignal()
      const purse = await openPurse(context, {
        budget: 'monitors/companies',
        place: 'monitors',
        budgetAtomic: parseUsd(budget),
        signal,
      })
      const compared = await compareMonitors(context, { signal, purse }).finally(() => purse.close())
      const waits = waitingOf(compared)
      const steps = compared.steps.filter(({ name }) => !waits.has(name))
      const applied = await applyMonitors(context, steps, {
        ...options,
        signal,
        onStep: ({ do: what, name }) => liveLine.show(`${name}: ${what}`),
        onWait: (until) =>
          printError(
            `paydirt: an earlier request may still be processed; it is read again at ${until.toISOString()}\n`,
          ),
      })
      const result = { applied, open: compared.open, left: compared.left, warnings: compared.warnings }
      print(json ? `${JSON.stringify(result)}\n` : appliedText(applied, compared))
      process.exitCode = statusOf(applied, compared, signal)
    },
    undefined,
    { saysItself: true },
  )
}

/**
 * Returns the monitors that wait until their companies are found. One that stands with all that are known does not: the service may never
 * know the others.
 */
function waitingOf({ open, steps }: ComparedMonitors): Set<string> {
  const standing = new Set(steps.flatMap((step) => (step.do === 'nothing' ? [step.name] : [])))
  return new Set(open.flatMap(({ monitor }) => (standing.has(monitor) ? [] : [monitor])))
}

function statusOf(applied: readonly AppliedStep[], compared: ComparedMonitors, signal: AbortSignal): number {
  if (signal.aborted) return exitStatus.interrupted
  const states = new Set(applied.map(({ state }) => state))
  if (states.has('refused')) return exitStatus.failed
  const isLeft =
    waitingOf(compared).size > 0 || ['left', 'parked', 'in_doubt'].some((state) => states.has(state as never))
  return isLeft ? exitStatus.parked : exitStatus.done
}

function planText(compared: ComparedMonitors): string {
  const lines = compared.steps.flatMap(stepLines)
  const without = compared.steps.length === 0 ? ['the settings name no monitors (docs/monitors.md)'] : []
  return [...without, ...lines, ...noteLines(compared), 'Nothing was changed.']
    .map((line) => `${line}\n`)
    .join('')
}

function stepLines(step: MonitorStep): string[] {
  switch (step.do) {
    case 'nothing':
      return [`as declared  ${step.name} (${step.id})`]
    case 'create':
      return [
        `create       ${step.name}`,
        ...Object.entries(step.fields).map(([field, value]) => `  ${field}: ${shown(field, value)}`),
      ]
    case 'delete':
      return [
        `delete       ${step.name} (${step.id}): ${step.isCopy ? 'a copy; --replace or --prune' : 'not in the settings; --prune'}`,
      ]
    case 'decide':
      return [`decide       ${step.name}: several bear its mark (${step.ids.join(', ')})`]
    default:
      return [
        `${step.do.padEnd(12)} ${step.name} (${step.id})${step.do === 'replace' ? ': its detection_mode cannot change; --replace' : ''}`,
        ...step.changes.map(
          ({ field, shown: is, declared }) =>
            `  ${field}: ${printable(JSON.stringify(is))} -> ${printable(JSON.stringify(declared))}`,
        ),
      ]
  }
}

function shown(field: string, value: unknown): string {
  if (field === 'webhook_headers' && typeof value === 'object' && value !== null)
    return `${Object.keys(value).join(', ')} (not shown)`
  const text = JSON.stringify(value)
  return printable(text.length > 200 ? `${text.slice(0, 200)}…` : text)
}

function noteLines({ open, left, foreign, warnings }: ComparedMonitors): string[] {
  return [
    ...open.map(
      ({ monitor, companies }) =>
        `open         ${monitor}: ${counted(companies, 'company', 'companies')} not found at the service yet; \`paydirt monitors apply --budget USD\` asks for them`,
    ),
    ...left.slice(0, 5).map(({ place, reason }) => `left out     ${place}: ${reason}`),
    ...(left.length > 5 ? [`left out     and ${left.length - 5} more (--json)`] : []),
    ...(foreign > 0 ? [`foreign      ${counted(foreign, 'monitor')} of others, never touched`] : []),
    ...warnings.map((warning) => `warning      ${warning}`),
  ]
}

function appliedText(applied: readonly AppliedStep[], compared: ComparedMonitors): string {
  const lines = applied.map(({ step, state, reason, id }) => {
    const what =
      state === 'nothing'
        ? 'as declared'
        : state === 'done'
          ? `${step.do}d`.replace('eed', 'ed')
          : `${step.do}: ${state}`
    return `${what.padEnd(12)} ${step.name}${id === undefined ? '' : ` (${id})`}${reason === undefined ? '' : `: ${reason}`}`
  })
  return (
    [...lines, ...noteLines(compared)].map((line) => `${line}\n`).join('') ||
    'the settings name no monitors (docs/monitors.md)\n'
  )
}
