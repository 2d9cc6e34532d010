import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { readReferences } from '../../src/app/lists/like/read-references.ts'
import type { LikeSettings } from '../../src/app/config/list-sources.ts'
import type { ObjectKind } from '../../src/domain/words.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { csvDirectory } from '../fixtures/csv-files.ts'
import { crmKinds, openCrmWorld, type CrmKind, type CrmWorld } from './crm-worlds.ts'

let sandbox: Sandbox
let world: CrmWorld

beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())
afterEach(() => world.close())

const signal = new AbortController().signal
const names = {
  hubspot: { entity: 'companies', name: 'name', domain: 'domain', by: 'annualrevenue' },
  salesforce: { entity: 'Account', name: 'Name', domain: 'Website', by: 'AnnualRevenue' },
} as const

async function read(like: LikeSettings, object: ObjectKind = 'company') {
  const { config } = world.context
  // The connector of the world is closed with it.
  const open = async () => ({ ...world.connector, close: async () => {} })
  return readReferences(config, { list: 'dach', object, like }, { open, signal })
}

describe.each(crmKinds)('references out of %s', (kind: CrmKind) => {
  const { entity, name, domain, by } = names[kind]
  const add = (title: string, revenue: number | null) =>
    world.add({
      [name]: title,
      [domain]: `${title.toLowerCase()}.example`,
      ...(revenue === null ? {} : { [by]: kind === 'hubspot' ? String(revenue) : revenue }),
    })

  test('are the best of the records that meet the filter, by the property', async () => {
    world = await openCrmWorld(sandbox, kind, entity)
    const ids = new Map(
      Object.entries({ Alpha: 900, Beta: 10_000, Gamma: 2_000, Delta: null, Other: 99_000 }).map(
        ([title, revenue]) => [title, add(title, revenue)],
      ),
    )
    const like = { connector: kind, filter: `${name}!=Other`, top: 2, by } as const
    const { references } = await read(like)
    expect(references).toMatchObject([
      { name: 'Beta', question: { domain: 'beta.example' }, recordIds: [ids.get('Beta')] },
      { name: 'Gamma', question: { domain: 'gamma.example' }, recordIds: [ids.get('Gamma')] },
    ])
    expect(world.sent()).toEqual([])
  })

  test('are refused where nobody says which are the best, or where none meets the filter', async () => {
    world = await openCrmWorld(sandbox, kind, entity)
    for (const title of ['Alpha', 'Beta', 'Gamma']) add(title, null)
    const like = { connector: kind, filter: `${name}!=Other` }
    await expect(read({ ...like, top: 2 })).rejects.toThrow(/lists\.dach\.like: 3 records meet.*\(by\)/)
    await expect(read({ ...like, by })).rejects.toThrow(`lists.dach.like.by: none of the 3 records`)
    await expect(read({ ...like, filter: `${name}=Nobody` })).rejects.toMatchObject({
      code: 'no_references',
      message: expect.stringContaining('no record meets the filter'),
    })
    await expect(read({ ...like, by: 'amuont' })).rejects.toThrow('no property "amuont" to read')
    await expect(read({ ...like, filter: 'no_such=1' })).rejects.toThrow('no_such')
    await expect(read({ ...like, entity: 'Deals' })).rejects.toThrow(/like\.entity: .* no object Deals/)
    expect((await read({ ...like, top: 3 })).references).toHaveLength(3)
  })
})

test('references of a file are asked once; broken rows are skipped by their line', async () => {
  world = await openCrmWorld(sandbox, 'hubspot', 'companies')
  const csv = csvDirectory().write(
    'best.csv',
    'company,domain,profnet_url\nNorvik,https://www.norvik.com/x,\nbroken\n,,\nNorvik Ltd,NORVIK.com,\nAcme,gmail.com,\nBeta,,profnet.com/company/beta\n',
  )
  const { references, repeated, skipped } = await read({ csv })
  expect(references.map(({ name, question }) => [name, question])).toEqual([
    ['Norvik', { domain: 'norvik.com' }],
    ['Beta', { profnet_url: 'https://www.profnet.com/company/beta' }],
  ])
  expect(repeated).toBe(1)
  expect(skipped.map(({ place }) => place)).toEqual(['line 3', 'line 4', 'line 6'])
  expect(skipped[0]?.reason).toContain('too few cells')
})

test('a file without one reference says what is wrong with its first row', async () => {
  world = await openCrmWorld(sandbox, 'hubspot', 'companies')
  const files = csvDirectory()
  const csv = files.write('best.csv', 'company,domain\nAcme,gmail.com\nBeta,\n')
  await expect(read({ csv })).rejects.toMatchObject({
    code: 'no_references',
    message: expect.stringMatching(/lists\.dach\.like: .*line 2: it has no profile.*and 1 more/),
  })
  await expect(read({ csv: files.write('none.csv', 'company,domain\n') })).rejects.toThrow('no rows')
  await expect(read({ csv: files.at('missing.csv') })).rejects.toThrow('there is no such file')
  await expect(read({ domains: ['localhost'] })).rejects.toThrow('domains[0]')
})
