import { ConfigError } from '../../domain/errors.ts'
import { identifierOf, type Identifier, type IdentifierKind } from '../../domain/subjects/identifiers.ts'

/** What a command was given, by kind. */
export type Named = Readonly<Partial<Record<IdentifierKind, readonly string[]>>>

const words: Record<IdentifierKind, string> = {
  email: '--email',
  phone: '--phone',
  profile_url: '--profile-url',
  domain: '--domain',
}

/** Canonical marks of what a person typed. Refuses what cannot be read, by its option and never by its value. */
export function readIdentifiers(named: Named): Identifier[] {
  const marks = Object.entries(named).flatMap(([kind, raws]) =>
    raws.map((raw): Identifier => {
      const canonical = identifierOf(kind as IdentifierKind, raw)
      if (!canonical.ok)
        throw new ConfigError(
          'bad_subject',
          `${words[kind as IdentifierKind]} cannot be read: ${canonical.reason}`,
        )
      return { kind: kind as IdentifierKind, value: canonical.value }
    }),
  )
  if (marks.length > 0) return marks
  throw new ConfigError(
    'no_subject',
    `say whom: one or more of ${Object.keys(named)
      .map((kind) => words[kind as IdentifierKind])
      .join(', ')}`,
  )
}
