import { beforeEach } from 'vitest'
import type { LookupKey } from '../../src/domain/keys.ts'
import type { RunState } from '../../src/store/database/tables/states.ts'
import { openBareDesk, type BareDesk } from './desk-fixture.ts'

export let desk: BareDesk

/** Opens a desk for each test of the calling file. */
export function useDesk(): void {
  beforeEach(async () => {
    desk = await openBareDesk({ open: true })
    return () => desk.close()
  })
}

export const since = new Date('2026-11-06T00:00:00Z')
export const minutesAgo = (minutes: number) => new Date(desk.now().getTime() - minutes * 60_000)

export async function addRun(
  id: string,
  more: {
    state?: RunState
    connector?: string
    startedAt?: Date
    fingerprint?: string
    source?: object
  } = {},
): Promise<void> {
  const {
    state = 'working',
    connector = 'hubspot',
    startedAt = minutesAgo(10),
    fingerprint = id,
    source = {},
  } = more
  await desk.db
    .insertInto('runs')
    .values({
      id,
      connector,
      object: 'company',
      entity: 'companies',
      recipe: 'profile',
      trigger: 'sync',
      state,
      fingerprint,
      source: JSON.stringify(source),
      scanned_at: startedAt,
      records: 10,
      started_at: startedAt,
      finished_at: state === 'finished' ? startedAt : null,
    })
    .execute()
}

export type Status = 'looking_up' | 'parked' | 'written' | 'unchanged' | 'skipped' | 'rejected'
let ordinal = 0

/** Returns the id of the task. */
export async function addTask(
  run: string,
  status: Status,
  more: {
    lookup?: string
    reason?: string
    at?: Date
    patch?: object
    replaced?: string[]
    record?: string
  } = {},
): Promise<bigint> {
  ordinal += 1
  const key = (more.lookup ?? null) as LookupKey | null
  const waits = status === 'looking_up' || status === 'parked'
  const { id } = await desk.db
    .insertInto('tasks')
    .values({
      run_id: run,
      ordinal,
      record_id: more.record ?? `rec${ordinal}`,
      identity: '{}',
      status,
      lookup_key: key,
      waiting_for: waits ? key : null,
      ...(waits || key === null ? {} : { steps: [key] }),
      ...(more.patch ? { patch: JSON.stringify(more.patch) } : {}),
      ...(more.replaced ? { replaced: more.replaced } : {}),
      reason: more.reason ?? null,
      updated_at: more.at ?? desk.now(),
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

export async function addLookup(
  name: string,
  state: 'waiting' | 'parked' | 'answered' | 'failed',
  more: { run?: string; code?: string; reason?: string; dueAt?: Date; outcome?: 'found' | 'not_found' } = {},
): Promise<string> {
  const key = `company.profile|profnet.test/company/${name}`
  await desk.db
    .insertInto('lookups')
    .values({
      key: key as LookupKey,
      operation: 'company.profile',
      request: '{}',
      state,
      run_id: more.run ?? 'r1',
      connector: 'hubspot',
      due_at: more.dueAt ?? new Date('9999-01-01T00:00:00Z'),
      code: more.code ?? null,
      reason: more.reason ?? null,
      outcome: more.outcome ?? null,
    })
    .execute()
  return key
}

export async function addCharge(
  lookup: string,
  state: 'settled' | 'lost' | 'in_doubt' | 'declined',
  amount: bigint,
  at: Date,
): Promise<void> {
  ordinal += 1
  await desk.db
    .insertInto('charges')
    .values({
      id: `c${ordinal}`,
      lookup_key: lookup as LookupKey,
      attempt: ordinal,
      run_id: 'r1',
      connector: 'hubspot',
      operation: 'company.profile',
      endpoint: 'e',
      url: 'u',
      body: '{}',
      protocol: 'x402',
      currency: 'USD',
      amount_atomic: amount,
      authorization_json: '{}',
      nonce: `n${ordinal}`,
      budget_scopes: [],
      state,
      created_at: at,
      touched_at: at,
    })
    .execute()
}

export const statusesOf = async (run: string) =>
  (
    await desk.db.selectFrom('tasks').select('status').where('run_id', '=', run).orderBy('ordinal').execute()
  ).map(({ status }) => status)

export const stateOf = async (key: string) =>
  await desk.db
    .selectFrom('lookups')
    .select(['state', 'due_at', 'reason'])
    .where('key', '=', key as LookupKey)
    .executeTakeFirstOrThrow()
