import { definitionOf, isConnectorName } from '../../../connectors/definitions.ts'
import { formatUsd, withoutZeros, type Atomic } from '../../../domain/money.ts'

const integers = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 })

export function count(value: number): string {
  return integers.format(value)
}

/** "1 record", "1,204 records". */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`
}

/** Formats with two decimal places, or more where the amount needs them: "$0.01", "$0.005". */
export function usd(amount: Atomic): string {
  const [whole = '0', fraction = ''] = formatUsd(amount < 0n ? -amount : amount).split('.')
  const places = fraction.replace(/0+$/, '').padEnd(2, '0')
  return `${amount < 0n ? '−' : ''}$${integers.format(BigInt(whole))}.${places}`
}

export function money(amount: Atomic, currency: string): string {
  return currency === 'USD' ? usd(amount) : `${withoutZeros(formatUsd(amount))} credits`
}

/** Formats a cost in both currencies; credits alone when no dollars were paid. */
export function cost(usdAtomic: Atomic, creditsAtomic: Atomic): string {
  if (creditsAtomic === 0n) return usd(usdAtomic)
  const credits = money(creditsAtomic, 'credit')
  return usdAtomic === 0n ? credits : `${usd(usdAtomic)} and ${credits}`
}

/** Formats a rate with up to two decimal places. */
export function perSecond(value: number): string {
  if (value >= 100) return integers.format(value)
  return value >= 10 ? value.toFixed(1) : value.toFixed(2).replace(/\.?0+$/, '') || '0'
}

export function percent(share: number): string {
  const value = share * 100
  if (value === 0) return '0\u00a0%'
  return value < 0.1 ? '<\u00a00.1\u00a0%' : `${value < 10 ? value.toFixed(1) : value.toFixed(0)}\u00a0%`
}

/** "40 s", "3 min", "2 h 5 min", "4 days". */
export function duration(ms: number): string {
  const seconds = Math.round(ms / 1000)
  if (seconds < 90) return `${Math.max(seconds, 0)}\u00a0s`
  const minutes = Math.round(seconds / 60)
  if (minutes < 90) return `${minutes}\u00a0min`
  const hours = Math.floor(minutes / 60)
  if (hours < 48) return minutes % 60 === 0 ? `${hours}\u00a0h` : `${hours}\u00a0h ${minutes % 60}\u00a0min`
  return `${Math.round(hours / 24)}\u00a0days`
}

export function ago(at: Date, now: Date): string {
  const ms = now.getTime() - at.getTime()
  if (ms < 0) return `in ${duration(-ms)}`
  return ms < 5_000 ? 'just now' : `${duration(ms)} ago`
}

const clocks = new Map<string, { stamp: Intl.DateTimeFormat; year: Intl.DateTimeFormat }>()

/**
 * "20 Nov, 17:54 UTC", with the year if it is not the current one. The only place of the desk that writes a time of day, so
 * that each bears its zone: UTC, like the budgets, unless the time belongs to a schedule that has a zone of its own.
 */
export function stamp(at: Date, now: Date, timeZone = 'UTC'): string {
  const clock = clockOf(timeZone)
  const text = clock.stamp.format(at)
  const year = clock.year.format(at)
  return `${year === clock.year.format(now) ? text : text.replace(',', ` ${year},`)} ${timeZone}`
}

function clockOf(timeZone: string) {
  const known = clocks.get(timeZone)
  if (known) return known
  const clock = {
    stamp: new Intl.DateTimeFormat('en-GB', {
      day: 'numeric',
      month: 'short',
      hour: '2-digit',
      minute: '2-digit',
      timeZone,
    }),
    year: new Intl.DateTimeFormat('en-GB', { year: 'numeric', timeZone }),
  }
  clocks.set(timeZone, clock)
  return clock
}

/** Turns an identifier of the ledger into words: `looking_up` is "looking up". */
export function words(name: string): string {
  return name.replaceAll('_', ' ')
}

/** "contact redeem: email work" for `contact.redeem:email-work`. */
export function stepName(step: string): string {
  return step.replace(/[._-]/g, ' ').replace(':', ': ')
}

/** The parts of a run's name. */
export interface NamedRun {
  connector: string
  entity: string
  file: string | null
  schedule: string | null
}

/** Returns a run's name: its source, with the file or the object that it reads, and the schedule that began it. */
export function runName(run: NamedRun): string {
  const source = `${connectorName(run.connector)} ${run.file ?? run.entity}`
  return run.schedule === null ? source : `${source} (${run.schedule})`
}

/** Returns a connector's label. A run in the ledger may be of a connector that is no longer there: then its name. */
export function connectorName(name: string): string {
  return isConnectorName(name) ? definitionOf(name).label : name
}
