import { ConfigError } from '../../domain/errors.ts'
import { identifierOf, type Identifier, type IdentifierKind } from '../../domain/subjects/identifiers.ts'

/** The values that a command was given, by kind. */
export type Named = Readonly<Partial<Record<IdentifierKind, readonly string[]>>>

const words: Record<IdentifierKind, string> = {
  email: '--email',
  phone: '--phone',
  profile_url: '--profile-url',
  domain: '--domain',
}

/** Returns canonical identifiers of what a person typed. Throws ConfigError naming the option, never the value, that cannot be read. */
export function readIdentifiers(named: Named): Identifier[] {
  const identifiers = Object.entries(named).flatMap(([kind, raws]) =>
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
  if (identifiers.length > 0) return identifiers
  throw new ConfigError(
    'no_subject',
    `name a subject by one or more of ${Object.keys(named)
      .map((kind) => words[kind as IdentifierKind])
      .join(', ')}`,
  )
}
