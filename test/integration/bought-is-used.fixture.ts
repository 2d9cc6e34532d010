import { expect } from 'vitest'
import type { FileConfig } from '../../src/app/config/file.ts'
import { hubspotMapping } from '../../src/connectors/hubspot/mapping.ts'
import { salesforceMapping } from '../../src/connectors/salesforce/mapping.ts'
import { fieldRules } from '../../src/domain/field-policy/field-policy.ts'
import { createRandom, type Random } from '../../src/sandbox/crm/seed-world.ts'
import { DIRECTORY_SIZE, member } from '../../src/sandbox/data/directory.ts'
import type { Sandbox } from '../../src/sandbox/sandbox.ts'
import { openCrmWorld, type CrmKind, type Values } from './crm-worlds.ts'

/** Each CRM's names of the fields of a person that the recipe `contact` may fill, and a property that cannot hold them. */
const crms = {
  hubspot: {
    entity: 'contacts',
    mapping: hubspotMapping,
    unfit: 'closedate',
    spare: { email: 'work_email' },
    identity: { first: 'firstname', last: 'lastname', company: 'company', site: 'website' },
  },
  salesforce: {
    entity: 'Lead',
    mapping: salesforceMapping,
    unfit: 'IsConverted',
    spare: {},
    identity: { first: 'FirstName', last: 'LastName', company: 'Company', site: 'Website' },
  },
} as const

const fields = [
  'first_name',
  'last_name',
  'email',
  'phone',
  'mobile_phone',
  'profnet_url',
  'job_title',
  'company_name',
]
const contactFields = { email: ['email'], phone: ['phone', 'mobile_phone'] }

export interface Bought {
  usd: number
  revealed: number
  found: number
  /** Paid lookups of records to which nothing that they lead to could be written. */
  useless: string[]
  /** Revealed values that are in no record. */
  lost: string[]
}

/** One sync of `contact` with a random mapping and policy, and what it bought held against what the CRM holds. */
export async function buyContacts(
  sandbox: Sandbox,
  kind: CrmKind,
  { seed, records, isDefault = false }: { seed: number; records: number; isDefault?: boolean },
): Promise<Bought> {
  const random = createRandom(seed, kind)
  const { entity, mapping, spare, identity } = crms[kind]
  const changes = isDefault ? {} : randomMapping(random, spare)
  const rules = isDefault ? {} : randomRules(random)
  const propertyOf = (field: string): string | undefined => {
    const change = (changes as Record<string, string | false>)[field]
    return change === false ? undefined : (change ?? mapping.entities[entity]?.fields[field]?.property)
  }
  const config: FileConfig = {
    payment: { maxPricesUsd: { 'contact.redeem:email-work': '0.15', 'contact.redeem:phone': '0.30' } },
    // A run that stops at its budget leaves answers that wait to be written with the next ones.
    budgets: { runUsd: '1000', dayUsd: '1000' },
    policies: { [kind]: rules },
    connectors: { [kind]: { mapping: { [entity]: { fields: changes } } } },
  }
  const world = await openCrmWorld(sandbox, kind, entity, config)
  try {
    await sandbox.fund(world.wallet, 200_000_000n)
    const before = new Map<string, Values>()
    for (let index = 0; index < records; index += 1) {
      const values = personValues(random, seed * 10_000 + index, identity, kind)
      before.set(world.add(values), values)
    }
    await world.sync({ since: new Date(0), recipe: 'contact' })
    const { db } = world.context.database
    const charges = await db
      .selectFrom('charges')
      .select('amount_atomic')
      .where('state', '=', 'settled')
      .execute()
    // The ledger is this test's own: each lookup was bought here, alone or in a batch.
    const lookups = await db
      .selectFrom('lookups')
      .select(['key', 'operation', 'answer'])
      .where('state', '=', 'answered')
      .execute()
    const tasks = await db.selectFrom('tasks').select(['record_id', 'steps', 'lookup_key']).execute()
    const held = new Set([...world.state().values()].flatMap((values) => Object.values(values).map(String)))
    const isOpen = (values: Values, field: string) => {
      const property = propertyOf(field)
      if (property === undefined || property === crms[kind].unfit) return false
      const rule = rules[field] ?? 'fill_blank'
      if (rule === 'never') return false
      return rule === 'overwrite' || (values[property] ?? '') === ''
    }
    const bought: Bought = { usd: 0, revealed: 0, found: 0, useless: [], lost: [] }
    for (const { amount_atomic: amount } of charges) bought.usd += Number(amount) / 1e6
    for (const { key, operation, answer } of lookups) {
      if (key.startsWith('bundle|')) continue
      const records = tasks.filter(({ steps, lookup_key: first }) => steps.includes(key) || first === key)
      const could =
        operation === 'contact.lookup'
          ? fields
          : key.endsWith('phone')
            ? contactFields.phone
            : contactFields.email
      const isUseful = records.some(({ record_id: id }) =>
        could.some((field) => isOpen(before.get(id) ?? {}, field)),
      )
      if (!isUseful) bought.useless.push(key)
      if (operation !== 'contact.redeem') continue
      const values = valuesIn(answer)
      if (values.length === 0) continue
      bought.revealed += 1
      if (values.some((value) => held.has(value))) bought.found += 1
      else bought.lost.push(key)
    }
    return bought
  } finally {
    await world.close()
  }
}

