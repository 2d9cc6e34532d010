import { isAboveZero } from '../../domain/money.ts'
import { errorCode, parkingCodes } from '../../domain/error-codes.ts'
import { keepsValues } from '../../connectors/definitions.ts'
import { mapOption, shellQuoted } from '../../connectors/csv/index.ts'
import type { Identity } from '../../domain/record.ts'
import type { ScanFilter } from '../../connectors/connector.ts'
import type { RunStop } from '../../store/runs/run-stops.ts'
import type { Run } from '../../store/runs/runs.ts'
import type { ParkedGroup } from '../../store/views/desk-now.ts'
import type { ToldFile } from './enrich-csv.ts'
import type { RunSummary } from './summary.ts'
import type { Undone } from '../../store/writes/undone-fields.ts'
import { utcMinute } from '../../domain/values/utc-minute.ts'

interface Known {
  run: Run
  summary: Pick<RunSummary, 'tasks' | 'spend'>
  waiting: readonly ParkedGroup[]
  schedule: string | null
  /** The person who stopped it; undefined when no person did. */
  stop?: RunStop | undefined
  /** The part that was undone already. */
  undone?: Undone | null
}

/** Returns what a person can do about a run now, the most urgent first. Commands are in backquotes. */
export function nextSteps({ run, summary, waiting, schedule, stop, undone }: Known): string[] {
  const steps: string[] = []
  if (isAboveZero(summary.spend.inDoubt))
    steps.push('`paydirt reconcile` resolves its payments in doubt, and shows those that need a person')
  for (const group of waiting) {
    const step = untilDone(group)
    if (step !== undefined && !steps.includes(step)) steps.push(step)
  }
  if (stop) steps.push(`\`paydirt runs ${run.id} --resume\` lets it continue: ${stop.by} stopped it`)
  else if (run.state === 'parked' && waitsForRetry(run, waiting))
    steps.push(
      'mend what the reason names, start `paydirt start` again for a changed setting, then retry its parked records on the desk',
    )
  else if (run.state !== 'finished') steps.push(continuing(run, schedule))
  if (run.state === 'finished' || run.state === 'stopped') {
    const isKept = keepsValues(run.connector)
    if (summary.tasks.written > 0)
      steps.push(`\`paydirt report ${run.id}\` shows its match rate, fill rates and cost`)
    if (summary.tasks.written > 0 && isKept && (!undone || undone.fields < undone.of))
      steps.push(`\`paydirt undo ${run.id} --plan\` shows what an undo would put back`)
  }
  return steps
}

/** The steps that end the wait of parked records, by the code that parked them. */
const remedies: Readonly<Record<string, string>> = {
  [errorCode.budgetRun]: 'raise PAYDIRT_BUDGET_RUN_USD, or leave the rest: the budget of the run is used up',
  [errorCode.planCost]:
    'retry its records on the desk to spend more than the plan said, or skip them: its cost is used up',
  [errorCode.budgetDay]: 'or raise PAYDIRT_BUDGET_DAY_USD: the budget of the day is used up',
  [errorCode.budgetMonth]:
    'or raise budgets.monthUsd in paydirt.config.ts: the budget of the month is used up',
  [errorCode.budgetConnector]:
    'or raise budgets.connectorDayUsd in paydirt.config.ts: the budget of the connector is used up',
  [errorCode.budgetList]:
    'or raise budgetMonthUsd of the list in paydirt.config.ts: its budget of the month is used up',
  [errorCode.budgetMonitor]:
    'or raise budgetDayUsd or budgetMonthUsd of the monitor in paydirt.config.ts: its budget is used up',
  [errorCode.walletEmpty]: 'send USDC to the wallet (`paydirt wallet address`): it is empty',
  [errorCode.operationStopped]:
    'mend the operation that is stopped under service.operations in paydirt.config.ts, then `paydirt service retry OPERATION`',
  [errorCode.stopped]: '`paydirt spend --resume` resumes spending, which is stopped',
}

/**
 * Returns true where nothing goes on by itself: neither a time nor a new start of the workers tries such records again, only a
 * person does. A command that began a run tries all of its records again.
 */
