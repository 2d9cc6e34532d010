import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readEnvironment } from './environment.ts'
import { loadConfigFile } from './file.ts'
import { mistakenCredentials } from './unknown-variables.ts'

const refusalOf = async (act: () => unknown): Promise<string> => {
  try {
    await act()
    return 'accepted'
  } catch (error) {
    expect(error).toMatchObject({ name: 'ConfigError' })
    return (error as Error).message
  }
}

describe('a variable', () => {
  test.each([
    ['PAYDIRT_BUDGET_DAY', 'PAYDIRT_BUDGET_DAY_USD'],
    ['PAYDIRT_BUDGET_RUN_USD_', 'PAYDIRT_BUDGET_RUN_USD'],
    ['PAYDIRT_MAXPRICE_USD', 'PAYDIRT_MAX_PRICE_USD'],
    ['PAYDIRT_MAX_PRICE', 'PAYDIRT_MAX_PRICE_USD'],
    ['PAYDIRT_PAYTO', 'PAYDIRT_PAY_TO'],
    ['PAYDIRT_RECIPIENTS', 'docs/configuration.md'],
    ['PAYDIRT_HUBSPOT_ACCESS_TOKEN', 'HUBSPOT_ACCESS_TOKEN'],
    ['paydirt_budget_day_usd', 'PAYDIRT_BUDGET_DAY_USD'],
    ['PAYDRIT_BUDGET_DAY_USD', 'PAYDIRT_BUDGET_DAY_USD'],
    ['HUBSPOT_ACESS_TOKEN', 'HUBSPOT_ACCESS_TOKEN'],
    ['HUBSPOT_ACCESSTOKEN', 'HUBSPOT_ACCESS_TOKEN'],
    ['SALESFORCE_CLIENT_SECRETS', 'SALESFORCE_CLIENT_SECRET'],
    ['PAY_DIRT_MAX_PRICE_USD', 'PAYDIRT_MAX_PRICE_USD'],
  ])('%s is refused with %s, and without its value', async (name, near) => {
    const message = await refusalOf(() => readEnvironment({ [name]: '17.17' }))
    expect(message).toContain(`${name} is not a setting`)
    expect(message).toContain(near)
    expect(message).not.toContain('17.17')
  })

  test.each([
    ['HUBSPOT_TOKEN', 'hubspot', 'HUBSPOT_ACCESS_TOKEN'],
    ['SALESFORCE_SECRET', 'salesforce', 'SALESFORCE_CLIENT_SECRET'],
  ] as const)(
    '%s is refused in the folder’s .env, and another program’s elsewhere',
    async (name, crm, near) => {
      const env = { [name]: '17.17' }
      const message = await refusalOf(() => readEnvironment(env, new Set([name])))
      expect(message).toBe(`${name} is not a setting; did you mean ${near}?`)
      expect(readEnvironment(env)).toEqual({})
      expect(mistakenCredentials(crm, env)).toBe(`${name} is set, which is not read; did you mean ${near}?`)
      expect(mistakenCredentials(crm, { ...env, [near]: 'x' })).toBe('')
      expect(readEnvironment({ ...env, [near]: 'x' }, new Set([name]))).toEqual({ [near]: 'x' })
    },
  )

  test('that is misspelt and empty is absent', () => {
    expect(readEnvironment({ PAYDIRT_BUDGET_DAY: '' })).toEqual({})
  })

  test.each([' , ,', ',', '  '])(
    'PAYDIRT_PAY_TO=%j does not fall back to the first recipient seen',
    async (value) => {
      const message = await refusalOf(() => readEnvironment({ PAYDIRT_PAY_TO: value }))
      expect(message).toMatch(/^PAYDIRT_PAY_TO names no address/)
    },
  )

  test.each([
    'http://base.example',
    'http://10.0.0.5:8545',
    'ws://127.0.0.1:8545',
    'ftp://127.0.0.1',
    'base',
  ])('PAYDIRT_RPC_URL=%s is refused: it decides what became of payments', async (value) => {
    expect(await refusalOf(() => readEnvironment({ PAYDIRT_RPC_URL: value }))).toMatch(/^PAYDIRT_RPC_URL /)
  })

  test.each([
    'https://base.example/v1/key',
    'http://127.0.0.1:8545',
    'http://localhost:8545',
    'http://[::1]:8545',
  ])('PAYDIRT_RPC_URL=%s is accepted', (value) =>
    expect(readEnvironment({ PAYDIRT_RPC_URL: value })).toEqual({ PAYDIRT_RPC_URL: value }),
  )

  test.each([' ', '1e3', '0x50', '-1', '65536'])('PAYDIRT_PORT=%j is refused', async (value) => {
    expect(await refusalOf(() => readEnvironment({ PAYDIRT_PORT: value }))).toMatch(
      /^PAYDIRT_PORT is not a port/,
    )
  })

  test('of another program is let be, as are those that Kubernetes sets for services named paydirt', () => {
    expect(
      readEnvironment({
        PAYDIRT_PORT: 'tcp://10.0.0.11:8080',
        PAYDIRT_PORT_8080_TCP: 'tcp://10.0.0.11:8080',
        PAYDIRT_PORT_8080_TCP_ADDR: '10.0.0.11',
        PAYDIRT_PORT_8080_TCP_PROTO: 'tcp',
        PAYDIRT_SERVICE_HOST: '10.0.0.11',
        PAYDIRT_SERVICE_PORT: '8080',
        PAYDIRT_SERVICE_PORT_HTTP: '8080',
        PAYDIRT_WEB_SERVICE_HOST: '10.0.0.12',
        PAYDIRT_REDIS_IMAGE: 'valkey/valkey:8',
        PATH: '/bin',
        PAYPAL_MAX_PRICE_USD: '3',
        PADDLE_API_KEY: 'x',
        HUBSPOT_PERSONAL_ACCESS_KEY: 'x',
        HUBSPOT_PORTAL_ID: '1',
        HUBSPOT_API_KEY: 'x',
        SALESFORCE_INSTANCE_URL: 'x',
        SALESFORCE_PASSWORD: 'x',
        BUDGET_DAY_USD: '3',
      }),
    ).toEqual({})
    expect(readEnvironment({ PAYDIRT_PORT: '8081' })).toEqual({ PAYDIRT_PORT: 8081 })
  })

  test.each([
    ['PAYDIRT_SERVICE_HOST', 'service.example'],
    ['PAYDIRT_SERVICE_PORT', 'https://service.example'],
  ])('%s with a value that no cluster sets is refused', async (name, value) => {
    expect(await refusalOf(() => readEnvironment({ [name]: value }))).toContain(`${name} is not a setting`)
  })
})

