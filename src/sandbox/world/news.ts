import { at, chance } from './chance.ts'
import type { WorldCompany } from './companies.ts'
import type { Move } from './moves.ts'
import type { MoveSignal } from './signal.ts'

const newsCategories = ['Expansion', 'Partnership', 'Product', 'Funding', 'People', 'Restructuring'] as const
export const newsTopics = [
  'markets',
  'hiring',
  'technology',
  'customers',
  'supply chain',
  'regulation',
] as const
export const newsSources = [
  'Trade Herald',
  'Morning Ledger',
  'Market Wire',
  'Industry Post',
  '経済新報',
] as const

export interface NewsItem {
  id: string
  company: WorldCompany
  country: string
  category: (typeof newsCategories)[number]
  day: number
  seed: number
  /** The signal that it is, where it is one. */
  signal: { move: Move; signal: MoveSignal } | null
}

const PERIOD = 150
const SHOWN_DAYS = 365

/** Returns the news that are signals of a move. */
export function newsOfMove(move: Move): NewsItem[] {
  return move.signals
    .filter(({ type }) => type === 'news')
    .map((signal) => ({
      id: `nw-${move.company.index}-m${move.seed}-${signal.step}`,
      company: move.company,
      country: move.to,
      category: signal.polarity === 'positive' ? 'Expansion' : 'Restructuring',
      day: signal.day,
      seed: 10_000 + move.seed * 64 + signal.step,
      signal: { move, signal },
    }))
}

/** Returns the other news of a company, of the last year. */
export function newsAtHome(company: WorldCompany, today: number): NewsItem[] {
  const { index } = company
  if (chance(index, 401) < 0.5) return []
  const phase = Math.floor(chance(index, 402) * PERIOD)
  const cycle = Math.floor((today - phase) / PERIOD)
  return [cycle, cycle - 1, cycle - 2]
    .map((seed) => ({ seed, day: phase + seed * PERIOD }))
    .filter(({ day }) => today - day <= SHOWN_DAYS)
    .map(({ seed, day }) => ({
      id: `nw-${index}-h${seed}`,
      company,
      country: company.place.country,
      category: at(newsCategories.slice(1, 5), chance(index, 403, seed)),
      day,
      seed,
      signal: null,
    }))
}
