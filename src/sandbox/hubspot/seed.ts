import { seedCompany, seedPerson, type SeedCompany, type SeedPerson } from '../crm/seed-world.ts'
import type { HubspotType } from './properties.ts'
import type { HubspotRecord, HubspotStore } from './store.ts'

export interface SeedOptions {
  readonly seed: number
  readonly count: number
  /** The stamp of the record at this index. Default: spread over the ninety days before `nowMs`. */
  readonly modifiedAtMs?: number | ((index: number) => number)
  readonly nowMs: number
}

/** Adds generated records of one object. The same options on an empty store give the same records. */
export function seedRecords(store: HubspotStore, type: HubspotType, options: SeedOptions): HubspotRecord[] {
  const start = store.count(type)
  const companies = [...store.list('companies')].slice(0, 5000)
  const added: HubspotRecord[] = []
  for (let index = start; index < start + options.count; index++) {
    const person = type === 'contacts' ? seedPerson(options.seed, index, companies.length) : undefined
    const properties = person
      ? contactProperties(person)
      : companyProperties(seedCompany(options.seed, index))
    if (properties.email && store.emailOwner(properties.email)) delete properties.email
    const modifiedAtMs = stampOf(options, index)
    const record = store.add(type, { properties, createdAtMs: modifiedAtMs - 86_400_000, modifiedAtMs })
    const company = person && index % 4 !== 0 ? companies[person.companyIndex] : undefined
    if (company) store.associate(record.id, company.id)
    added.push(record)
  }
  return added
}

function stampOf({ modifiedAtMs, nowMs }: SeedOptions, index: number): number {
  if (typeof modifiedAtMs === 'number') return modifiedAtMs
  if (modifiedAtMs) return modifiedAtMs(index)
  return nowMs - 90 * 86_400_000 + ((index * 7_919_333) % (89 * 86_400_000))
}

function companyProperties(company: SeedCompany): Record<string, string> {
  return present({
    name: company.name,
    domain: company.domain,
    website: company.website,
    phone: company.phone,
    country: company.country,
    city: company.city,
    industry: company.industry,
    numberofemployees: company.employees?.toString(),
    profnet_url: company.profileUrl,
  })
}

function contactProperties(person: SeedPerson): Record<string, string> {
  return present({
    firstname: person.firstName,
    lastname: person.lastName,
    email: person.email,
    phone: person.phone,
    jobtitle: person.title,
    company: person.companyName,
    country: person.country,
    profnet_url: person.profileUrl,
  })
}

function present(values: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).filter((entry): entry is [string, string] => entry[1] !== undefined),
  )
}
