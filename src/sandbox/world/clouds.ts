import { at, chance } from './chance.ts'
import type { WorldCompany } from './companies.ts'
import { markets, marketOf } from './markets.ts'
import type { Move } from './moves.ts'

export const cloudProviders = ['aws', 'azure', 'gcp'] as const

/** A region of a cloud provider in which something of a company runs. */
export interface Footprint {
  id: string
  company: WorldCompany
  country: string
  provider: (typeof cloudProviders)[number]
  /** Such as `aws-es-madrid`. */
  region: string
  day: number
  seed: number
}

/** Returns the regions in which a company appeared as part of a move. */
export function footprintsOfMove(move: Move): Footprint[] {
  return move.signals
    .filter(({ type }) => type === 'cloud')
    .map(({ day, step }) =>
      footprintAt(move.company, `cl-${move.company.index}-m${move.seed}-${step}`, {
        seed: 10_000 + move.seed * 64 + step,
        country: move.to,
        day,
      }),
    )
}

/** Returns the region at home, in which two in three companies have been for years. */
export function footprintsAtHome(company: WorldCompany): Footprint[] {
  const { index } = company
  if (chance(index, 601) < 0.35) return []
  const day = 17_500 + Math.floor(chance(index, 602) * 2000)
  return [footprintAt(company, `cl-${index}-h0`, { seed: 0, country: company.place.country, day })]
}

function footprintAt(
  company: WorldCompany,
  id: string,
  { seed, country, day }: { seed: number; country: string; day: number },
): Footprint {
  const provider = at(cloudProviders, chance(company.index, 603, seed))
  const city = at(markets[marketOf(country)]!.cities, chance(company.index, 604, seed))
  const place = city
    .normalize('NFKD')
    .replace(/[^A-Za-z ]/g, '')
    .toLowerCase()
    .replaceAll(' ', '-')
  return {
    id,
    company,
    country,
    provider,
    region: `${provider}-${country.toLowerCase()}-${place}`,
    day,
    seed,
  }
}
