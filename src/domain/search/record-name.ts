import { furtherIdentifiers, type Identity } from '../record.ts'

/**
 * Returns what a person calls a record: a person's name with the company, else the company, the address or the profile.
 * Undefined where nothing is known, as after its subject was forgotten.
 */
export function recordName(identity: Identity): string | undefined {
  const { firstName, lastName, company, email, domain, profileUrl } = identity
  const person = [firstName, lastName].filter(Boolean).join(' ')
  if (person !== '') return company ? `${person}, ${company}` : person
  const further = furtherIdentifiers.map(({ field }) => identity[field])
  return [company, email, domain, profileUrl, ...further].find((value) => value !== undefined)
}
