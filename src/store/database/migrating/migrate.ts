import { CompiledQuery, sql, type Kysely, type Transaction } from 'kysely'
import type { Tables } from '../tables/schema.ts'
import { setTimeout as delay } from 'node:timers/promises'
import { errorCode } from '../../../domain/error-codes.ts'
import { ConfigError } from '../../../domain/errors.ts'
import { finishMigration } from './finish-migration.ts'
import type { Migration, OnStep } from '../../migrations/migration.ts'
import { migrations } from './migrations.ts'
import { retryLocked } from './retry-locked.ts'
import { noteForm } from '../../packed/ledger-adapter.ts'
import { isStrict, compareSchema, readSchema } from './schema-state.ts'

/** The advisory lock of programs up to 0038, who wait for it in a statement at each start: never held for long. */
const briefLockId = 7_290_001
/** The advisory lock of the one process that migrates; never waited for in a statement, see `whileAlone`. */
const lockId = 7_290_002

const everyMs = 250

/** A migration may set its own. Without limits every later statement on a table would wait behind one that waits for it. */
export const briefLimits = ["set local lock_timeout = '3s'", "set local statement_timeout = '60s'"]

export type MigratedBy = 'self' | 'others' | 'nobody'

export interface MigrateOptions {
  /** Others may use the database meanwhile: Postgres, and not the embedded database. */
  isShared: boolean
  /**
   * self: this process, or another that began before it. others: this one waits until somebody has (`paydirt migrate`, a Job).
   * nobody: a schema that is behind is refused, with ConfigError `schema_behind`.
   */
  by?: MigratedBy | undefined
  /** The longest wait for others. */
  patienceMs?: number | undefined
  /** Called with a line for a person at each step. */
  onStep?: OnStep | undefined
  /** The migrations that this program knows; tests give others. */
  known?: readonly Migration[] | undefined
}

/**
 * Brings the schema up to date. When several processes start at once, one migrates and the others wait. Crash windows: each
 * migration is one transaction and is noted in it; what follows outside of a transaction (indexes, validations) is done again
 * as far as it is not found done, and noted at its end. Killed anywhere, the next process goes on from there.
 */
export async function migrate(db: Kysely<Tables>, options: MigrateOptions): Promise<void> {
  await bringUp(db, options)
  await noteForm(db)
}

async function bringUp(db: Kysely<Tables>, options: MigrateOptions): Promise<void> {
  const { known = migrations, onStep = () => {}, patienceMs = 600_000 } = options
  const giveUpAt = performance.now() + patienceMs
  for (let round = 0; ; round += 1) {
    const verdict = compareSchema(await readSchema(db), known)
    if (verdict.kind === 'newer') {
      onStep(
        `the database was migrated by a newer paydirt (${verdict.unknown.join(', ')}); this one runs on it`,
        'info',
      )
    }
    if (verdict.kind !== 'behind') return
    const { pending } = verdict
    const names = pending.map(({ name }) => name).join(', ')
    if (options.by === 'nobody') {
      const isEmpty = pending.length === known.length
      throw new ConfigError(
        errorCode.schemaBehind,
        isEmpty
          ? 'the database is empty: the first command that writes makes its tables'
          : `the database lacks ${names}: run \`paydirt migrate\` (\`--plan\` shows it), or start paydirt, which does the same`,
        { details: { isEmpty } },
      )
    }
    if (options.by !== 'others') {
      if (!options.isShared) return applyAll(db, pending, { ...options, onStep })
      const wasAlone = await whileAlone(db, async () => {
        const again = compareSchema(await readSchema(db), known)
        if (again.kind === 'behind') await applyAll(db, again.pending, { ...options, onStep })
      })
      if (wasAlone) continue
    }
    if (performance.now() > giveUpAt) {
      throw new ConfigError(
        errorCode.schemaBehind,
        `the database lacks ${names}, and no other process has migrated it in ${Math.round(patienceMs / 1000)} s: run \`paydirt migrate\``,
      )
    }
    if (round % 40 === 0)
      onStep(`waiting for another process to migrate the database (${pending[0]?.name})`, 'warn')
    await delay(everyMs)
  }
}

