import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import pg from 'pg'
import type { Sandbox } from '../../src/sandbox/sandbox.ts'
import type { FreshStores } from '../support/stores.ts'

/**
 * The final state of a case, read from the database by SQL and from the chain by its logs, not through the code under
 * test.
 */
export interface Accounts {
  charges: ChargeRow[]
  lookups: { key: string; state: string; outcome: string | null; reason: string | null }[]
  tasks: { status: string; reason: string | null; count: number }[]
  transfers: TransferRow[]
  requests: number
  settledAtomic: bigint
  lostAtomic: bigint
  openAtomic: bigint
  /** Transfers on the chain minus payments in the ledger. */
  differenceAtomic: bigint
}

export interface ChargeRow {
  key: string
  attempt: number
  state: string
  amountAtomic: bigint
  nonce: string
  sends: number
  reason: string | null
  transaction: string | null
  validBefore: number
  createdMs: number
  closedMs: number | null
}

interface TransferRow {
  transaction: string
  nonce: string | null
  amountAtomic: bigint
  /** Time of its block in Unix seconds. */
  at: number
}

const statements = {
  charges: `select lookup_key, attempt, state, amount_atomic::text as amount, nonce, sends, reason, transaction,
      authorization_json ->> 'validBefore' as valid_before, (extract(epoch from created_at) * 1000)::float8 as created,
      (extract(epoch from closed_at) * 1000)::float8 as closed
    from charges order by lookup_key, attempt`,
  lookups: `select key, state, outcome, reason from lookups where operation like '%.profile'`,
  tasks: `select status, reason, count(*)::int as count from tasks group by 1, 2`,
}

export async function readAccounts(
  stores: FreshStores,
  sandbox: Sandbox,
  wallet: `0x${string}`,
): Promise<Accounts> {
  const rows = await query(stores)
  const charges = rows.charges.map((row): ChargeRow => ({
    key: row['lookup_key'] as string,
    attempt: Number(row['attempt']),
    state: row['state'] as string,
    amountAtomic: BigInt(row['amount'] as string),
    nonce: row['nonce'] as string,
    sends: Number(row['sends']),
    reason: row['reason'] as string | null,
    transaction: row['transaction'] as string | null,
    validBefore: Number(row['valid_before']),
    createdMs: Number(row['created']),
    closedMs: row['closed'] === null ? null : Number(row['closed']),
  }))
  const transfers = await readTransfers(sandbox, wallet)
  const paid = (...states: string[]) =>
    charges
      .filter(({ state }) => states.includes(state))
      .reduce((sum, charge) => sum + charge.amountAtomic, 0n)
  const [settledAtomic, lostAtomic] = [paid('settled'), paid('lost')]
  return {
    charges,
    lookups: rows.lookups as Accounts['lookups'],
    tasks: rows.tasks as Accounts['tasks'],
    transfers,
    requests: sandbox.stats().requests,
    settledAtomic,
    lostAtomic,
    openAtomic: paid('journaled', 'sent', 'in_doubt'),
    differenceAtomic:
      transfers.reduce((sum, { amountAtomic }) => sum + amountAtomic, 0n) - settledAtomic - lostAtomic,
  }
}

type Rows = Record<keyof typeof statements, Record<string, unknown>[]>

/** The process that holds the embedded database must have ended. */
async function query(stores: FreshStores): Promise<Rows> {
  if (stores.databaseUrl === undefined) {
    const embedded = await PGlite.create(join(stores.dataDir, 'data', 'pglite'))
    try {
      return await all(async (text) => (await embedded.query<Record<string, unknown>>(text)).rows)
    } finally {
      await embedded.close()
    }
  }
  const client = new pg.Client({ connectionString: stores.databaseUrl })
  await client.connect()
  try {
    return await all(async (text) => (await client.query(text)).rows as Record<string, unknown>[])
  } finally {
    await client.end()
  }
}

async function all(ask: (text: string) => Promise<Record<string, unknown>[]>): Promise<Rows> {
  return {
    charges: await ask(statements.charges),
    lookups: await ask(statements.lookups),
    tasks: await ask(statements.tasks),
  }
}

async function readTransfers(sandbox: Sandbox, wallet: `0x${string}`): Promise<TransferRow[]> {
  const transfers = await sandbox.transfersFrom(wallet)
  const times = new Map<bigint, number>()
  for (const { blockNumber } of transfers) {
    if (!times.has(blockNumber)) times.set(blockNumber, await blockTime(sandbox.rpcUrl, blockNumber))
  }
  return transfers.map(({ transaction, nonce, amountAtomic, blockNumber }) => ({
    transaction,
    nonce,
    amountAtomic,
    at: times.get(blockNumber) ?? 0,
  }))
}

async function blockTime(rpcUrl: string, number: bigint): Promise<number> {
  const params = [`0x${number.toString(16)}`, false]
  const block = (await rpc(rpcUrl, 'eth_getBlockByNumber', params)) as { timestamp: string }
  return Number(block.timestamp)
}

export async function rpc(rpcUrl: string, method: string, params: unknown[]): Promise<unknown> {
  const response = await fetch(rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const { result, error } = (await response.json()) as { result?: unknown; error?: { message: string } }
  if (error) throw new Error(`${method}: ${error.message}`)
  return result
}
