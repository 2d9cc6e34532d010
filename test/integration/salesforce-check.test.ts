import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { makeReady } from '../../src/app/runs/sync.ts'
import { ConfigError } from '../../src/domain/errors.ts'
import { mappingSchema, resolveMapping } from '../../src/domain/mapping/schema.ts'
import { salesforceMapping } from '../../src/connectors/salesforce/mapping.ts'
import { openSalesforceBench, scanAll, type SalesforceBench } from './salesforce.fixture.ts'

let bench: SalesforceBench

beforeEach(async () => {
  bench = await openSalesforceBench()
})
afterEach(() => bench.stop())

describe('the check of Salesforce', () => {
  test('names org and user, and finds nothing to mend where all is well', async () => {
    const full = await openSalesforceBench({ dataCom: true })
    onTestFinished(() => full.stop())
    expect(await full.connect().check()).toEqual({
      account: { id: full.org.orgId, name: full.org.auth.username },
      apiVersion: '68.0',
      missingScopes: [],
      problems: [],
    })
  })

  test('of an org without the fields of Data.com names what is left out, once, and stops nothing', async () => {
    const connector = bench.connect()
    expect((await connector.check()).problems).toEqual([
      expect.objectContaining({
        code: 'field_left_out',
        message: expect.stringMatching(/^Account: YearStarted: /),
      }),
    ])
    await expect(makeReady(connector, ['Account', 'Contact', 'Lead'])).resolves.toBeUndefined()
    const [id = ''] = bench.ids('Account', 1)
    const patch = { founded_year: { set: 1871 }, description: { set: 'Ropes' } }
    expect(await connector.write('Account', [{ id, patch }])).toEqual([
      expect.objectContaining({
        status: 'written',
        leftOut: [expect.objectContaining({ code: 'NO_SUCH_FIELD' })],
      }),
    ])
  })

  test('refuses a field that the config file names and the org lacks', async () => {
    const mapping = resolveMapping(
      salesforceMapping,
      mappingSchema.parse({ Account: { fields: { founded_year: 'YearStarted' } } }),
    )
    expect((await bench.connect({ mapping }).check()).problems).toMatchObject([
      { code: 'unknown_property', message: expect.stringContaining('YearStarted') },
    ])
  })

  test('says that unshared records are absent, and when they cannot be edited', async () => {
    const { access } = bench.org.store
    const said = async () =>
      (await bench.connect().check()).problems.filter(({ code }) => code === 'record_access')
    expect(await said()).toEqual([])
    access.sharing = 'private'
    const hidden = bench.ids('Lead', 20)
    expect((await scanAll(bench.connect(), 'Lead')).ids).toEqual([])
    expect((await bench.connect().read('Lead', hidden)).get(hidden[0]!)).toEqual({ state: 'gone' })
    // Permissions are hidden from most users: then it says what it cannot tell.
    expect(await said()).toEqual([
      expect.objectContaining({ message: expect.stringMatching(/Account, Contact, Lead: .*cannot be read/) }),
    ])
    access.canViewSetup = true
    expect(await said()).toHaveLength(3)
    expect((await said())[2]).toMatchObject({
      message: expect.stringContaining('Lead: the user has no View All'),
    })
    access.viewAll = new Set(['Account', 'Contact', 'Lead'])
    expect((await scanAll(bench.connect(), 'Lead')).ids).toHaveLength(20)
    expect((await said()).map(({ message }) => message)).toEqual([
      expect.stringContaining('may edit only'),
      expect.stringContaining('may edit only'),
      expect.stringContaining('may edit only'),
    ])
    const [written] = await bench
      .connect()
      .write('Lead', [{ id: hidden[0]!, patch: { job_title: { set: 'Pilot' } } }])
    expect(written).toMatchObject({ status: 'rejected', code: 'INSUFFICIENT_ACCESS_OR_READONLY' })
    access.modifyAll = access.viewAll
    expect(await said()).toEqual([])
  })

  test('points to My Domain when the shared login address is set', async () => {
    const { problems } = await bench.connect({ loginUrl: bench.org.sharedLoginUrl }).check()
    expect(problems).toHaveLength(1)
    expect(problems[0]).toMatchObject({ code: 'salesforce_login_refused' })
    expect(problems[0]?.message).toMatch(/not supported on this domain.*SALESFORCE_LOGIN_URL.*My Domain/)
  })

  test('names a version that the org does not have', async () => {
    const { problems } = await bench.connect({ apiVersion: '99.0' }).check()
    expect(problems).toMatchObject([{ code: 'api_version' }])
    expect(problems[0]?.todo).toContain('68.0')
  })

  test('names fields that are missing, read-only, hidden by rights, or ours and not there', async () => {
    const { fields } = bench.org.store.schema.Contact
    const custom = fields.get('size_band__c')
    if (!custom) throw new Error('no such field')
    bench.org.store.defineField('Contact', { ...custom, updateable: false })
    fields.delete('paydirt_source__c')
    const contact = salesforceMapping.entities['Contact']
    if (!contact) throw new Error('no mapping')
    const mapping = {
      ...salesforceMapping,
      entities: {
        Contact: {
          ...contact,
          defaults: [],
          fields: {
            job_title: { property: 'Tittle' },
            full_name: { property: 'Name' },
            about: { property: 'Size_Band__c' },
          },
        },
      },
    }
    const { problems } = await bench.connect({ mapping }).check()
    expect(problems.map(({ code, message }) => [code, message])).toEqual([
      ['unknown_property', expect.stringContaining('job_title')],
      ['read_only', expect.stringContaining('full_name')],
      ['missing_field_permission', expect.stringContaining('about')],
      ['own_field_missing', expect.stringContaining('Paydirt_Source__c')],
    ])
    expect(problems[0]?.message).toContain('Title')
  })

  test('an object that the org does not have is a problem, and the others are still checked', async () => {
    const account = salesforceMapping.entities['Account']
    if (!account) throw new Error('no mapping')
    const mapping = { ...salesforceMapping, entities: { Vessel: account, Account: account } }
    const { problems } = await bench.connect({ mapping }).check()
    expect(problems).toEqual([
      expect.objectContaining({ code: 'salesforce_access', message: expect.stringContaining('Vessel') }),
      expect.objectContaining({ code: 'field_left_out', message: expect.stringContaining('YearStarted') }),
    ])
    expect(bench.requests(/Account\/describe/)).toBe(1)
  })

  test('describes types, lengths, choices and the account of a contact', async () => {
    const fields = new Map((await bench.connect().describe('Contact')).map((field) => [field.name, field]))
    expect(fields.get('FirstName')).toMatchObject({
      type: 'text',
      maxLength: 40,
      writable: true,
      custom: false,
    })
    expect(fields.get('Size_Band__c')).toMatchObject({
      type: 'option',
      restricted: true,
      custom: true,
      options: expect.arrayContaining([{ value: '1-10', label: '1-10' }]),
    })
    expect(fields.get('LeadSource')).toMatchObject({ type: 'option', restricted: false })
    expect(fields.get('AccountId')).toMatchObject({ type: 'reference' })
    expect(fields.get('Account.Name')).toMatchObject({ type: 'text', writable: false })
  })

  test('knows only the objects of its mapping', async () => {
    await expect(bench.connect().describe('Opportunity')).rejects.toThrow(ConfigError)
  })
})
