import { sql } from 'kysely'
import type { Atomic } from '../../domain/money.ts'
import type { RecordSpend } from '../../domain/planning/explain.ts'
import type { Database } from '../database/database.ts'
import { isRecord, type NamedRecord } from './record-tasks.ts'

export interface RecordLookup {
  key: string
  operation: string
  state: string
  outcome: string | null
  answeredAt: Date | null
  freshUntil: Date | null
  /** Every attempt to pay for it. */
  charges: {
    id: string
    run: string
    state: string
    amountAtomic: Atomic
    currency: string
    at: Date
    transaction: string | null
    /** The network on which it was paid, as in `eip155:8453`. */
    network: string | null
  }[]
}

/** Returns the lookups of each task of a record, oldest first. */
export async function lookupsOfTasks(
  db: Database,
  record: NamedRecord,
): Promise<{ run: string; lookups: string[] }[]> {
  const { rows } = await sql<{ run: string; lookups: string[] }>`
    select run_id as run, array_remove(steps || waiting_for || lookup_key, null) as lookups
    from tasks join runs on runs.id = tasks.run_id where ${isRecord(record)} order by tasks.id`.execute(db)
  return rows
}

/** Returns these lookups with their charges, in the order of the keys. */
export async function lookupsWithCharges(db: Database, keys: string[]): Promise<RecordLookup[]> {
  if (keys.length === 0) return []
  const { rows: lookups } = await sql<Omit<RecordLookup, 'charges'>>`
    select key, operation, state, outcome, answered_at as "answeredAt", fresh_until as "freshUntil"
    from lookups where key = any(${keys})`.execute(db)
  // A lookup that was bought in a batch has its share of the batch's charge.
  const { rows: charges } = await sql<
    Omit<RecordLookup['charges'][number], 'network'> & { key: string; authorization: unknown }
  >`
    select shares.lookup_key as key, charges.id, charges.run_id as run, charges.state, shares.amount_atomic as "amountAtomic",
      charges.currency, created_at as at, transaction, authorization_json as authorization
    from charge_shares as shares join charges on charges.id = shares.id
    where shares.lookup_key = any(${keys}::text[]) order by created_at, attempt`.execute(db)
  return lookups
    .sort((a, b) => keys.indexOf(a.key) - keys.indexOf(b.key))
    .map((lookup) => ({
      ...lookup,
      charges: charges
        .filter(({ key }) => key === lookup.key)
        .map(({ id, run, state, amountAtomic, currency, at, transaction, authorization }) => ({
          id,
          run,
          state,
          amountAtomic,
          currency,
          at,
          transaction,
          network: networkOf(authorization),
        })),
    }))
}

/** Returns the charges of a run and those for these lookups, each once, with the operation that it pays for. */
export async function chargesOfRunAnd(
  db: Database,
  run: string,
  keys: readonly string[],
): Promise<(RecordLookup['charges'][number] & { operation: string })[]> {
  const { rows } = await sql<{ key: string }>`
    select distinct lookup_key as key from charge_shares
    where run_id = ${run} or lookup_key = any(${[...keys]}::text[])`.execute(db)
  const lookups = await lookupsWithCharges(
    db,
    rows.map(({ key }) => key),
  )
  return lookups.flatMap(({ operation, charges }) => charges.map((charge) => ({ ...charge, operation })))
}

/** Returns the network that an authorization names. It was read from a challenge once, so nothing is taken for granted. */
function networkOf(authorization: unknown): string | null {
  const { terms } = (authorization ?? {}) as { terms?: { network?: unknown } }
  return typeof terms?.network === 'string' ? terms.network : null
}

/**
 * Returns what was paid for these lookups in all runs. A batch counts with each lookup's share; a lookup that other records
 * share counts in full. Every page and command that says what a record has cost takes it from here.
 */
export async function spendOnLookups(db: Database, keys: readonly string[]): Promise<RecordSpend> {
  const { rows } = await sql<RecordSpend>`
    select coalesce(sum(amount_atomic) filter (where state = 'settled' and currency = 'USD'), 0)::bigint as "settledAtomic",
      coalesce(sum(amount_atomic) filter (where state in ('journaled', 'sent', 'in_doubt') and currency = 'USD'), 0)::bigint as "inDoubtAtomic",
      coalesce(sum(amount_atomic) filter (where state = 'lost' and currency = 'USD'), 0)::bigint as "lostAtomic",
      coalesce(sum(amount_atomic) filter (where state = 'settled' and currency = 'credit'), 0)::bigint as "creditsAtomic"
    from charge_shares where lookup_key = any(${[...new Set(keys)]}::text[])`.execute(db)
  return rows[0] ?? { settledAtomic: 0n, inDoubtAtomic: 0n, lostAtomic: 0n, creditsAtomic: 0n }
}

/** Returns what each of these runs has paid for each of these lookups; nothing for one that the ledger had already. */
export async function paidByRuns(
  db: Database,
  runs: readonly string[],
  keys: readonly string[],
): Promise<{ run: string; key: string; currency: 'USD' | 'credit'; amountAtomic: Atomic }[]> {
  const { rows } = await sql<{ run: string; key: string; currency: 'USD' | 'credit'; amountAtomic: Atomic }>`
    select run_id as run, lookup_key as key, currency, sum(amount_atomic)::bigint as "amountAtomic" from charge_shares
    where run_id = any(${[...runs]}::text[]) and lookup_key = any(${[...keys]}::text[]) and state = 'settled'
    group by 1, 2, 3`.execute(db)
  return rows
}
