import type { Identifier } from '../../domain/subjects/identifiers.ts'

/** Returns the texts by which rows that may name the subject are found; `scrub` then decides. */
export function needlesOf(identifiers: readonly Identifier[]): string[] {
  return [
    ...new Set(
      identifiers.flatMap(({ kind, value }) => {
        if (kind !== 'profile_url') return [value]
        const slug = value.slice(value.indexOf('/') + 1)
        return [slug, encodeURI(slug)]
      }),
    ),
  ]
}
