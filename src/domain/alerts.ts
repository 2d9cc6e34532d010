import { counted } from './values/counted.ts'
import { silentSince } from './monitors/silence.ts'
import { formatUsd, type Atomic } from './money.ts'

const alertConditions = [
  'wallet_low',
  'cap_reached',
  'error_rate',
  'nothing_written',
  'reconciliation_difference',
  'schedule_missed',
  'contract_drift',
  'monitor_stopped',
  'monitor_silent',
  'monitor_drift',
] as const
export type AlertCondition = (typeof alertConditions)[number]
export type Severity = 'warning' | 'critical'

/** A condition and its subject, which together name an alert. A message contains systems and numbers, never a record. */
interface Finding {
  condition: AlertCondition
  subject: string
  severity: Severity
  message: string
}

export interface Standing {
  id: bigint
  condition: AlertCondition
  subject: string
}

/** The state that alerts are decided from. An undefined part is unknown at the moment: its alerts neither begin nor end. */
export interface AlertState {
  wallet: { balanceAtomic: Atomic } | 'none' | undefined
  /** Work that waits for a cap, by the window that is used up. */
  caps: { window: string; lookups: number; resumesAt: Date | null }[]
  /** The records that ended within the last hour, and how many of them failed because of a fault. */
  recent: { ended: number; failed: number }
  /** Since when work has been due, and when the last record ended. Null where no work is due or no record ever ended. */
  work: { dueSince: Date | null; lastEndedAt: Date | null }
  reconciliation: { at: Date; differences: number; differenceAtomic: Atomic } | 'none' | undefined
  schedules: { schedule: string; entity: string; state: string; plannedAt: Date; reason: string | null }[]
  /** Operations whose answers are not as the catalogue says, or that are stopped for one, with the problems in words. */
  contract: { operation: string; problem: string }[] | undefined
  /** The monitors of the settings that were made at the service. */
  monitors?: AlertedMonitor[] | undefined
}

interface AlertedMonitor {
  name: string
  /** True where it was changed at the service; null: never compared. */
  differs: boolean | null
  /** The status that the settings say. */
  declared: string
  /** Its log and its status were read; null: never. */
  readAt: Date | null
  /** Null where the service does not show it any more. */
  status: string | null
  detections: readonly Date[]
}

export interface AlertRules {
  walletBelowAtomic: Atomic
  /** The share of failed records, 0 to 1, from which the alert begins. It ends below half of it. */
  errorShare: number
  errorMinimum: number
  quietHours: number
}

export interface AlertDecision {
  raise: Finding[]
  end: { id: bigint; message: string }[]
}

const hourMs = 3_600_000

/** Decides which alerts to send: each condition once when it begins, and once when it ends. */
export function decideAlerts(
  state: AlertState,
  standing: readonly Standing[],
  rules: AlertRules,
  now: Date,
): AlertDecision {
  const before = new Set(standing.map(nameOf))
  const findings = findingsOf(state, rules, now, before)
  const found = new Set(findings.map(nameOf))
  const unknown = new Set<AlertCondition>([
    ...(state.wallet === undefined ? (['wallet_low'] as const) : []),
    ...(state.reconciliation === undefined ? (['reconciliation_difference'] as const) : []),
    ...(state.contract === undefined ? (['contract_drift'] as const) : []),
    ...(state.monitors === undefined ? monitorConditions : []),
  ])
  return {
    raise: findings.filter((finding) => !before.has(nameOf(finding))),
    end: standing
      .filter((alert) => !found.has(nameOf(alert)) && !unknown.has(alert.condition))
      .map((alert) => ({ id: alert.id, message: endings[alert.condition](alert.subject) })),
  }
}

function findingsOf(state: AlertState, rules: AlertRules, now: Date, before: Set<string>): Finding[] {
  return [
    ...walletLow(state, rules),
    ...capReached(state),
    ...errorRate(state, rules, before),
    ...nothingWritten(state, rules, now),
    ...difference(state),
    ...scheduleMissed(state),
    ...contractDrift(state),
    ...monitorAlerts(state),
  ]
}

function walletLow({ wallet }: AlertState, { walletBelowAtomic }: AlertRules): Finding[] {
  if (wallet === undefined || wallet === 'none' || wallet.balanceAtomic >= walletBelowAtomic) return []
  return [
    {
      condition: 'wallet_low',
      subject: 'wallet',
      severity: wallet.balanceAtomic === 0n ? 'critical' : 'warning',
      message: `the wallet has ${formatUsd(wallet.balanceAtomic)} USDC, less than ${formatUsd(walletBelowAtomic)}`,
    },
  ]
}

