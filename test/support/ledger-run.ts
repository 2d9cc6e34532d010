import { randomBytes, randomUUID } from 'node:crypto'
import { lookupKey, type LookupKey } from '../../src/domain/keys.ts'
import type { Authorization } from '../../src/domain/payment.ts'
import type { BudgetLine } from '../../src/domain/ports/charge-journal.ts'
import { createChargeJournal } from '../../src/store/ledger/charge-journal.ts'
import type { OpenDatabase } from '../../src/store/database/database.ts'
import { createLookupLedger } from '../../src/store/ledger/lookups.ts'
import { createRunLedger } from '../../src/store/runs/runs.ts'
import { createTaskLedger } from '../../src/store/runs/tasks.ts'

/** Ledgers on a database that tests share, with a run and lookups that no other test knows. */
export async function openLedgerRun(
  { db }: OpenDatabase,
  { lookups, now, connector: named }: { lookups: number; now: () => Date; connector?: string },
) {
  const id = randomBytes(5).toString('hex')
  const connector = named ?? `connector-${id}`
  const ledgers = {
    db,
    runs: createRunLedger(db, { now }),
    tasks: createTaskLedger(db, { now }),
    lookups: createLookupLedger(db, { now }),
    journal: createChargeJournal(db, { now, newId: randomUUID }),
  }
  const { run } = await ledgers.runs.open({
    id: `run-${id}`,
    connector,
    object: 'company',
    entity: 'company',
    recipe: 'profile',
    trigger: 'csv',
    fingerprint: id,
    source: {},
  })
  const keys = Array.from({ length: lookups }, (_, index) => lookupKey('company.profile', `${id}/${index}`))
  const wanted = keys.map((key) => ({
    key,
    operation: 'company.profile' as const,
    request: { profnet_url: key },
  }))
  await ledgers.lookups.want(wanted, { id: run.id, connector, hot: false })
  const committed = async (scope: string) => {
    const row = await db
      .selectFrom('budgets')
      .select('committed_atomic')
      .where('scope', '=', scope)
      .executeTakeFirst()
    return row?.committed_atomic ?? 0n
  }
  const reserve = (key: LookupKey, budget: BudgetLine[], amountAtomic = 10_000n, seed?: string) =>
    ledgers.journal.reserve({
      lookupKey: key,
      operation: 'company.profile',
      runId: run.id,
      connector,
      endpoint: 'POST https://service.example/x',
      url: 'https://service.example/x',
      body: '{}',
      amountAtomic,
      budget,
      draw: (attempt) => authorization(seed ?? `${key}|${attempt}`, amountAtomic),
    })
  const states = async () =>
    (
      await db
        .selectFrom('charges')
        .select('state')
        .where('run_id', '=', run.id)
        .orderBy('created_at')
        .execute()
    ).map(({ state }) => state)
  return { ...ledgers, id, run, connector, keys, wanted, committed, reserve, states }
}

/** Not one that anybody could send: its nonce is its seed. */
export function authorization(seed: string, amountAtomic: bigint): Authorization {
  return {
    terms: {
      protocol: 'x402',
      version: 2,
      scheme: 'exact',
      network: 'eip155:8453',
      asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
      payTo: '0x5A4dB0E5a4db0E5A4Db0E5a4db0E5A4Db0E5A4D0',
      amountAtomic,
      maxTimeoutSeconds: 300,
      domainName: 'USD Coin',
      domainVersion: '2',
      transferMethod: 'eip3009',
      paymentFlow: 'after',
      paymentIdentifier: false,
      // The order of the keys is part of the bytes that are signed and sent.
      raw: { z: 1, a: { y: [1, 'ü"\\'], b: null } },
    },
    payer: '0x0000000000000000000000000000000000000001',
    nonce: `0x${Buffer.from(seed).toString('hex').padEnd(64, '0').slice(-64)}`,
    validAfter: 0,
    validBefore: 1_800_000_000,
    paymentId: 'pd_1',
  }
}
