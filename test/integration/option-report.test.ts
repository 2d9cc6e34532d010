import { afterAll, beforeAll, expect, test } from 'vitest'
import { reportOptions } from '../../src/app/reports/option-report.ts'
import { mappingSchema } from '../../src/domain/mapping/schema.ts'
import { companyAnswer } from '../../src/sandbox/data/company.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openCrmHouse, type CrmHouse } from './crm-house.ts'
import { openSalesforceBench } from './salesforce.fixture.ts'

let sandbox: Sandbox
let house: CrmHouse
const urlOf = (index: number) => `https://www.profnet.com/company/options-co-${index}`
const industries = Array.from(
  { length: 20 },
  (_, index) => companyAnswer(urlOf(index)).data?.industry ?? null,
)

beforeAll(async () => {
  sandbox = await startSandbox()
  house = await openCrmHouse(sandbox)
  industries.forEach((_, index) =>
    house.add('companies', { name: `Options ${index}`, profnet_url: urlOf(index), industry: 'TEXTILES' }),
  )
  await house.sync('companies')
})
afterAll(async () => {
  await house.close()
  await sandbox.stop()
})

test('lists the values of the ledger without an option, in both CRMs, and an option of the config file takes one off', async () => {
  const told = new Set(industries.filter((industry) => industry !== null))
  const bench = await openSalesforceBench({ accounts: 0, contacts: 0, leads: 0 })
  const paid = sandbox.stats().settled
  try {
    const connectors = { hubspot: house.connector, salesforce: bench.connect() }
    for (const [name, connector] of Object.entries(connectors)) {
      const entity = name === 'hubspot' ? 'companies' : 'Account'
      const report = async (fields: object) => {
        const mapping = mappingSchema.parse({ [entity]: { fields } })
        const config = { ...house.context.config, connectors: { [name]: { mapping } } } as never
        const [found, ...others] = await reportOptions(
          { config, database: house.context.database },
          connector,
          [entity],
        )
        expect(others).toEqual([])
        return found
      }
      const property = name === 'hubspot' ? 'industry' : 'Industry'
      const before = await report({})
      expect(before).toMatchObject({
        entity,
        field: 'industry',
        property,
        values: told.size,
        allowNew: false,
      })
      const [first, ...rest] = before?.without ?? []
      if (!first) throw new Error('every industry of the sandbox has an option')
      expect(first.answers).toBe(industries.filter((industry) => industry === first.value).length)
      const options = { [first.value]: name === 'hubspot' ? 'TEXTILES' : 'Media' }
      expect((await report({ industry: { property, options } }))?.without).toEqual(rest)
    }
  } finally {
    await bench.stop()
  }
  expect(sandbox.stats().settled).toBe(paid)
})
