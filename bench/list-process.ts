// One step of a list in a process of its own that measures itself: its pages come from the ledger, and its CRM is a stub in the process.
import { setTimeout as pause } from 'node:timers/promises'
import { CompiledQuery } from 'kysely'
import { resolveConfig } from '../src/app/config/config.ts'
import { readEnvironment } from '../src/app/config/environment.ts'
import { fileSchema } from '../src/app/config/file.ts'
import { createContext, type Context } from '../src/app/context/context.ts'
import { newPlanId } from '../src/app/context/new-id.ts'
import { limitHeap } from '../src/app/context/heap-limits.ts'
import { judgedRows } from '../src/app/lists/judging/judged-rows.ts'
import { planList } from '../src/app/lists/making/plan-list.ts'
import { callOf, listCalls, type ListCalls } from '../src/app/lists/pages/list-calls.ts'
import { readList } from '../src/app/lists/pages/read-list.ts'
import type { Connector } from '../src/connectors/connector.ts'
import { hubspotMapping } from '../src/connectors/hubspot/mapping.ts'
import { createIndexStates } from '../src/store/identities/index-state.ts'
import { readOrder, serveParent } from './child.ts'

export interface ListOrder {
  env: Record<string, string>
  rows: number
}

export interface ListStep {
  rows: number
  seconds: number
  peakRssMb: number
}

const pageSize = 25
const name = 'bench'
limitHeap()
const { env, rows } = readOrder<ListOrder>()
const config = resolveConfig(
  readEnvironment(env),
  fileSchema.parse({
    lists: {
      [name]: {
        search: 'company.search',
        filters: { countries: ['DE'] },
        into: { connector: 'hubspot', entity: 'companies' },
      },
    },
  }),
)

serveParent({
  /** Puts the pages into the ledger, as a service with so many rows would have answered them. */
  fill: () => step(async (context, calls) => fill(context, calls)),
  fetch: () => step(async (context, calls) => (await readList(context, calls)).rows),
  async members() {
    return step(async (context, calls) => {
      let count = 0
      for await (const batch of judgedRows(context, calls)) {
        JSON.stringify(batch)
        count += batch.length
      }
      return count
    })
  },
  plan: () =>
    step(async (context, calls) => (await planList(context, calls, emptyCrm(), newPlanId(context))).creates),
})

async function step(work: (context: Context, calls: ListCalls) => Promise<number>): Promise<ListStep> {
  const context = await createContext(config)
  await settled()
  const startMs = performance.now()
  let peakRss = 0
  const look = () => (peakRss = Math.max(peakRss, process.memoryUsage.rss()))
  const timer = setInterval(look, 50)
  try {
    const count = await work(context, await listCalls(context, name, { asks: false }))
    look()
    const seconds = (performance.now() - startMs) / 1_000
    return { rows: count, seconds, peakRssMb: peakRss / 1e6 }
  } finally {
    clearInterval(timer)
    await context.close()
  }
}

/** Waits until the start of the embedded database, which compiles for seconds, has given its memory back. */
async function settled(): Promise<void> {
  let before = 0
  for (let tries = 0; tries < 20; tries += 1) {
    const rss = process.memoryUsage.rss()
    if (Math.abs(rss - before) < rss / 100) return
    before = rss
    await pause(1_000)
  }
}

async function fill(context: Context, calls: ListCalls): Promise<number> {
  const { db } = context.database
  const { run } = await context.runs.open({
    id: 'bench',
    connector: 'call',
    object: 'company',
    entity: 'call',
    recipe: 'call',
    trigger: 'request',
    fingerprint: 'bench',
    source: {},
  })
  const now = context.now()
  for (let page = 1; page <= Math.ceil(rows / pageSize); page += 1) {
    const from = (page - 1) * pageSize
    const companies = Array.from({ length: Math.min(pageSize, rows - from) }, (_, at) => companyAt(from + at))
    const { key, request } = callOf(calls, 0, page)
    const answer = {
      data: { companies, pagination: { total_entries: rows } },
      metadata: { ignored_fields: [] },
    }
    await db.executeQuery(
      CompiledQuery.raw(
        `insert into lookups (key, operation, request, state, run_id, connector, due_at, outcome, answer, answered_at, fresh_until)
        values ($1, 'company.search', $2, 'answered', $3, 'call', $4, 'found', $5, $4, $6)`,
        [
          key,
          JSON.stringify(request),
          run.id,
          now,
          JSON.stringify(answer),
          new Date(now.getTime() + 86_400_000),
        ],
      ),
    )
  }
  const states = createIndexStates(db, context)
  await states.complete(await states.begin('hubspot', 'companies'))
  return rows
}

/** Every twentieth company shares its domain with the one before. */
function companyAt(index: number) {
  const own = index % 20 === 19 ? index - 1 : index
  return {
    domain_search_id: `ds-${index}`,
    company_name: `Firm ${index} of the bench`,
    domain: `firm-${own}.example`,
    profnet_url: `https://www.profnet.com/company/firm-${index}`,
    industry: 'Financial Services',
    country_code: 'DE',
    headquarters: 'Berlin',
    company_size: 120,
  }
}

/** A HubSpot without a record. */
function emptyCrm(): Connector {
  const entity = hubspotMapping.entities['companies']
  const properties = new Set(Object.values(entity?.fields ?? {}).map(({ property }) => property))
  return {
    name: 'hubspot',
    entities: { companies: 'company' },
    mapping: hubspotMapping,
    describe: async () =>
      [...properties].map((property) => ({ name: property, type: 'text', writable: true, options: [] })),
    ensureFields: async () => [],
    read: async () => new Map(),
    maker: {
      perCreate: 100,
      bin: { keptDays: 90, place: '' },
      find: async () => [],
      companiesOf: () => undefined,
      owners: async () => new Map(),
      ownersOf: async () => new Map(),
    },
  } as unknown as Connector
}