function capReached({ caps }: AlertState): Finding[] {
  return caps.map(({ window, lookups, resumesAt }) => ({
    condition: 'cap_reached',
    subject: window,
    severity: 'warning',
    message: `the cap of this ${window} is reached: ${counted(lookups, 'lookup')} ${lookups === 1 ? 'waits' : 'wait'} ${resumesAt ? `until ${resumesAt.toISOString()}` : 'until a person acts'}`,
  }))
}

function errorRate({ recent }: AlertState, rules: AlertRules, before: Set<string>): Finding[] {
  const { ended, failed } = recent
  const limit = before.has('error_rate/records') ? rules.errorShare / 2 : rules.errorShare
  if (ended < rules.errorMinimum || failed / ended < limit) return []
  return [
    {
      condition: 'error_rate',
      subject: 'records',
      severity: 'critical',
      message: `${failed} of ${ended} records failed within the last hour (${Math.round((failed / ended) * 100)} %)`,
    },
  ]
}

function nothingWritten({ work }: AlertState, { quietHours }: AlertRules, now: Date): Finding[] {
  if (work.dueSince === null) return []
  const quietSince = new Date(Math.max(work.dueSince.getTime(), work.lastEndedAt?.getTime() ?? 0))
  if (now.getTime() - quietSince.getTime() < quietHours * hourMs) return []
  return [
    {
      condition: 'nothing_written',
      subject: 'work',
      severity: 'critical',
      message: `work is due and no record was written or found unchanged since ${quietSince.toISOString()}`,
    },
  ]
}

function difference({ reconciliation }: AlertState): Finding[] {
  if (reconciliation === undefined || reconciliation === 'none' || reconciliation.differences === 0) return []
  const { at, differences, differenceAtomic } = reconciliation
  return [
    {
      condition: 'reconciliation_difference',
      subject: 'ledger',
      severity: 'critical',
      message: `ledger and chain differ in ${counted(differences, 'payment')} (${formatUsd(differenceAtomic)} USD) as of ${at.toISOString()}`,
    },
  ]
}

function scheduleMissed({ schedules }: AlertState): Finding[] {
  return schedules
    .filter(({ state }) => state === 'missed' || state === 'failed')
    .map(({ schedule, entity, state, plannedAt, reason }) => ({
      condition: 'schedule_missed',
      subject: `${schedule}/${entity}`,
      severity: state === 'failed' ? 'critical' : 'warning',
      message: `the run of ${schedule} (${entity}) planned for ${plannedAt.toISOString()} ${state === 'failed' ? 'failed' : 'did not begin'}${reason === null ? '' : `: ${reason}`}`,
    }))
}

function contractDrift({ contract = [] }: AlertState): Finding[] {
  return contract.map(({ operation, problem }) => ({
    condition: 'contract_drift',
    subject: operation,
    severity: 'warning',
    message: `${problem.startsWith(operation) ? '' : `answers of ${operation} are not as expected: `}${problem}`,
  }))
}

const monitorConditions = ['monitor_stopped', 'monitor_silent', 'monitor_drift'] as const

function monitorAlerts({ monitors = [] }: AlertState): Finding[] {
  return monitors.flatMap(({ name, differs, declared, readAt, status, detections }) => {
    const finding = (condition: AlertCondition, message: string): Finding => ({
      condition,
      subject: name,
      severity: 'warning',
      message,
    })
    const drift =
      differs === true
        ? [finding('monitor_drift', `the monitor ${name} is not as the settings say: paydirt monitors plan`)]
        : []
    if (readAt === null || declared !== 'active') return drift
    if (status !== 'active')
      return [
        ...drift,
        finding(
          'monitor_stopped',
          `the service ${status === null ? 'does not show' : 'has stopped'} the monitor ${name}${status === null ? ' any more' : `: it is ${status}`}`,
        ),
      ]
    const since = silentSince(detections, readAt)
    return since === undefined
      ? drift
      : [
          ...drift,
          finding(
            'monitor_silent',
            `the monitor ${name} has detected nothing since ${since.toISOString()}, longer than ever`,
          ),
        ]
  })
}

const endings: Record<AlertCondition, (subject: string) => string> = {
  wallet_low: () => 'the wallet has enough again',
  cap_reached: (window) => `no work waits for the cap of the ${window} any more`,
  error_rate: () => 'fewer records fail',
  nothing_written: () => 'records are written again, or none is due',
  reconciliation_difference: () => 'ledger and chain agree',
  contract_drift: (operation) => `answers of ${operation} are as expected again`,
  monitor_stopped: (name) => `the monitor ${name} is active again`,
  monitor_silent: (name) => `the monitor ${name} detects again`,
  monitor_drift: (name) => `the monitor ${name} is as the settings say`,
  schedule_missed: (subject) => `${subject} has begun a later run`,
}

function nameOf({ condition, subject }: { condition: AlertCondition; subject: string }): string {
  return `${condition}/${subject}`
}
