import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { profileFieldNames } from '../../src/domain/fields.ts'
import { companyAnswer } from '../../src/sandbox/data/company.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { missingServers, startPostgres, startRedis, type Server } from '../faults/servers.ts'
import { call, openHttpHouse, type HttpHouse } from '../support/http-house.ts'

// Needs redis-server (or valkey-server) and Postgres.
const missing = missingServers()
if (missing !== undefined) process.stderr.write(`press-plans: left out, ${missing}\n`)

/** The rows of a night in each of the tables that grow with one. */
const night = 20_000
const tables = [
  'tasks',
  'lookups',
  'charges',
  'field_writes',
  'record_identities',
  'subject_names',
  'merged_records',
]

const { query } = pg.Client.prototype as unknown as { query: (...args: unknown[]) => unknown }

describe.skipIf(missing !== undefined)('a press behind a full ledger', () => {
  let redis: Server
  let postgres: Server
  let sandbox: Sandbox
  let house: HttpHouse
  let admin: pg.Client
  beforeAll(async () => {
    redis = await startRedis()
    postgres = await startPostgres()
    sandbox = await startSandbox()
    house = await openHttpHouse(sandbox, {
      config: {
        recipes: {
          profile: { company: { fields: profileFieldNames('company'), steps: ['company.profile'] } },
        },
      },
      env: { DATABASE_URL: postgres.url, REDIS_URL: redis.url },
    })
    admin = new pg.Client(postgres.url)
    await admin.connect()
  })
  afterAll(async () => {
    await admin?.end()
    await house?.close()
    await sandbox?.stop()
    for (const server of [postgres, redis]) await server?.stop()
  })

  let next = 0
  async function presses(count: number, token: string): Promise<void> {
    for (let left = count; left > 0;) {
      next += 1
      const profile = `https://www.profnet.example/company/plans-${next}`
      if (!companyAnswer(profile).data) continue
      const id = house.addCompany({ name: `Acme ${next}`, profnet_url: profile })
      const body = { connector: 'hubspot', object: 'company', ids: [id], recipe: 'profile' }
      const { status } = await call(`${house.url}/v1/enrich?wait=13`, { token, body })
      expect(status).toBe(200)
      left -= 1
    }
  }

  /** Returns the statements of a press that are planned once, each with its last parameters. */
  async function plannedOnce(press: () => Promise<void>): Promise<Map<string, unknown[]>> {
    const statements = new Map<string, unknown[]>()
    const planned = new Set<pg.Client>()
    const sent = vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (
      this: pg.Client,
      ...args: unknown[]
    ) {
      const [first, given] = args as [string | { text: string; values: unknown[] }, unknown[]?]
      const { text, values } = typeof first === 'string' ? { text: first, values: given ?? [] } : first
      if (text.startsWith('begin')) planned[text.includes('force_generic_plan') ? 'add' : 'delete'](this)
      else if (text === 'commit' || text === 'rollback') planned.delete(this)
      else if (planned.has(this) && values.length > 0) statements.set(text, values)
      return query.apply(this, args)
    } as never)
    try {
      await press()
    } finally {
      sent.mockRestore()
    }
    return statements
  }

  async function planOf(text: string, values: unknown[]): Promise<string> {
    const literal = (value: unknown) =>
      value === null || value === undefined
        ? 'null'
        : pg.escapeLiteral(value instanceof Date ? value.toISOString() : String(value))
    await admin.query('deallocate all')
    await admin.query(`prepare asked as ${text}`)
    const { rows } = await admin.query(`explain execute asked(${values.map(literal).join(', ')})`)
    return rows.map((row) => row['QUERY PLAN']).join('\n')
  }

  test('finds what its transactions need by plans that suit any parameters', async () => {
    const token = await house.token()
    await presses(1, token)
    await fill()
    const statements = await plannedOnce(() => presses(2, token))
    expect(statements.size).toBeGreaterThan(15)
    await admin.query('set plan_cache_mode = force_generic_plan')
    const wholeTable = new RegExp(`Seq Scan on (${tables.join('|')})\\b`)
    const wholeIndex = new RegExp(
      `Index (Only )?Scan using (${(await indexes()).join('|')}) on .*\\n(?!.*Index Cond)`,
    )
    for (const [text, values] of statements) {
      const plan = await planOf(text, values)
      expect(`${text}\n${plan}`).not.toMatch(wholeTable)
      expect(`${text}\n${plan}`).not.toMatch(wholeIndex)
    }
  })

  /** Returns the indexes that have an entry for each row. */
  async function indexes(): Promise<string[]> {
    const { rows } = await admin.query<{ name: string }>(
      'select indexname as name from pg_indexes where tablename = any($1) and indexdef not like $2',
      [tables, '% WHERE %'],
    )
    return rows.map(({ name }) => name)
  }

  async function fill(): Promise<void> {
    const run = 'night'
    await admin.query(
      `insert into runs select (jsonb_populate_record(runs, jsonb_build_object('id', $1::text, 'state', 'finished', 'finished_at', now()))).* from runs limit 1`,
      [run],
    )
    for (const statement of [
      `insert into lookups (key, operation, request, state, run_id, connector, hot, due_at, answered_at)
        select 'company.profile|night-' || n, 'company.profile', '{}', 'answered', $1, 'hubspot', false, now(), now() from numbers`,
      `insert into tasks (run_id, ordinal, record_id, identity, status, steps, updated_at)
        select $1, 1000 + n, 'night-' || n, '{}', 'written', array['company.profile|night-' || n], now() from numbers`,
      `insert into charges (id, lookup_key, attempt, run_id, connector, operation, endpoint, url, body, protocol, currency,
        amount_atomic, authorization_json, nonce, payer, pay_to, budget_scopes, state, created_at, touched_at)
        select 'night-' || n, 'company.profile|night-' || n, 1, $1, 'hubspot', 'company.profile', '', '', '', 'x402', 'USD', 1,
          '{}', 'night-' || n, '', '', '{}', 'settled', now(), now() from numbers`,
      `insert into field_writes (task_id, run_id, connector, entity, record_id, field, new_value, lookup_key, state, intended_at)
        select id, run_id, 'hubspot', 'companies', record_id, 'industry', '"x"', steps[1], 'written', now() from tasks
        where run_id = $1 and record_id like 'night-%'`,
      `insert into record_identities (connector, entity, record_id, kind, value, seen_at)
        select 'hubspot', 'companies', 'night-' || n, 'domain', n || '.example', now() from numbers where $1 <> ''`,
      `insert into merged_records (connector, entity, record_id, into_id, seen_at)
        select 'hubspot', 'companies', 'gone-' || n, 'night-' || n, now() from numbers where $1 <> ''`,
      `insert into subject_names (name, subject, learned_at)
        select 'profnet.com/company/night-' || n, 'profnet.com/company/night-' || n, now() from numbers where $1 <> ''`,
    ])
      await admin.query(`with numbers as (select generate_series(1, ${night}) as n) ${statement}`, [run])
    await admin.query(`analyze ${tables.join(', ')}`)
  }
})
