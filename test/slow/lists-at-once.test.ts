import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openDesk, type Desk } from '../support/cli.ts'
import { sized } from '../support/full-size.ts'
import { openEdge } from '../support/service-edge.ts'
import { quick } from '../integration/crm-house.ts'
import { openCrm, sharedKinds, type CrmKind } from '../integration/crm-worlds.ts'

const lagMs = 30_000
const rows = sized(100, 20)
const entities = { hubspot: 'companies', salesforce: 'Account' } as const
const websiteOf = { hubspot: 'domain', salesforce: 'Website' } as const

let sandbox: Sandbox
beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())

interface Applied {
  created: number
  exists: number
  end: string
}

/** Lists that name the same companies: to the service they are two searches, and one of them says less of each company. */
function config(kind: CrmKind) {
  const list = (filters: object) => ({
    search: 'company.search',
    filters: { countries: ['DE'], ...filters },
    into: { connector: kind, entity: entities[kind] },
    limit: rows,
    budgetUsd: '5',
  })
  return {
    connectors: quick,
    payment: { maxPricesUsd: { 'company.search': '0.05' } },
    lists: { whole: list({}), bare: list({ company_exclude_locations: ['FR'] }) } as never,
  }
}

/** Rows without a profile, whose domain is spelled otherwise: their key is another one. */
function bareRows(answer: string): string {
  const { data, ...rest } = JSON.parse(answer) as { data: { companies: Record<string, unknown>[] } }
  const companies = data.companies.map((row) => ({
    ...row,
    profnet_url: null,
    domain: `https://www.${String(row['domain']).toUpperCase()}/`,
  }))
  return JSON.stringify({ ...rest, data: { ...data, companies } })
}

async function planned(desk: Desk, name: string, env: Record<string, string>): Promise<string> {
  expect(await desk.run(['lists', 'fetch', name, '--reachable-only'], env)).toMatchObject({ status: 0 })
  const plan = await desk.run(['lists', 'plan', name, '--json'], env)
  expect(plan).toMatchObject({ status: 0 })
  const { planId, creates } = plan.json<{ planId: string; creates: number }>()
  expect(creates).toBe(rows)
  return planId
}

function namesIn(crm: Awaited<ReturnType<typeof openCrm>>, kind: CrmKind): string[] {
  const bare = (value: unknown) =>
    String(value)
      .toLowerCase()
      .replace(/^https?:\/\//, '')
      .replace(/^www\.|\/$/g, '')
  return crm.ids().map((id) => bare(crm.state().get(id)?.[websiteOf[kind]]))
}

test.each(sharedKinds)(
  'two installations with ledgers of their own make the companies of one list at once, each once, in %s',
  { timeout: 600_000 },
  async (kind) => {
    const crm = await openCrm(kind, entities[kind])
    const env = { ...crm.env(crm.baseUrl), PAYDIRT_LOG_LEVEL: 'silent' }
    const desks = [
      await openDesk(sandbox, { config: config(kind) }),
      await openDesk(sandbox, { config: config(kind) }),
    ] as const
    try {
      crm.lagSearch(lagMs)
      const plans: string[] = []
      for (const desk of desks) {
        expect(await desk.run(['index', kind], env)).toMatchObject({ status: 0 })
        plans.push(await planned(desk, 'whole', env))
      }
      const running = desks.map((desk, at) => desk.start(['apply', plans[at]!, '--json'], env))
      const ended = await Promise.all(running.map((each) => each.ended))
      expect(ended).toMatchObject([{ status: 0 }, { status: 0 }])
      const applied = ended.map((each) => each.json<Applied>())
      const names = namesIn(crm, kind)
      expect({ records: names.length, companies: new Set(names).size }).toEqual({
        records: rows,
        companies: rows,
      })
      expect(applied.reduce((sum, { created }) => sum + created, 0)).toBe(rows)
      expect(applied.map(({ created, exists }) => created + exists)).toEqual([rows, rows])
    } finally {
      for (const desk of desks) await desk.close()
      await crm.stop()
    }
  },
)

// The embedded ledger belongs to one process at a time.
test.skipIf(!process.env['DATABASE_URL']).each(sharedKinds)(
  'two lists that name the same companies in other spellings, in two processes at once, make each once, in %s',
  { timeout: 600_000 },
  async (kind) => {
    const crm = await openCrm(kind, entities[kind])
    const edge = await openEdge(sandbox.serviceUrl, ({ path, body }) =>
      path.endsWith('/companies/search') && body.includes('company_exclude_locations')
        ? { rewrite: bareRows }
        : undefined,
    )
    const desk = await openDesk({ ...sandbox, serviceUrl: edge.url }, { config: config(kind) })
    const env = {
      ...crm.env(crm.baseUrl),
      PAYDIRT_LOG_LEVEL: 'silent',
      PAYDIRT_DATA_DIR: join(desk.stores.dataDir, 'data'),
    }
    try {
      crm.lagSearch(lagMs)
      expect(await desk.run(['index', kind], env)).toMatchObject({ status: 0 })
      const plans = [await planned(desk, 'whole', env), await planned(desk, 'bare', env)]
      const running = plans.map((planId) => desk.start(['apply', planId, '--json'], env))
      const ended = await Promise.all(running.map((each) => each.ended))
      // One that waited too long for the other ends with 3, and the same command continues.
      for (const [at, each] of ended.entries()) {
        expect([0, 3]).toContain(each.status)
        if (each.status === 3) expect(await desk.run(['apply', plans[at]!], env)).toMatchObject({ status: 0 })
      }
      const names = namesIn(crm, kind)
      expect({ records: names.length, companies: new Set(names).size }).toEqual({
        records: rows,
        companies: rows,
      })
    } finally {
      await desk.close()
      edge.close()
      await crm.stop()
    }
  },
)
