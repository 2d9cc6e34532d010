import { normalForm } from './normal-form.ts'

/**
 * Returns at most three names close to a wrong one, the nearest first: a typing error apart, or one contained in the other.
 * Letter case and punctuation do not count.
 */
export function nearNames(name: string, known: readonly string[], limit = 3): string[] {
  const word = letters(name)
  if (word === '') return []
  return known
    .map((candidate) => ({ candidate, distance: distanceTo(word, letters(candidate)) }))
    .filter(({ distance }) => distance <= Math.max(1, word.length / 3))
    .sort((a, b) => a.distance - b.distance)
    .slice(0, limit)
    .map(({ candidate }) => candidate)
}

function distanceTo(word: string, candidate: string): number {
  const distance = editDistance(word, candidate)
  const [short, long] = word.length < candidate.length ? [word, candidate] : [candidate, word]
  // `employees` for `numberofemployees` is far apart by letters, but probably meant. It ranks after typing errors.
  const isWithin = short.length >= 4 && long.includes(short)
  return isWithin ? Math.min(distance, Math.max(1, word.length / 3)) : distance
}

/** Counts letters that were inserted, left out, replaced, or swapped with their neighbour. */
export function editDistance(from: string, to: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let i = 1; i <= from.length; i++) {
    const row = [i]
    for (let j = 1; j <= to.length; j++) {
      const replaced = (last[j - 1] as number) + (from[i - 1] === to[j - 1] ? 0 : 1)
      let least = Math.min(replaced, (last[j] as number) + 1, (row[j - 1] as number) + 1)
      const isSwapped = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]
      if (isSwapped) least = Math.min(least, (beforeLast[j - 2] as number) + 1)
      row.push(least)
    }
    beforeLast = last
    last = row
  }
  return last[to.length] as number
}

/** Most words of an address need no tables of Unicode. */
const plainWord = /^[A-Za-z0-9]{0,60}$/

/** Returns the comparable form of a name: `Number of Employees` and `number_of_employees` are the same. */
export function letters(name: string): string {
  if (plainWord.test(name)) return name.toLowerCase()
  return normalForm('NFKD', name)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '')
    .slice(0, 60)
}

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
