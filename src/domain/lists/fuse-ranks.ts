import type { ObjectKind } from '../words.ts'

/** A place of a row in the answer for one reference. */
export interface Naming {
  /** The number of the reference: its part of the list. */
  part: number
  /** The place among the rows of its answer, the best is 1. */
  rank: number
  /** Its `similarity_score`, 0 to 1, which the service shows for people alone. */
  score?: number | undefined
}

/** The constant of reciprocal rank fusion: the larger, the less the first places count beside the later ones. */
const fusionK = 60

/**
 * Returns how similar a row is to the references that named it, the higher the more; null where nothing tells it. Of a person it is
 * the best score that the service gave. Of a company, for which it shows none, the places are fused: 1/(60 + rank) of each
 * reference, added up. A reference counts once, by its best place. Pure.
 *
 * It is an opinion about a search, and no fact of the company or person: nothing writes it into a record.
 */
export function similarityOf(object: ObjectKind, namings: readonly Naming[]): number | null {
  if (object === 'person') {
    const scores = namings.flatMap(({ score }) => (score === undefined ? [] : [score]))
    return scores.length === 0 ? null : Math.max(...scores)
  }
  const ranks = [...bestPlaces(namings).values()].map(({ rank }) => rank)
  // From the smallest part on, so that the sum is the same in whatever order the references were asked.
  return ranks.sort((a, b) => b - a).reduce((sum, rank) => sum + 1 / (fusionK + rank), 0)
}

/** Returns the references that named a row, each once with its best place, the best first. */
export function namedBy<N extends Naming>(namings: readonly N[]): N[] {
  return [...bestPlaces(namings).values()].sort((a, b) => a.rank - b.rank || a.part - b.part)
}

/** Reads the score of a row of the service. Undefined: it has none that can be one. */
export function scoreOf(row: Readonly<Record<string, unknown>>): number | undefined {
  const score = row['similarity_score']
  return typeof score === 'number' && score >= 0 && score <= 1 ? score : undefined
}

function bestPlaces<N extends Naming>(namings: readonly N[]): Map<number, N> {
  const best = new Map<number, N>()
  for (const naming of namings) {
    const known = best.get(naming.part)
    if (known === undefined || naming.rank < known.rank) best.set(naming.part, naming)
  }
  return best
}
