import type { LookupKey } from '../../../src/domain/keys.ts'
import type { TaskStatus } from '../../../src/domain/words.ts'
import { indefinitely, type RunState } from '../../../src/store/database/states.ts'
import type { Database } from '../../../src/store/database/database.ts'
import type { Filled } from './pages.ts'

/** Puts one text into every column that a page shows and that a person, a CRM, a file or the service may have filled. */
export async function fillLedger(db: Database, text: string, now: Date): Promise<Filled> {
  const filled = {
    run: 'rtexts0000000000001',
    csvRun: 'rtexts0000000000002',
    plan: 'ptexts',
    record: 'hubspot:companies:1',
    text,
  }
  await fillRuns(db, text, now, filled)
  await fillMoney(db, text, now, filled)
  await fillPlans(db, text, now, filled)
  await db
    .insertInto('switches')
    // The shortest texts are tried while spending is on.
    .values({ name: 'spending_stopped', is_on: text.length > 10, reason: storable(text), changed_at: now })
    .execute()
  await db
    .insertInto('audit')
    .values(
      [storable(text), 'cli'].map((actor) => ({
        at: now,
        actor,
        role: 'operator',
        action: actor === 'cli' ? 'spending.stop' : storable(text),
        target: storable(text),
        details: JSON.stringify({ reason: storable(text), records: 3 }),
      })),
    )
    .execute()
  await db
    .insertInto('alerts')
    .values({
      condition: 'wallet_low',
      subject: '',
      severity: 'critical',
      message: storable(text),
      raised_at: now,
      ended_at: null,
      ended_message: null,
    })
    .execute()
  await db
    .insertInto('api_tokens')
    .values({
      id: 'tok',
      name: storable(text),
      digest: 'd',
      scopes: ['enrich'],
      per_minute: 60,
      day_cap_atomic: 1_000_000n,
      created_at: now,
      last_used_at: now,
      revoked_at: null,
    })
    .execute()
  return filled
}

async function fillRuns(db: Database, text: string, now: Date, filled: Filled): Promise<void> {
  const states: [id: string, state: RunState, source: object, entity: string][] = [
    [filled.run, 'working', {}, 'companies'],
    [filled.csvRun, 'parked', { file: storable(text) }, 'rows'],
    ['rtexts0000000000003', 'finished', { file: storable(text) }, 'rows'],
    ['rtexts0000000000004', 'failed', {}, storable(text)],
  ]
  await db
    .insertInto('runs')
    .values(
      states.map(([id, state, source, entity]) => ({
        id,
        connector: 'file' in source ? 'csv' : 'hubspot',
        object: 'company' as const,
        entity,
        recipe: storable(text),
        trigger: 'sync',
        state,
        fingerprint: id,
        source: JSON.stringify(source),
        scanned_at: now,
        records: 8,
        started_at: new Date(now.getTime() - 3_600_000),
        finished_at: state === 'finished' || state === 'failed' ? now : null,
      })),
    )
    .execute()
  // A person stopped the first of them.
  await db
    .insertInto('run_stops')
    .values({ run_id: filled.run, stopped_by: storable(text), reason: storable(text), stopped_at: now })
    .execute()
  const key = lookupKey(text)
  await db
    .insertInto('lookups')
    .values({
      key,
      operation: 'company.profile',
      request: '{}',
      state: 'parked',
      run_id: filled.run,
      connector: 'hubspot',
      due_at: indefinitely,
      code: 'policy',
      reason: storable(text),
      outcome: 'found',
      answered_at: now,
      fresh_until: now,
    })
    .execute()
  const statuses: TaskStatus[] = [
    'written',
    'unchanged',
    'skipped',
    'rejected',
    'parked',
    'looking_up',
    'ready',
  ]
  for (const run of [filled.run, filled.csvRun]) {
    await db
      .insertInto('tasks')
      .values(
        statuses.map((status, index) => ({
          run_id: run,
          ordinal: index + 1,
          record_id: index === 0 ? '1' : `${index}${storable(text)}`,
          identity: JSON.stringify({ domain: storable(text) }),
          status,
          lookup_key: key,
          waiting_for: status === 'parked' || status === 'looking_up' ? key : null,
          steps: [key],
          patch: status === 'written' ? JSON.stringify({ company_name: { set: storable(text) } }) : null,
          replaced: status === 'written' ? ['company_name'] : [],
          reason: status === 'written' ? null : storable(text),
          updated_at: now,
        })),
      )
      .execute()
  }
  const { id: task } = await db
    .selectFrom('tasks')
    .select('id')
    .where('run_id', '=', filled.run)
    .orderBy('ordinal')
    .limit(1)
    .executeTakeFirstOrThrow()
  await db
    .insertInto('field_writes')
    .values(
      (['written', 'rejected', 'undone'] as const).map((state, index) => ({
        task_id: task,
        run_id: filled.run,
        connector: 'hubspot',
        entity: 'companies',
        record_id: '1',
        field: ['company_name', 'domain', 'website'][index] ?? '',
        old_value: JSON.stringify(storable(text)),
        old_raw: null,
        new_value: JSON.stringify(storable(text)),
        lookup_key: key,
        price_atomic: 10_000n,
        currency: 'USD' as const,
        state: state === 'undone' ? ('written' as const) : state,
        superseded_by: null,
        rule: 'fill_blank',
        mapping: null,
        code: null,
        intended_at: now,
        written_at: now,
        undone_at: state === 'undone' ? now : null,
      })),
    )
    .execute()
}

