import { editDistance, letters } from '../../domain/normalise/near-names.ts'

/** The pair of a name found and a known name that is a slip of the keyboard apart; undefined when none is. */
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
