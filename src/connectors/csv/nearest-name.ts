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

function letters(name: string): string {
  return name
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '')
    .slice(0, 40)
}

/** Levenshtein's. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let i = 1; i <= from.length; i++) {
    const next = [i]
    for (let j = 1; j <= to.length; j++) {
      const replaced = (row[j - 1] as number) + (from[i - 1] === to[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[j] as number) + 1, (next[j - 1] as number) + 1))
    }
    row = next
  }
  return row[to.length] as number
}
