import type { Refusal } from './wire.ts'

/** The scopes that a refusal asks for: `chosen` are to be added, each of which `others` would replace. */
export interface MissingScopes {
  chosen: string[]
  others: string[]
}

/**
 * Returns the scopes that a 403 asks for. "One or more of the following scopes are required" lists every scope that
 * would do, also those for sensitive data and, in some calls, those of other objects: only the least of them is asked
 * for. Several entries are all required, each by any of its scopes.
 */
export function missingScopes(errors: NonNullable<Refusal['errors']>, call: { path: string }): MissingScopes {
  const chosen = new Set<string>()
  const others = new Set<string>()
  for (const { message = '', context = {} } of errors) {
    const scopes = [...new Set(Object.values(context).flat())]
    const isAllOf = /^\s*all\b/i.test(message)
    const picked = isAllOf ? scopes : leastFirst(scopes, call).slice(0, 1)
    for (const scope of picked) chosen.add(scope)
    for (const scope of scopes) others.add(scope)
  }
  return { chosen: [...chosen], others: [...others].filter((scope) => !chosen.has(scope)) }
}

function leastFirst(scopes: readonly string[], { path }: { path: string }): string[] {
  const isWrite = /\/batch\/(update|upsert|archive|associate\/default)$/.test(path)
  // A call about ties is refused for the records at the other end: those on this side could be read before.
  const entity = /\/(companies|contacts|deals|tickets)(\/batch\/|\/search|$)/.exec(path)?.[1]
  const weight = (scope: string): number =>
    (entity !== undefined && !scope.includes(`.${entity}.`) ? 16 : 0) +
    (scope.includes('sensitive') ? 8 : 0) +
    (scope.endsWith(isWrite ? '.read' : '.write') ? 4 : 0) +
    (scope.startsWith('crm.schemas.') === path.startsWith('/crm/properties/') ? 0 : 2)
  return scopes.toSorted((a, b) => weight(a) - weight(b))
}
