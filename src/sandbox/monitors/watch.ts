import { expansionFilters, findMoves } from '../searches/expansion-filters.ts'
import { signalRow } from '../searches/expansion-rows.ts'
import type { SignalType } from '../world/signal.ts'
import type { World } from '../world/world.ts'
import type { Signal } from './detections.ts'
import type { Monitor } from './monitor.ts'

/** The signals of the world by the words of a monitor. Its `expansions` are all of them. */
const worldTypes: Readonly<Record<string, SignalType>> = {
  jobs: 'hiring',
  news: 'news',
  advertisements: 'advertising',
  clouds: 'cloud',
  events: 'events',
}
const maxSignals = 1_000

/**
 * Returns the signals that a monitor detects between two moments of the world's clock: one list a day, the oldest day first. The end
 * belongs to the time and the beginning does not, so that no signal is detected twice by a clock that moves on. A filter that market
 * entries do not have lets nothing through.
 */
export function detectedBetween(
  world: Pick<World, 'today'>,
  monitor: Monitor,
  from: Date,
  to: Date,
): Signal[][] {
  const { filters, domain_search_ids: ids, signal_types: types } = monitor
  const set = Object.entries(filters).filter(([, values]) => values.length > 0)
  if (to <= from || set.some(([name]) => !Object.hasOwn(expansionFilters, name))) return []
  const asked = { ...Object.fromEntries(set), ...(ids.length > 0 && { domain_search_ids: ids }) }
  const wanted = types.includes('expansions') ? undefined : types.map((word) => worldTypes[word])
  const named = filters['signal_types']?.length
    ? filters['signal_types'].map((word) => word.toLowerCase())
    : undefined
  const rows = findMoves(world.today(), asked).flatMap((move) =>
    move.signals
      .filter(({ type }) => (wanted?.includes(type) ?? true) && (named?.includes(type) ?? true))
      .map((signal) => ({ at: new Date(signalRow(move, signal).detected_at), day: signal.day, move, signal }))
      .filter(({ at }) => at > from && at <= to),
  )
  const days = Map.groupBy(
    rows.toSorted((a, b) => a.at.getTime() - b.at.getTime()),
    ({ day }) => day,
  )
  return [...days.values()].flatMap((day) => {
    const signals = day.map(({ move, signal }) => signalRow(move, signal))
    return Array.from({ length: Math.ceil(signals.length / maxSignals) }, (_, part) =>
      signals.slice(part * maxSignals, (part + 1) * maxSignals),
    )
  })
}