/** Loads a config file with this text, or one under another name. */
async function load(text: string, name = 'paydirt.config.mjs') {
  const dir = await mkdtemp(join(tmpdir(), 'paydirt-config-'))
  try {
    await writeFile(join(dir, name), text)
    return await loadConfigFile(dir)
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}

describe('a key of the config file', () => {
  test.each<[config: object, ...said: string[]]>([
    [
      { budgets: { connectorDayUsd: { hubpsot: '1' } } },
      'budgets.connectorDayUsd.hubpsot is not a setting; did you mean hubspot?',
    ],
    [{ budget: { dayUsd: '1' } }, 'budget is not a setting; did you mean budgets?'],
    [{ budgets: { dayUSD: '1' } }, 'budgets.dayUSD is not a setting; did you mean dayUsd'],
    [{ budgets: { day: '1' } }, 'budgets.day is not a setting'],
    [{ payment: { maxPricesUsd: { 'contact.redem:phone': '1' } } }, 'did you mean contact.redeem:phone'],
    [{ freshness: { operations: { 'company.profle': {} } } }, 'did you mean company.profile'],
    [
      { service: { operations: { 'job.search': { path: '/companies/search' } } } },
      'is the path of company.search',
    ],
    [
      { service: { operations: { 'job.search': { path: 'jobs' } } } },
      'begins with a slash, as in "/jobs/search"',
    ],
    [{ policies: { hubspot: { industy: 'never' } } }, 'did you mean industry'],
    [{ connectors: { hubspt: {} } }, 'connectors.hubspt is not a setting; did you mean hubspot?'],
    [
      { connectors: { hubspot: { mapping: { companies: { feilds: {} } } } } },
      'connectors.hubspot.mapping.companies.feilds is not a setting; did you mean fields?',
    ],
    [
      { connectors: { hubspot: { mapping: { contcts: {} } } } },
      'connectors.hubspot.mapping.contcts: there is no such object; it may be contacts',
    ],
    [
      { connectors: { salesforce: { mapping: { Lead: { fields: { emial: 'Email' } } } } } },
      'connectors.salesforce.mapping.Lead.fields: there is no field "emial" of a person (near: email',
    ],
    [
      {
        connectors: {
          hubspot: { mapping: { companies: { fields: { employees: { property: 'a', unit: 'x' } } } } },
        },
      },
      'connectors.hubspot.mapping.companies.fields.employees.unit is not a setting; there are property, as, options, allowNew, create',
    ],
    [
      { schedules: { nightly: { connector: 'hubspot', crn: '0 2 * * *' } } },
      'schedules.nightly.cron: Invalid input',
      'schedules.nightly.crn is not a setting; did you mean cron?',
    ],
    [
      { csv: { synonyms: { profilUrl: ['x'] } } },
      'csv.synonyms.profilUrl is not a setting; did you mean profileUrl?',
    ],
    [{ recipes: { a: { persn: {} } } }, 'recipes.a.persn is not a setting; did you mean person?'],
    [
      { connectors: { hubspot: { mapping: { contacts: { identity: { tiktokUrl: ['link'] } } } } } },
      'connectors.hubspot.mapping.contacts.identity.tiktokUrl: a TikTok URL finds a company, not a person',
    ],
    [
      { service: { vocabularies: { job_funtions: ['sales'] } } },
      'service.vocabularies.job_funtions is not a setting; did you mean job_functions?',
    ],
    // A closed list is known: no setting adds to it.
    [{ service: { vocabularies: { momentum: ['up'] } } }, 'service.vocabularies.momentum is not a setting'],
    [{ desk: { users: [{ nam: 'x' }] } }, 'desk.users.0.nam is not a setting; did you mean name?'],
  ])('%j is refused with the near name', async (config, ...said) => {
    const message = await refusalOf(() => load(`export default ${JSON.stringify(config)}`))
    for (const part of said) expect(message).toContain(part)
  })

  test('that is free to choose is accepted anywhere', async () => {
    const config = {
      budgets: { connectorDayUsd: { hubspot: '1', csv: '2' } },
      schedules: { anything: { connector: 'hubspot', cron: '0 2 * * *' } },
      csv: { synonyms: { profileUrl: ['Network link'] } },
    }
    expect((await load(`export default ${JSON.stringify(config)}`)).budgets).toEqual({
      connectorDayUsd: { hubspot: 1_000_000n, csv: 2_000_000n },
    })
  })

  test.each(['paydirt.config.json', 'paydirt.config.mts', 'paydirt.config.cjs', '.paydirtrc.json'])(
    'in %s is not passed over in silence',
    async (name) => {
      const message = await refusalOf(() => load('{}', name))
      expect(message).toContain(`${name} is not read; the config file is paydirt.config.ts`)
    },
  )
})
