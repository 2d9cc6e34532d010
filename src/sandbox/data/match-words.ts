import { foldName } from './fold.ts'

/**
 * Returns the catalog entries that the values name, ignoring case, spaces and punctuation. A value names the entry that
 * it equals, or the only entry that contains all of its words. Any other value names nothing and finds no one.
 */
export function entriesOf<T extends string>(catalog: readonly T[], values: readonly string[]): Set<T> {
  return new Set(
    values.flatMap((value) => {
      const whole = catalog.find((entry) => squeezed(entry) === squeezed(value))
      if (whole !== undefined) return [whole]
      const words = foldName(value).split(' ').filter(Boolean)
      const holding = catalog.filter((entry) =>
        words.every((word) => foldName(entry).split(' ').includes(word)),
      )
      return words.length > 0 && holding.length === 1 ? holding : []
    }),
  )
}

/** Returns the words of a closed list that the values are, in any case. Nothing else is guessed. */
export function exactly<T extends string>(list: readonly T[], values: readonly string[]): Set<T> {
  const asked = new Set(values.map((value) => value.trim().toLowerCase()))
  return new Set(list.filter((word) => asked.has(word.toLowerCase())))
}

function squeezed(text: string) {
  return foldName(text).replaceAll(' ', '')
}
