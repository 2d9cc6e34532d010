import { foldName } from '../data/fold.ts'
import { markets } from '../world/markets.ts'
import { momenta, stages } from '../world/position.ts'
import { signalTypes } from '../world/signal.ts'

/** The filters that a sentence can stand for. */
export interface ReadQuery {
  froms?: string[]
  tos?: string[]
  stages?: string[]
  signal_types?: string[]
  momentum?: string[]
}

const signalWords: Record<(typeof signalTypes)[number], readonly string[]> = {
  hiring: ['hiring', 'hire', 'hires', 'jobs', 'recruiting'],
  news: ['news', 'press'],
  advertising: ['advertising', 'ads', 'advertisements', 'campaigns'],
  cloud: ['cloud', 'infrastructure'],
  events: ['events', 'event', 'conference'],
}

/**
 * Reads a plain-English sentence: "German companies expanding into Spain with hiring". A country after "from", or as an
 * adjective, is where they come from; any other is where they go.
 */
export function readQuery(query: string): ReadQuery {
  const text = ` ${foldName(query)} `
  const has = (words: string) => text.includes(` ${foldName(words)} `)
  const froms = markets.filter(({ name, adjective }) => has(`from ${name}`) || has(adjective))
  const tos = markets.filter((market) => has(market.name) && !froms.includes(market))
  const read: ReadQuery = {
    froms: froms.map(({ country }) => country),
    tos: tos.map(({ country }) => country),
    stages: stages.filter((stage) => has(stage) && !(stage === 'Expanding' && has('expanding into'))),
    signal_types: signalTypes.filter((type) => signalWords[type].some(has)),
    momentum: momenta.filter((word) => has(word)),
  }
  return Object.fromEntries(Object.entries(read).filter(([, values]) => values.length > 0))
}