/**
 * Does the work while no other process migrates; returns false, and does nothing, when one does. The lock belongs to a
 * transaction, so that it ends with its process, also behind a pooler of transactions. That transaction is idle and has no
 * snapshot: an index that is built concurrently waits for no other kind. It would wait for a statement that waits for a lock,
 * so the lock is only tried. And it would wait for a statement with parameters: the driver leaves its portal open, with its
 * snapshot, until the next statement; so this one has none.
 */
async function whileAlone(db: Kysely<Tables>, work: () => Promise<void>): Promise<boolean> {
  return db.transaction().execute(async (tx) => {
    await sql`set local idle_in_transaction_session_timeout = 0`.execute(tx)
    const { rows } = await sql<{
      got: boolean
    }>`select pg_try_advisory_xact_lock(${sql.lit(lockId)}) as got`.execute(tx)
    if (!rows[0]?.got) return false
    await work()
    return true
  })
}

interface Applying {
  isShared: boolean
  onStep: OnStep
}

async function applyAll(
  db: Kysely<Tables>,
  pending: readonly Migration[],
  { isShared, onStep }: Applying,
): Promise<void> {
  const { applied } = await readSchema(db)
  const isEmpty = applied.size === 0
  const retry = (name: string, step: () => Promise<void>) =>
    isShared ? retryLocked(db, name, step, { onWait: onStep }) : step()
  if (isEmpty) {
    // No data is here yet: the whole schema in one transaction, with its indexes.
    await retry('the first migration', () =>
      inBriefTransaction(db, async (tx) => {
        await createLists(tx)
        for (const migration of pending) await apply(tx, migration, { isNew: !isShared })
      }),
    )
  }
  for (const migration of pending) {
    if (!isEmpty && !applied.has(migration.name)) {
      onStep(`${migration.name}: applying`, 'info')
      await retry(migration.name, () =>
        inBriefTransaction(db, async (tx) => {
          await createLists(tx)
          await apply(tx, migration, { isNew: false })
        }),
      )
    }
    if (isStrict(migration.name)) continue
    await retry(migration.name, () =>
      finishMigration(db, migration, {
        isShared: isShared && !isEmpty,
        // Nothing takes long where nothing is.
        onStep: isEmpty ? () => {} : onStep,
      }),
    )
    await sql`update schema_changes set completed_at = now() where name = ${migration.name}`.execute(db)
  }
}

async function inBriefTransaction(
  db: Kysely<Tables>,
  work: (tx: Transaction<Tables>) => Promise<void>,
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    for (const limit of briefLimits) await tx.executeQuery(CompiledQuery.raw(limit))
    await sql`select pg_advisory_xact_lock(${briefLockId})`.execute(tx)
    await work(tx)
  })
}

async function createLists(tx: Transaction<Tables>): Promise<void> {
  await sql`create table if not exists migrations (name text primary key, applied_at timestamptz not null default now())`.execute(
    tx,
  )
  await sql`
    create table if not exists schema_changes (
      name text primary key,
      applied_at timestamptz not null default now(),
      completed_at timestamptz,
      oldest_program text
    )`.execute(tx)
}

async function apply(
  tx: Transaction<Tables>,
  { name, statements, ...programs }: Migration,
  { isNew }: { isNew: boolean },
): Promise<void> {
  const oldestProgram = (isNew ? programs.oldestProgramOfNew : undefined) ?? programs.oldestProgram
  // A program of before 0039 may have applied it meanwhile.
  const list = isStrict(name) ? 'migrations' : 'schema_changes'
  const { rows } = await sql`select 1 from ${sql.table(list)} where name = ${name}`.execute(tx)
  if (rows.length > 0) return
  for (const statement of statements.split(/;\s*$/m)) {
    if (statement.trim() !== '') await tx.executeQuery(CompiledQuery.raw(statement))
  }
  if (isStrict(name)) await sql`insert into migrations (name) values (${name})`.execute(tx)
  else
    await sql`insert into schema_changes (name, oldest_program) values (${name}, ${oldestProgram ?? null})`.execute(
      tx,
    )
}
