import type { LookupKey } from '../../domain/keys.ts'
import type { Operation } from '../../domain/words.ts'

/** Operations that tell certain fields and no others. */
const tells: Readonly<Partial<Record<Operation, ReadonlySet<string>>>> = {
  'company.logo': new Set(['logo']),
  'contact.redeem': new Set(['email', 'email_personal', 'phone', 'mobile_phone']),
}

/** The lookup that told a field of a record, of those that were made for it: the last one that can have. */
export function sourceOf(field: string, steps: readonly LookupKey[]): LookupKey | null {
  const special = Object.entries(tells).find(([, fields]) => fields.has(field))?.[0]
  const made = (wanted: (operation: string) => boolean) =>
    steps.findLast((key) => wanted(key.slice(0, key.indexOf('|'))))
  const own = special === undefined ? undefined : made((operation) => operation === special)
  return own ?? made((operation) => !(operation in tells)) ?? null
}
