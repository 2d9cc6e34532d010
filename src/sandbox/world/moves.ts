import { chance } from './chance.ts'
import { worldCompanies, type WorldCompany } from './companies.ts'
import { markets } from './markets.ts'
import { positionOf, type Position } from './position.ts'
import { signalStrengths, signalTypes, type MoveSignal } from './signal.ts'

// A company has up to three places for expansions. In each, one expansion follows another for ever, so that any day has
// some. All that a day shows is computed from the day: nothing happens when the clock moves.

/** One company's entry into one market, as it stands on a day. */
export interface Move extends Position {
  id: string
  company: WorldCompany
  from: string
  to: string
  /** A number that distinguishes the moves of a company, for `chance`. */
  seed: number
  /** The first is the oldest. */
  signals: MoveSignal[]
}

const places = [
  { share: 0.55, ofFirms: 0.9 },
  { share: 0.15, ofFirms: 0.3 },
  { share: 0.05, ofFirms: 0.1 },
]
const FIRMS = 400

/** Returns the expansions of the whole world that have shown themselves by a day. */
export function movesOn(day: number): Move[] {
  return worldCompanies().flatMap((company) => companyMoves(company, day))
}

function companyMoves(company: WorldCompany, day: number): Move[] {
  return places.flatMap(({ share, ofFirms }, place) => {
    const chanceOfMove = company.index < FIRMS ? ofFirms : share
    if (chance(company.index, 201, place) >= chanceOfMove) return []
    const move = moveAt(company, place, day)
    return move === null ? [] : [move]
  })
}

function moveAt(company: WorldCompany, place: number, day: number): Move | null {
  const period = 420 + Math.floor(chance(company.index, 202, place) * 300)
  const phase = Math.floor(chance(company.index, 203, place) * period)
  const cycle = Math.floor((day - phase) / period)
  const seed = cycle * places.length + place
  const to = marketFor(company, place, seed)
  const begins = phase + cycle * period + Math.floor(chance(company.index, 204, seed) * 90)
  const signals = signalsOf(company, seed, begins, day)
  if (signals.length === 0) return null
  return {
    id: `ex-${company.index}-${seed}`,
    company,
    from: company.place.country,
    to,
    seed,
    signals,
    ...positionOf(signals, day),
  }
}

const thirds = places.map((_, third) => markets.filter((__, index) => index % places.length === third))

/** The places of a company draw from different markets, so that no two of its moves lead to the same one. */
function marketFor(company: WorldCompany, place: number, seed: number): string {
  const third = thirds[(company.index + place) % thirds.length]!
  const choice = Math.floor(chance(company.index, 205, seed) * third.length)
  const first = third[choice]!
  return (first.country === company.place.country ? third[(choice + 1) % third.length]! : first).country
}

function signalsOf(company: WorldCompany, seed: number, begins: number, today: number): MoveSignal[] {
  const { index } = company
  // The firms at which people can be found do more, so that the first pages of a search lead to people.
  const more = index < FIRMS ? 3 : 0
  const count = 2 + more + Math.floor(chance(index, 206, seed) ** 2 * 14)
  const retreats = chance(index, 207, seed) < 0.15
  const breadth = Math.min(
    signalTypes.length,
    1 + more + Math.floor(chance(index, 208, seed) * signalTypes.length),
  )
  const offset = Math.floor(chance(index, 209, seed) * signalTypes.length)
  const signals: MoveSignal[] = []
  let day = begins
  for (let step = 0; step < count && day <= today; step++) {
    const isNegative = retreats && step >= count * 0.6
    const type =
      signalTypes[(offset + Math.floor(chance(index, 210, seed, step) * breadth)) % signalTypes.length]!
    signals.push({
      id: `sg-${index}-${seed}-${step}`,
      day,
      // A retreat is not advertised: news tell of it, or it shows at events.
      type: isNegative ? (chance(index, 211, seed, step) < 0.7 ? 'news' : 'events') : type,
      strength: signalStrengths[Math.floor(chance(index, 212, seed, step) * 3)]!,
      polarity: isNegative ? 'negative' : 'positive',
      step,
    })
    day += 4 + Math.floor(chance(index, 213, seed, step) * 46)
  }
  return signals
}
