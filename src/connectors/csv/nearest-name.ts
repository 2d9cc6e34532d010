import { editDistance, letters } from '../../domain/normalise/near-names.ts'

/** Returns a pair of a found and a known name that differ by one typing error; undefined when there is none. */
export function nearestName(
  names: readonly string[],
  known: readonly string[],
): { name: string; known: string } | undefined {
  let best: { name: string; known: string; distance: number } | undefined
  for (const name of names) {
    const word = letters(name)
    if (word.length < 4) continue
    for (const candidate of known) {
      const distance = editDistance(word, letters(candidate))
      if (distance <= Math.floor(word.length / 4) && distance < (best?.distance ?? Infinity))
        best = { name, known: candidate, distance }
    }
  }
  return best && { name: best.name, known: best.known }
}
