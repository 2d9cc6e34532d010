import { ConfigError } from '../../domain/errors.ts'
import { markOf, type Mark, type MarkKind } from '../../domain/subjects/identifiers.ts'

/** What a command was given, by kind. */
export type Named = Readonly<Partial<Record<MarkKind, readonly string[]>>>

const words: Record<MarkKind, string> = {
  email: '--email',
  phone: '--phone',
  profile_url: '--profile-url',
  domain: '--domain',
}

/** Canonical marks of what a person typed. Refuses what cannot be read, by its option and never by its value. */
export function readMarks(named: Named): Mark[] {
  const marks = Object.entries(named).flatMap(([kind, raws]) =>
    raws.map((raw): Mark => {
      const canonical = markOf(kind as MarkKind, raw)
      if (!canonical.ok)
        throw new ConfigError('bad_subject', `${words[kind as MarkKind]} cannot be read: ${canonical.reason}`)
      return { kind: kind as MarkKind, value: canonical.value }
    }),
  )
  if (marks.length > 0) return marks
  throw new ConfigError(
    'no_subject',
    `say whom: one or more of ${Object.keys(named)
      .map((kind) => words[kind as MarkKind])
      .join(', ')}`,
  )
}
