import { createRandom, seedCompany, seedPerson } from '../crm/seed-world.ts'
import type { SalesforceType } from './schema.ts'
import type { FieldValue, SalesforceRecord, SalesforceStore } from './store.ts'

export interface SeedOptions {
  readonly seed: number
  readonly count: number
  /** The stamp of the record at this index. Default: spread over the ninety days before `nowMs`, in ties of three. */
  readonly modstampMs?: number | ((index: number) => number)
  readonly nowMs: number
}

/** Adds generated records of one object. The same options on an empty store give the same records. */
export function seedRecords(
  store: SalesforceStore,
  type: SalesforceType,
  options: SeedOptions,
): SalesforceRecord[] {
  const start = store.count(type)
  const accounts = [...store.list('Account')].slice(0, 5000)
  const added: SalesforceRecord[] = []
  for (let index = start; index < start + options.count; index++) {
    const modstampMs = stampOf(options, index)
    const fields = present(
      type === 'Account'
        ? accountFields(options.seed, index)
        : type === 'Contact'
          ? contactFields(options.seed, index, accounts)
          : leadFields(options.seed, index),
    )
    added.push(store.add(type, { fields, createdAtMs: modstampMs - 86_400_000, modstampMs }))
  }
  return added
}

function stampOf({ modstampMs, nowMs }: SeedOptions, index: number): number {
  if (typeof modstampMs === 'number') return modstampMs
  if (modstampMs) return modstampMs(index)
  return nowMs - 90 * 86_400_000 + ((Math.floor(index / 3) * 7_919_333) % (89 * 86_400_000))
}

type Fields = Readonly<Record<string, FieldValue | undefined>>

function accountFields(seed: number, index: number): Fields {
  const company = seedCompany(seed, index)
  return {
    Name: company.name,
    Website: company.website ?? company.domain,
    Phone: company.phone?.slice(0, 40),
    NumberOfEmployees: company.employees,
    BillingCity: company.city,
    BillingCountry: company.country,
    Profnet_URL__c: company.profileUrl,
  }
}

function contactFields(seed: number, index: number, accounts: readonly SalesforceRecord[]): Fields {
  const person = seedPerson(seed, index, accounts.length)
  return {
    FirstName: person.firstName,
    LastName: person.lastName,
    Email: person.email,
    Phone: person.phone,
    Title: person.title,
    MailingCountry: person.country,
    AccountId: index % 5 === 0 ? undefined : accounts[person.companyIndex]?.id,
    Profnet_URL__c: person.profileUrl,
  }
}

/** Leads are different people from the contacts, at companies that need not be accounts. */
function leadFields(seed: number, index: number): Fields {
  const person = seedPerson(seed + 7919, index, 0)
  const random = createRandom(seed, 'lead', index)
  return {
    FirstName: person.firstName,
    LastName: person.lastName,
    Company: person.companyName ?? '[not provided]',
    Email: person.email,
    Phone: person.phone,
    Title: person.title,
    Country: person.country,
    Status: random() < 0.7 ? 'Open' : 'Working',
    Profnet_URL__c: person.profileUrl,
  }
}

function present(values: Fields): Record<string, FieldValue> {
  return Object.fromEntries(
    Object.entries(values).filter((entry): entry is [string, FieldValue] => entry[1] !== undefined),
  )
}
