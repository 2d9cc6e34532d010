import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { FileConfig } from '../../src/app/config/file.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { networkKeys, worldCompanies, type WorldCompany } from '../../src/sandbox/world/companies.ts'
import { openHouse } from '../support/house.ts'
import { crmKinds, openCrmWorld } from '../integration/crm-worlds.ts'

let sandbox: Sandbox
beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())

const keys = ['domain_search_id', ...networkKeys] as const
const linkOf = (company: WorldCompany, key: (typeof keys)[number]) =>
  key === 'domain_search_id' ? company.id : (company.links[key] ?? '')

/** One company a key, which has a name of its own in the world. */
function companyWith(key: (typeof keys)[number], turn: number): WorldCompany {
  const company = worldCompanies().find((each, index) => index > turn * 500 && linkOf(each, key) !== '')
  if (!company) throw new Error(`no company of the world has a ${key}`)
  return company
}
const companies = keys.map((key, turn) => ({ key, company: companyWith(key, turn) }))

describe('a company that has neither profile URL nor domain', () => {
  test('is found in a file by each further identifier, and once for two spellings', async () => {
    const house = await openHouse(sandbox, { config: { recipe: 'contact' } })
    onTestFinished(() => house.close())
    const rows = companies.flatMap(({ key, company }, turn) => {
      const link = linkOf(company, key)
      const spelt =
        key === 'domain_search_id' ? ` ${link} ` : `${link.replace('https://www.', '')}/?utm_source=x`
      return [link, spelt].map((value) => keys.map((_, at) => (at === turn ? value : '')).join(','))
    })
    const csv = `${keys.join(',')}\n${rows.join('\n')}\n`
    const before = sandbox.stats().byEndpoint.companies_lookup ?? 0
    const { end, summary, rows: out } = await house.enrich({ csv })
    expect(end).toBe('finished')
    expect(summary).toMatchObject({
      records: 2 * keys.length,
      lookups: { duplicates: keys.length },
      tasks: { written: 2 * keys.length },
    })
    expect(out.map((row) => row['paydirt_domain'] ?? row['domain'])).toEqual(
      companies.flatMap(({ company }) => [company.domain, company.domain]),
    )
    // A challenge is asked for once.
    expect((sandbox.stats().byEndpoint.companies_lookup ?? 0) - before).toBeLessThanOrEqual(keys.length + 1)
  })

  test.each(crmKinds)('is found in %s by a property that the mapping names', async (kind) => {
    const entity = kind === 'hubspot' ? 'companies' : 'Account'
    const property = kind === 'hubspot' ? 'website' : 'Website'
    const { company } = companies[1]!
    const world = await openCrmWorld(sandbox, kind, entity, {
      recipe: 'contact',
      connectors: {
        [kind]: {
          mapping: {
            [entity]: { identity: { domain: [], tiktokUrl: [property] }, fields: { website: false } },
          },
        },
      },
    } as FileConfig)
    onTestFinished(() => world.close())
    const id = world.add({ [property]: linkOf(company, 'tiktok_url') })
    const { tasks } = await world.sync()
    expect(tasks).toMatchObject({ written: 1 })
    expect(JSON.stringify(world.state().get(id))).toContain(`/company/${company.slug}`)
  })
})
