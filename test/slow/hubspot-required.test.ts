import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { companyAnswer } from '../../src/sandbox/data/company.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { writeAccepted } from '../../src/workers/write/write-dropping-refused.ts'
import type { FileConfig } from '../../src/app/config/file.ts'
import { openCrmHouse, quick, type CrmHouse, type Properties } from '../integration/crm-house.ts'

let sandbox: Sandbox
let house: CrmHouse

beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())
afterEach(() => house.close())

const urlOf = (name: string) => `https://www.profnet.com/company/${name}`
const known = Array.from({ length: 100 }, (_, index) => `required-co-${index}`).filter((name) => {
  const { data } = companyAnswer(urlOf(name))
  return data?.description && data.industry
})
const add = (index: number, more: Properties): string =>
  house.add('companies', { name: known[index]!, profnet_url: urlOf(known[index]!), ...more })
const bought = async (): Promise<number> =>
  (await house.context.database.db.selectFrom('charges').select('id').execute()).length
const endOf = (id: string) =>
  house.context.database.db
    .selectFrom('tasks')
    .select(['status', 'reason'])
    .where('record_id', '=', id)
    .orderBy('id', 'desc')
    .executeTakeFirstOrThrow()
const valueOf = (id: string, property: string): string | undefined =>
  house.hubspot.store.get('companies', id)?.properties[property]

/** Customers must have a revenue, which no mapping fills. */
const rule = { property: 'annualrevenue', when: { property: 'lifecyclestage', is: ['customer'] } }
const declared: FileConfig = {
  connectors: { hubspot: { ...quick.hubspot, required: { companies: [rule] } } },
}

describe('a property that an administrator’s rule requires', () => {
  test('is foreseen by a rule of the config: nothing is bought for a record that takes no write', async () => {
    house = await openCrmHouse(sandbox, { config: declared })
    house.hubspot.faults.required.push({ type: 'companies', ...rule })
    const poor = add(0, { lifecyclestage: 'customer' })
    const rich = add(1, { lifecyclestage: 'customer', annualrevenue: '12' })
    const other = add(2, { lifecyclestage: 'lead' })
    await house.sync('companies')
    expect(await endOf(poor)).toMatchObject({
      status: 'rejected',
      reason:
        'HubSpot requires "annualrevenue" of records with this "lifecyclestage": fill it in, or change the rule in HubSpot’s settings',
    })
    for (const id of [rich, other]) expect(await endOf(id)).toMatchObject({ status: 'written' })
    expect(await bought()).toBe(2)
    // Once it is filled, the record is enriched like any other.
    house.edit('companies', poor, { annualrevenue: '7' })
    await house.sync('companies', undefined, { since: new Date(0) })
    expect(await endOf(poor)).toMatchObject({ status: 'written' })
  })

  test('is learned from the first refusal, and the next record is not paid for', async () => {
    house = await openCrmHouse(sandbox)
    house.hubspot.faults.required.push({ type: 'companies', ...rule })
    const first = add(3, { lifecyclestage: 'customer' })
    await house.sync('companies')
    expect(await endOf(first)).toMatchObject({
      status: 'rejected',
      reason: expect.stringContaining('requires "annualrevenue" of records with this "lifecyclestage"'),
    })
    const paid = await bought()
    const second = add(4, { lifecyclestage: 'customer' })
    const third = add(5, { lifecyclestage: 'lead' })
    await house.sync('companies', undefined, { since: new Date(0) })
    expect(await endOf(second)).toMatchObject({ status: 'rejected' })
    expect(await endOf(third)).toMatchObject({ status: 'written' })
    expect(await bought()).toBe(paid + 1)
  })

  test('by a value of ours costs that value alone', async () => {
    house = await openCrmHouse(sandbox)
    const id = add(6, {})
    const industries = house.hubspot.store.registry.properties.companies.get('industry')!.options
    house.hubspot.faults.required.push({
      type: 'companies',
      property: 'annualrevenue',
      when: { property: 'industry', is: industries.map(({ value }) => value) },
    })
    await house.connector.ensureFields('companies', { dryRun: false })
    const patch = { industry: { set: 'COMPUTER_SOFTWARE' }, description: { set: 'Ships' } }
    const [sent] = await writeAccepted(house.connector, 'companies', [{ id, patch }])
    expect(sent).toMatchObject({
      outcome: { status: 'written' },
      refused: [{ field: 'industry', code: 'MISSING_CONDITIONAL_REQUIRED_PROPERTY' }],
    })
    expect(valueOf(id, 'description')).toBe('Ships')
    expect(valueOf(id, 'industry')).toBeUndefined()
  })

  test('stands in doctor, beside the rules for values', async () => {
    house = await openCrmHouse(sandbox, {
      config: {
        connectors: {
          hubspot: {
            required: { companies: [{ property: 'revnue', when: { property: 'type', is: ['PARTNER'] } }] },
          },
        },
      },
    })
    const rules = { type: 'companies', ruleType: 'MAX_LENGTH', ruleArguments: ['10'] } as const
    for (const property of ['phone', 'description'])
      house.hubspot.faults.validations.push({ ...rules, property, ruleArguments: ['10'] })
    const { problems } = await house.connector.check()
    expect(problems).toContainEqual({
      code: 'unknown_property',
      message: 'connectors.hubspot.required: companies have no property "revnue"',
      todo: expect.any(String),
    })
    expect(problems).toContainEqual({
      code: 'value_rules',
      message: 'HubSpot checks the values of companies.description (MAX_LENGTH)',
      todo: expect.any(String),
    })
  })
})
