import { describe, expect, test } from 'vitest'
import type { RecordDraft } from '../../src/connectors/creating.ts'
import type { Connector } from '../../src/connectors/connector.ts'
import type { Patch } from '../../src/domain/record.ts'
import type { HubspotStandIn } from '../../src/sandbox/hubspot/index.ts'
import { closeAfterEach, connect, noon, standIn } from './hubspot.fixture.ts'

closeAfterEach()

type Entity = 'companies' | 'contacts'

async function making(
  entity: Entity,
  options: Parameters<typeof standIn>[0] = {},
): Promise<{ hubspot: HubspotStandIn; connector: Connector; maker: NonNullable<Connector['maker']> }> {
  const hubspot = await standIn(options)
  const connector = connect(hubspot, { sleep: async () => {} })
  await connector.ensureFields(entity, { dryRun: false, forCreating: true })
  return { hubspot, connector, maker: connector.maker! }
}

const set = (values: Readonly<Record<string, string>>): Patch =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { set: value }]))
const company = (at: number, values: Readonly<Record<string, string>> = {}): RecordDraft => ({
  key: `c${at}`,
  patch: set({ company_name: `Made ${at}`, domain: `made-${at}.com`, ...values }),
})
const person = (at: number, values: Readonly<Record<string, string>> = {}): RecordDraft => ({
  key: `p${at}`,
  patch: set({ first_name: 'Ada', last_name: `Made ${at}`, email: `ada-${at}@made.com`, ...values }),
})
const many = <T>(count: number, each: (at: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => each(at))
const states = (results: readonly { status: string }[]): string[] => results.map(({ status }) => status)
const upserts = (hubspot: HubspotStandIn): number =>
  Object.entries(hubspot.stats().byPath)
    .filter(([path]) => path.endsWith('/batch/upsert'))
    .reduce((sum, [, count]) => sum + count, 0)

describe('making records in HubSpot', () => {
  test.each(['whole', 'each'] as const)(
    'finds the bad ones of a batch whose errors come as %s',
    async (batchErrors) => {
      const { hubspot, maker } = await making('contacts')
      hubspot.faults.batchErrors = batchErrors
      hubspot.store.seed('contacts', { count: 1, modifiedAtMs: noon })
      const existing = hubspot.store.add('contacts', { properties: { email: 'ben@norvik.com' } })
      const drafts = many(100, (at) => person(at))
      drafts[3] = person(3, { email: 'someone@norvik.con' })
      drafts[40] = person(40, { email: 'ben@norvik.com' })
      // Two of one batch with one address: the first is made.
      drafts[99] = person(99, { email: 'ada-98@made.com' })
      const results = await maker.create('contacts', drafts)
      expect(results[3]).toMatchObject({ status: 'rejected', code: 'INVALID_EMAIL', field: 'email' })
      expect(results[40]).toMatchObject({ status: 'exists', ids: [existing.id] })
      expect(results[99]).toMatchObject({ status: 'exists', ids: [(results[98] as { id: string }).id] })
      const rest = results.filter((_, at) => ![3, 40, 99].includes(at))
      expect(new Set(states(rest))).toEqual(new Set(['created']))
      expect(JSON.stringify(results)).not.toMatch(/norvik|made\.com/)
    },
  )

  test('asks for all e-mails at once where contacts exist, instead of halving down to each', async () => {
    const { hubspot, maker } = await making('contacts')
    for (const at of many(30, (it) => it * 3))
      hubspot.store.add('contacts', { properties: { email: `ada-${at}@made.com` } })
    const results = await maker.create(
      'contacts',
      many(100, (at) => person(at)),
    )
    expect(states(results).filter((status) => status === 'exists')).toHaveLength(30)
    expect(states(results).filter((status) => status === 'created')).toHaveLength(70)
    expect(upserts(hubspot)).toBe(2)
  })

  test('takes a value of another unique property for a record that exists', async () => {
    const { hubspot, maker } = await making('companies')
    const { registry } = hubspot.store
    const description = registry.properties.companies.get('description')!
    registry.properties.companies.set('register_no', {
      ...description,
      name: 'register_no',
      hasUniqueValue: true,
    })
    const owner = hubspot.store.add('companies', { properties: { name: 'Old', register_no: 'HRB 1' } })
    const drafts = [company(1), { ...company(2), set: { register_no: 'HRB 1' } }, company(3)]
    const results = await maker.create('companies', drafts)
    expect(results).toMatchObject([
      { status: 'created' },
      { status: 'exists', ids: [owner.id], reason: expect.stringContaining('register_no') },
      { status: 'created' },
    ])
    expect(JSON.stringify(results)).not.toContain('HRB')
  })

  test('refuses a property of its name whose values may repeat, and says what to do', async () => {
    const hubspot = await standIn()
    const { properties } = hubspot.store.registry
    properties.companies.set('paydirt_key', {
      ...properties.companies.get('description')!,
      name: 'paydirt_key',
    })
    const connector = connect(hubspot)
    const ensured = await connector.ensureFields('companies', { dryRun: false, forCreating: true })
    expect(ensured.at(-1)).toMatchObject({ name: 'paydirt_key', status: 'conflict' })
    await expect(connector.maker!.create('companies', [company(1)])).rejects.toMatchObject({
      code: 'hubspot_key_missing',
      message: expect.stringContaining('delete it in HubSpot'),
    })
  })

  test('checks property and rights for the doctor, only when asked', async () => {
    const hubspot = await standIn()
    const connector = connect(hubspot)
    await connector.ensureFields('companies', { dryRun: false })
    await connector.ensureFields('contacts', { dryRun: false })
    const check = () => connector.maker!.check!('companies')
    expect(await check()).toMatchObject([
      {
        code: 'hubspot_key_missing',
        message: expect.stringContaining('paydirt_key'),
        todo: expect.stringMatching(/^Add the scope crm.schemas.companies.write/),
      },
    ])
    await connector.ensureFields('companies', { dryRun: false, forCreating: true })
    expect(await check()).toEqual([])
    hubspot.auth.scopes.delete('tickets')
    expect(await check()).toMatchObject([{ message: expect.stringContaining('needs tickets') }])
    expect(await connector.check()).toMatchObject({ problems: [], missingScopes: [] })
  })

  test('makes no marketing contacts', async () => {
    const { maker } = await making('contacts')
    const draft = { ...person(1), set: { hs_marketable_status: 'true' } }
    await expect(maker.create('contacts', [draft])).rejects.toThrow('no marketing contacts')
  })

  test('goes on without a property that an administrator has deleted since', async () => {
    const { hubspot, maker } = await making('companies')
    await maker.create('companies', [company(1, { description: 'One' })])
    hubspot.store.registry.properties.companies.delete('description')
    const results = await maker.create(
      'companies',
      many(100, (at) => company(at + 10, { description: 'Two' })),
    )
    expect(new Set(states(results))).toEqual(new Set(['created']))
    expect(results[0]).toMatchObject({ leftOut: [{ field: 'description' }] })
    expect(upserts(hubspot)).toBe(3)
  })

  test('sees a key property that another process has created since', async () => {
    const hubspot = await standIn()
    const [one, other] = [connect(hubspot), connect(hubspot)]
    await one.ensureFields('companies', { dryRun: false })
    await expect(one.maker!.create('companies', [company(1)])).rejects.toThrow('paydirt_key')
    await other.ensureFields('companies', { dryRun: false, forCreating: true })
    expect(states(await one.maker!.create('companies', [company(1)]))).toEqual(['created'])
  })

  test('sends nothing of a draft without a name', async () => {
    const { hubspot, maker } = await making('companies')
    const results = await maker.create('companies', [{ key: 'k', patch: set({ city: 'Bergen' }) }])
    expect(results).toMatchObject([{ status: 'rejected', code: 'REQUIRED_MISSING' }])
    expect(maker.needsOneOf!('companies')).toEqual(['company_name', 'domain'])
    expect(maker.needsOneOf!('contacts')).toEqual(['email', 'first_name', 'last_name'])
    expect(upserts(hubspot)).toBe(0)
  })

  test('ties contacts to their company, and says of one that was not', async () => {
    const { hubspot, connector, maker } = await making('contacts', { companies: 2 })
    const [one = '', two = ''] = [...hubspot.store.list('companies')].map(({ id }) => id)
    const drafts = [{ ...person(1), companyId: one }, { ...person(2), companyId: '77' }, person(3)]
    const results = await maker.create('contacts', drafts)
    expect(results).toMatchObject([
      { status: 'created' },
      { status: 'created', leftOut: [{ field: 'company', code: 'NOT_TIED' }] },
      { status: 'created' },
    ])
    const [first = '', , third = ''] = results.map((result) => (result as { id: string }).id)
    const companiesOf = async (id: string) =>
      (await connector.associations('contacts', 'companies', [id])).get(id)!.map((tie) => tie.id)
    expect(await companiesOf(first)).toEqual([one])
    // The first attempt ended before the tie; the other contact has a company that a person chose.
    const again = [
      { ...person(3), companyId: one, isRepeat: true },
      { ...person(1), companyId: two, isRepeat: true },
    ]
    expect(states(await maker.create('contacts', again))).toEqual(['present', 'present'])
    expect(await companiesOf(third)).toEqual([one])
    expect(await companiesOf(first)).toEqual([one])
  })

  test.each([
    ['is lost', { kind: 'drop-after' as const, times: 1 }, 'present'],
    ['is an error of the server', { kind: 'answer' as const, status: 502, times: 1 }, 'created'],
    ['never comes', { kind: 'drop' as const, times: 9 }, 'retry'],
  ])('looks by key before it sends again when the answer %s', async (_, fault, status) => {
    const { hubspot, maker } = await making('companies')
    hubspot.faults.inject({ ...fault, path: /batch\/upsert$/ })
    const results = await maker.create('companies', [company(1), company(2)])
    expect(states(results)).toEqual([status, status])
    const names = [...hubspot.store.list('companies')].map(({ properties }) => properties['name'])
    expect(names.filter((name) => name?.startsWith('Made'))).toHaveLength(status === 'retry' ? 0 : 2)
  })

  test('returns the rest for later at a limit, and keeps what was made', async () => {
    const { hubspot, maker } = await making('companies')
    // Only its second call of these.
    const first = await maker.create(
      'companies',
      many(100, (at) => company(at)),
    )
    expect(new Set(states(first))).toEqual(new Set(['created']))
    hubspot.faults.inject({
      kind: 'answer',
      status: 429,
      path: /upsert$/,
      body: { policyName: 'DAILY' },
      times: 9,
    })
    const later = await maker.create('companies', [company(200), company(201)])
    expect(later).toMatchObject([{ status: 'retry' }, { status: 'retry' }])
  })

  test('names the right that reading deals needs', async () => {
    const { hubspot, maker } = await making('companies')
    const [made] = await maker.create('companies', [company(1)])
    hubspot.auth.scopes.delete('crm.objects.deals.read')
    await expect(maker.snapshots('companies', [(made as { id: string }).id])).rejects.toThrow(
      'crm.objects.deals.read',
    )
  })

  test('finds every record of a value that many have, page after page', async () => {
    const { hubspot, maker } = await making('companies')
    const ids = many(
      450,
      (at) => hubspot.store.add('companies', { properties: { name: `N ${at}`, domain: 'norvik.com' } }).id,
    )
    const found = await maker.find('companies', [{ kind: 'domain', value: 'norvik.com' }])
    expect(found.map(({ id }) => id).sort()).toEqual(ids.sort())
  })

  test('reads what a search shows that is archived, or has another value by now', async () => {
    const { hubspot, maker } = await making('companies')
    const [gone, edited] = many(
      2,
      () => hubspot.store.add('companies', { properties: { domain: 'norvik.com' } }).id,
    )
    hubspot.faults.indexLagMs = 60_000
    hubspot.store.archive('companies', gone!)
    hubspot.store.edit('companies', edited!, { domain: 'other.com' })
    const found = await maker.find('companies', [{ kind: 'domain', value: 'norvik.com' }])
    expect(found).toMatchObject([{ id: edited, identity: { domain: 'other.com' } }])
  })

  test('finds a profile under the hosts of the network that are set', async () => {
    const hubspot = await standIn({ companies: 0 })
    const { id } = hubspot.store.add('contacts', {
      properties: { profnet_url: 'https://www.people.example/in/ada-made' },
    })
    const identity = { kind: 'profile' as const, value: 'in/ada-made' }
    const ofOthers = await connect(hubspot).maker!.find('contacts', [identity])
    const ofOurs = await connect(hubspot, { networkHosts: ['people.example'] }).maker!.find('contacts', [
      identity,
    ])
    expect(ofOthers).toEqual([])
    expect(ofOurs.map((record) => record.id)).toEqual([id])
  })
})
