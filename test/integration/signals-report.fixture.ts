import { scoreOf, type SeenSignal } from '../../src/domain/signals/score.ts'
import { scoredPipelines } from '../../src/app/signals/reporting/scored-pipelines.ts'
import type { FileConfig } from '../../src/app/config/file.ts'
import { dayBefore, utcDay } from '../../src/domain/signals/change.ts'
import type { Context } from '../../src/app/context/context.ts'
import { holdAccounts } from '../../src/store/signals/accounts.ts'
import { signalsOf } from '../../src/store/signals/kept-signals.ts'
import { saveScores } from '../../src/store/signals/score-days.ts'

const movers = {
  accounts: { connector: 'hubspot', entity: 'companies' },
  score: {
    halfLifeDays: 10,
    points: [
      { type: 'job', match: { functions: ['sales'] }, points: 20 },
      { type: 'job', points: 4 },
      { type: 'expansion', points: 8 },
    ],
  },
} as const

export const signalsConfig = { signals: { movers } } as unknown as FileConfig

export type GivenSignal = Partial<Omit<SeenSignal, 'happenedAt' | 'firstSeenAt'>> & {
  /** `2026-11-20`; null: not told. */
  happened: string | null
  seen: string
}

/** Keeps signals of an account as a run of its pipeline does. Returns its id in the ledger. */
export async function keepAccount(
  { database: { db }, now }: Context,
  { id, name, stage = null }: { id: string; name: string | null; stage?: string | null },
  signals: readonly GivenSignal[],
): Promise<bigint> {
  const [account] = await holdAccounts(
    db,
    [{ connector: 'hubspot', entity: 'companies', recordId: id, name, identity: {} as never }],
    now(),
  )
  const accountId = account!.id
  await db.updateTable('signal_accounts').set({ stage }).where('id', '=', accountId).execute()
  for (const [index, { happened, seen, ...given }] of signals.entries())
    await db
      .insertInto('signals')
      .values({
        account_id: accountId,
        type: given.type ?? 'job',
        key: given.key ?? `k${index}`,
        title: given.title ?? null,
        link: given.link ?? null,
        place: given.place ?? null,
        strength: given.strength ?? null,
        about: JSON.stringify(given.about ?? {}),
        happened_at: happened === null ? null : new Date(happened),
        first_seen_at: new Date(seen),
        last_seen_at: new Date(seen),
        lookup_key: 'key',
      })
      .execute()
  return accountId
}

/** Computes the scores of an account for days before today, as runs of those days have done. */
export async function scoreDays(
  { config, database: { db }, now }: Context,
  accountId: bigint,
  days: readonly { ago: number; stage?: string | null }[],
): Promise<void> {
  const signals = (await signalsOf(db, [accountId])).get(accountId) ?? []
  for (const { ago, stage = null } of days) {
    const day = dayBefore(utcDay(now()), ago)
    const { hundredths } = scoreOf(
      signals,
      scoredPipelines(config)['movers']!.rules,
      new Date(`${day}T12:00:00Z`),
    )
    await saveScores(db, 'movers', day, [{ accountId, hundredths, stage }])
  }
}

/** Books a charge for a pipeline on a day, as the ledger keeps it. */
export async function bookCharge(
  { database: { db } }: Context,
  charge: {
    id: string
    list: string
    at: string
    amount: bigint
    state: 'settled' | 'lost' | 'in_doubt' | 'declined'
  },
): Promise<void> {
  const { id, list, at, amount, state } = charge
  const createdAt = new Date(at)
  await db
    .insertInto('runs')
    .values({
      id: `run-${id}`,
      connector: 'list',
      object: 'company',
      entity: 'rows',
      recipe: 'list',
      trigger: 'list',
      fingerprint: id,
      source: JSON.stringify({ list }),
      state: 'finished',
      started_at: createdAt,
    } as never)
    .execute()
  await db
    .insertInto('lookups')
    .values({
      key: `key-${id}`,
      operation: 'job.search',
      request: '{}',
      state: 'answered',
      run_id: `run-${id}`,
      connector: 'list',
      due_at: createdAt,
    } as never)
    .execute()
  await db
    .insertInto('charges')
    .values({
      id,
      lookup_key: `key-${id}`,
      attempt: 1,
      run_id: `run-${id}`,
      connector: 'list',
      operation: 'job.search',
      endpoint: 'job.search',
      url: 'https://service.example',
      body: '{}',
      protocol: 'x402',
      currency: 'USD',
      amount_atomic: amount,
      authorization_json: '{}',
      nonce: `nonce-${id}`,
      budget_scopes: [],
      state,
      created_at: createdAt,
      touched_at: createdAt,
      closed_at: state === 'in_doubt' ? null : createdAt,
    } as never)
    .execute()
}
