import { furtherIdentifiers, type Identity } from '../record.ts'
import { textFault } from './text-fault.ts'

/**
 * The longest identifying text that is read, in UTF-16 units. Longer ones identify nothing that the service could know, and
 * every normaliser works on them.
 */
const identityLengths: Record<keyof Identity, number> = {
  profileUrl: 2_048,
  domain: 2_048,
  email: 1_000,
  phone: 250,
  firstName: 500,
  lastName: 500,
  company: 1_000,
  companyId: 200,
  tiktokUrl: 2_048,
  wantedlyUrl: 2_048,
  tw104Url: 2_048,
  rocketpunchUrl: 2_048,
  rememberUrl: 2_048,
  youtrustUrl: 2_048,
}

/** Longer than the longest text that a field of HubSpot (65,536) or Salesforce (131,072) takes. */
const valueLength = 200_000

const spoken: Partial<Record<keyof Identity, string>> = {
  profileUrl: 'profile URL',
  domain: 'domain',
  email: 'e-mail',
  phone: 'phone',
  firstName: 'first name',
  lastName: 'last name',
  company: 'company',
  ...Object.fromEntries(furtherIdentifiers.map(({ field, label }) => [field, label])),
}

/**
 * Returns why the values that identify a record cannot be read, naming the field, or undefined when all can. The words never
 * contain a value.
 */
export function identityFault(identity: Identity): string | undefined {
  for (const field of Object.keys(identity) as (keyof Identity)[]) {
    const text = identity[field]
    const fault = text === undefined ? undefined : textFault(text, identityLengths[field])
    if (fault !== undefined) return `the ${spoken[field]} cannot be read: ${fault}`
  }
  return undefined
}

/** The same for a record's values by field. */
export function valuesFault(values: Readonly<Record<string, unknown>>): string | undefined {
  for (const field of Object.keys(values)) {
    const value = values[field]
    const fault = typeof value === 'string' ? textFault(value, valueLength) : undefined
    if (fault !== undefined) return `the field ${field} cannot be read: ${fault}`
  }
  return undefined
}