function waitsForRetry({ trigger }: Run, waiting: readonly ParkedGroup[]): boolean {
  if (['csv', 'apply', 'call', 'sync', 'signals'].includes(trigger)) return false
  const goesOn = ({ code, resumesAt }: ParkedGroup) =>
    resumesAt !== null || Object.hasOwn(remedies, code ?? '') || parkingCodes.some((each) => each === code)
  return waiting.length > 0 && !waiting.some(goesOn)
}

function untilDone({ code, resumesAt }: ParkedGroup): string | undefined {
  const remedy = remedies[code ?? '']
  if (resumesAt === null) return remedy
  const waits = `wait until ${utcMinute(resumesAt)}`
  if (remedy === undefined) return waits
  return remedy.startsWith('or ') ? `${waits}, ${remedy}` : remedy
}

/** Returns the step by which a run that has not ended goes on, by its trigger. */
function continuing(run: Run, schedule: string | null): string {
  const { state, trigger } = run
  const isAtWork = state === 'scanning' || state === 'working'
  const before = isAtWork ? 'it is at work; should its process have ended: ' : ''
  if (schedule !== null)
    return state === 'failed'
      ? `mend what it failed for; the next planned time of ${schedule} tries again`
      : `${before}the next window of ${schedule} continues it, or \`paydirt schedules run ${schedule}\``
  if (trigger === 'csv') return `${before}\`${csvCommandOf(run)}\` continues it`
  if (trigger === 'list') return `${before}\`paydirt apply ${String(run.source['plan'])}\` continues it`
  if (trigger === 'apply') return `${before}run the same \`paydirt apply PLAN\` again: it continues`
  if (trigger === 'call')
    return `${before}run the same \`paydirt service call ${run.entity} …\` again: it continues`
  if (trigger === 'signals')
    return `${before}\`paydirt signals run ${String(run.source['pipeline'])}\` writes newer values in its place`
  if (trigger === 'sync') return `${before}\`${syncCommandOf(run)}\` continues it`
  return `${before}\`paydirt start\` continues it`
}

/** Returns the command of a file, as a shell takes it. Runs of earlier versions do not know their options. */
function csvCommandOf({ entity, recipe, source }: Run): string {
  const { plan, out, map, encoding } = (source['told'] ?? {}) as ToldFile
  const words = plan ? ['apply', plan] : ['csv', String(source['path'] ?? source['file']), '--object', entity]
  return [
    'paydirt',
    ...words.map(shellQuoted),
    ...(plan ? [] : ['--recipe', shellQuoted(recipe)]),
    ...(plan
      ? []
      : Object.entries(map ?? {}).map(([field, name]) => mapOption(field as keyof Identity, name))),
    ...(plan || encoding === undefined ? [] : ['--encoding', shellQuoted(encoding)]),
    '--out',
    out === undefined ? 'OUT' : shellQuoted(out),
  ].join(' ')
}

/** Returns the command of a sync, as a shell takes it. */
function syncCommandOf({ connector, entity, recipe, source }: Run): string {
  const conditions = (Array.isArray(source['filter']) ? source['filter'] : []) as ScanFilter[]
  const words = [
    'paydirt',
    'sync',
    connector,
    '--object',
    entity,
    '--recipe',
    recipe,
    ...(typeof source['since'] === 'string' ? ['--since', source['since']] : []),
    ...(typeof source['limit'] === 'number' ? ['--limit', String(source['limit'])] : []),
    ...(source['refresh'] === true ? ['--refresh'] : []),
    ...conditions.flatMap((condition) => ['--filter', conditionText(condition)]),
  ]
  return words.map(shellQuoted).join(' ')
}

function conditionText(condition: ScanFilter): string {
  switch (condition.is) {
    case 'blank':
      return `${condition.property}=`
    case 'filled':
      return `${condition.property}!=`
    case 'equal':
      return `${condition.property}=${condition.value}`
    case 'different':
      return `${condition.property}!=${condition.value}`
  }
}
