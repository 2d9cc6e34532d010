import type { FieldValue, furtherIdentifiers, Identity } from './record.ts'
import type { ObjectKind } from './words.ts'

/** No field holds a further identifier: an answer does not tell them. */
type NamedByFields = Exclude<keyof Identity, (typeof furtherIdentifiers)[number]['field']>

/** Derives a record's identity from its mapped fields, for sources that cannot read anything else. */
export function identityOfValues(object: ObjectKind, values: Readonly<Record<string, FieldValue>>): Identity {
  const text = (...names: string[]) => {
    const found = names.map((name) => values[name]).find((value) => value !== undefined && value !== '')
    return found === undefined ? undefined : String(found)
  }
  const [firstName, ...rest] = text('full_name')?.trim().split(/\s+/) ?? []
  const identity: Record<NamedByFields, string | undefined> = {
    profileUrl: text('profnet_url'),
    domain: object === 'company' ? text('domain', 'website') : text('company_domain', 'company_website'),
    email: object === 'person' ? text('email', 'email_personal') : undefined,
    phone: object === 'person' ? text('phone', 'mobile_phone') : undefined,
    // A name of one word cannot be searched by.
    firstName:
      object === 'person' ? (text('first_name') ?? (rest.length > 0 ? firstName : undefined)) : undefined,
    lastName:
      object === 'person' ? (text('last_name') ?? (rest.length > 0 ? rest.join(' ') : undefined)) : undefined,
    company: text('company_name'),
  }
  return Object.fromEntries(Object.entries(identity).filter(([, value]) => value !== undefined))
}