async function fillMoney(db: Database, text: string, now: Date, filled: Filled): Promise<void> {
  const key = lookupKey(text)
  await db
    .insertInto('charges')
    .values(
      (['settled', 'in_doubt', 'lost'] as const).map((state, index) => ({
        id: `c${index}`,
        lookup_key: key,
        attempt: index,
        run_id: filled.run,
        connector: 'hubspot',
        operation: 'company.profile' as const,
        endpoint: 'companies',
        url: 'u',
        body: '{}',
        protocol: 'x402' as const,
        currency: 'USD' as const,
        amount_atomic: 10_000n,
        authorization_json: '{}',
        nonce: `n${index}`,
        budget_scopes: [],
        state,
        transaction: storable(text),
        created_at: now,
        touched_at: now,
      })),
    )
    .execute()
  await db
    .insertInto('refusals')
    .values({
      lookup_key: key,
      run_id: filled.run,
      endpoint: 'companies',
      rule: 'recipient',
      message: storable(text),
      refused_at: now,
    })
    .execute()
  await db
    .insertInto('reconciliations')
    .values({
      at: now,
      difference_atomic: -20_000n,
      differences: 2,
      in_doubt_atomic: 10_000n,
      document: '{}',
    })
    .execute()
}

async function fillPlans(db: Database, text: string, now: Date, { plan }: Filled): Promise<void> {
  const range = { low: '0.000000', expected: '1234.567891', high: '98765.432100' }
  const step = {
    step: 'contact.redeem:email-personal',
    price: '0.150000',
    cap: '0.010000',
    lookups: { low: 0, expected: 1.5, high: 1_234_567 },
    cost: range,
  }
  const figures = {
    plan: true,
    records: 1_234_567,
    lookups: { unique: 3, cached: 1, duplicates: 1, toBuy: 2 },
    tasks: { skipped: 1, rejected: 1 },
    cost: range,
    uncapped: range,
    steps: [
      { ...step, stopped: true },
      { ...step, step: 'company.profile', price: null, stopped: false },
    ],
    limits: [
      { name: 'run', cap: '50.000000', used: '0.000000', left: '50.000000', stops: true },
      { name: 'connector', cap: null, used: '1.000000', left: null, stops: false },
      { name: 'wallet', cap: null, used: '0.000000', left: null, stops: false },
      { name: 'stopped', cap: null, used: '0.000000', left: null, stops: true },
    ],
    wallet: { address: '0x1', balance: null },
    begins: text.length <= 10,
    refusals: [{ code: 'value_rules', message: storable(text) }],
    leftOut: [{ field: storable(text), why: 'not_mapped', records: 3 }],
  }
  for (const [id, document] of [
    [plan, figures],
    [`${plan}-begun`, {}],
  ] as const) {
    await db
      .insertInto('plans')
      .values({
        id,
        kind: 'sync',
        connector: 'hubspot',
        object: 'company',
        entity: 'companies',
        recipe: storable(text),
        job: JSON.stringify({ limit: 500 }),
        document: JSON.stringify(document),
        to_buy: 2,
        price_atomic: 10_000n,
        high_atomic: 20_000n,
        made_at: now,
      })
      .execute()
  }
  const change = { from: storable(text), to: storable(text) }
  await db
    .insertInto('plan_records')
    .values(
      [0, 1, 2].map((ordinal) => ({
        plan_id: plan,
        ordinal,
        record_id: `${ordinal}${storable(text)}`,
        digest: 'd',
        lookup_key: lookupKey(text),
        preview:
          ordinal === 2 ? null : JSON.stringify({ company_name: change, website: { ...change, from: null } }),
      })),
    )
    .execute()
}

/** A text as Postgres takes it. */
function storable(text: string): string {
  return text.toWellFormed().replaceAll('\u0000', ' ')
}

function lookupKey(text: string): LookupKey {
  return `company.profile|profnet.test/company/${storable(text)}` as LookupKey
}
