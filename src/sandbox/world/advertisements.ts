import { at, chance } from './chance.ts'
import type { WorldCompany } from './companies.ts'
import type { Move } from './moves.ts'

/** The channels of advertisements. The last two are the ones that the description names. */
export const advertisementSources = ['profnet', 'facebook', 'google', 'tiktok', 'apple'] as const
export type AdvertisementSource = (typeof advertisementSources)[number]
export const reachTiers = [
  { slug: 'under-10k', label: 'Under 10,000', from: 500, to: 9_999 },
  { slug: '10k-100k', label: '10,000 to 100,000', from: 10_000, to: 99_999 },
  { slug: '100k-1m', label: '100,000 to 1 million', from: 100_000, to: 999_999 },
  { slug: 'over-1m', label: 'Over 1 million', from: 1_000_000, to: 9_000_000 },
] as const
const advertisementFormats = ['image', 'video', 'carousel', 'text'] as const
/** Apple advertisements are known in these countries alone. */
export const appleCountries = ['US', 'GB', 'DE', 'FR', 'JP', 'CA', 'AU']

export interface Advertisement {
  id: string
  company: WorldCompany
  country: string
  source: AdvertisementSource
  tier: (typeof reachTiers)[number]
  format: (typeof advertisementFormats)[number]
  /** The first day on which it ran. */
  day: number
  /** The last one, told from that day on; null while its end lies ahead. */
  lastDay: number | null
  seed: number
}

const PERIOD = 90
const SHOWN_DAYS = 365

/** Returns the advertisements that are signals of a move, in the market that it leads to. */
export function advertisementsOfMove(move: Move, today: number): Advertisement[] {
  return move.signals
    .filter(({ type }) => type === 'advertising')
    .map(({ day, step }) =>
      advertisementAt(move.company, `ad-${move.company.index}-m${move.seed}-${step}`, {
        seed: 10_000 + move.seed * 64 + step,
        country: move.to,
        day,
        today,
      }),
    )
}

/** Returns the advertisements that a company has run at home in the last year. */
export function advertisementsAtHome(company: WorldCompany, today: number): Advertisement[] {
  const { index } = company
  if (chance(index, 501) < 0.7) return []
  const phase = Math.floor(chance(index, 502) * PERIOD)
  const newest = Math.floor((today - phase) / PERIOD)
  return [newest, newest - 1, newest - 2, newest - 3]
    .map((seed) => ({ seed, day: phase + seed * PERIOD }))
    .filter(({ day, seed }) => today - day <= SHOWN_DAYS && chance(index, 503, seed) < 0.6)
    .map(({ seed, day }) =>
      advertisementAt(company, `ad-${index}-h${seed}`, { seed, country: company.place.country, day, today }),
    )
}

/** True on the last day too. */
export function runsOn({ day, lastDay }: Advertisement, today: number): boolean {
  return day <= today && (lastDay ?? Infinity) >= today
}

function advertisementAt(
  company: WorldCompany,
  id: string,
  { seed, country, day, today }: { seed: number; country: string; day: number; today: number },
): Advertisement {
  const { index } = company
  const lastDay = day + 10 + Math.floor(chance(index, 504, seed) * 80)
  const source = at(advertisementSources, chance(index, 505, seed))
  return {
    id,
    company,
    country,
    source: source === 'apple' && !appleCountries.includes(country) ? 'google' : source,
    tier: at(reachTiers, chance(index, 506, seed)),
    format: at(advertisementFormats, chance(index, 507, seed)),
    day,
    lastDay: lastDay <= today ? lastDay : null,
    seed,
  }
}