export function expectUsed({ useless, lost, revealed, found }: Bought): void {
  expect({ useless, lost }).toEqual({ useless: [], lost: [] })
  expect(found).toBe(revealed)
}

function randomMapping(
  random: Random,
  spare: Readonly<Record<string, string>>,
): Record<string, string | false> {
  const changes: Record<string, string | false> = {}
  for (const field of fields) {
    const roll = random()
    if (roll < 0.3) changes[field] = false
    else if (roll < 0.4 && spare[field]) changes[field] = spare[field] as string
  }
  return changes
}

function randomRules(random: Random): Record<string, (typeof fieldRules)[number]> {
  const rules: Record<string, (typeof fieldRules)[number]> = {}
  for (const field of fields) {
    if (random() < 0.4) rules[field] = fieldRules[Math.floor(random() * fieldRules.length)] ?? 'fill_blank'
  }
  return rules
}

function personValues(
  random: Random,
  index: number,
  names: { first: string; last: string; company: string; site: string },
  kind: CrmKind,
): Values {
  const { slug, firstName, lastName, employer } = member((index * 7) % DIRECTORY_SIZE)
  const [url, email, phone, mobile, title] =
    kind === 'hubspot'
      ? ['profnet_url', 'email', 'phone', 'mobilephone', 'jobtitle']
      : ['Profnet_URL__c', 'Email', 'Phone', 'MobilePhone', 'Title']
  const values: Values = { [names.last]: lastName, [names.company]: employer.name }
  if (random() < 0.9) values[names.first] = firstName
  if (random() < 0.7) values[names.site] = employer.domain
  if (random() < 0.6) values[url as string] = `https://www.profnet.example/in/${slug}`
  if (random() < 0.3) values[email as string] = `old.${index}@kept.example`
  if (random() < 0.25) values[phone as string] = `+4989${String(1_000_000 + index)}`
  if (random() < 0.15) values[mobile as string] = `+49151${String(20_000_000 + index)}`
  if (random() < 0.4) values[title as string] = 'Keeper'
  return values
}

/** The values that an answer reveals: those of an e-mail in lower case, of a phone in E.164, as the CRM holds them. */
function valuesIn(answer: unknown): string[] {
  const { emails, phones } = (answer ?? {}) as Record<string, { value: string }[] | null | undefined>
  return [...(emails ?? []), ...(phones ?? [])].map(({ value }) => value)
}
