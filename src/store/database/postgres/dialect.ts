import {
  CompiledQuery,
  PostgresDialect,
  PostgresDriver,
  type DatabaseConnection,
  type Driver,
  type TransactionSettings,
} from 'kysely'
import { LedgerAdapter } from '../../packed/ledger-adapter.ts'
import { goesFirst } from '../go-first.ts'
import type { LedgerPool } from './pool.ts'

/**
 * Has Postgres keep the plans of what is prepared (statement-names.ts). It expects ten of every list that is a parameter, so that for the one
 * lookup of a press it takes planning anew for cheaper, each time: that was most of the time of its statements. They find their rows by key
 * with any parameters. A statement whose parameter has to match the condition of a partial index would read the whole table, and has no
 * place in such a transaction (test/ops/press-plans.test.ts).
 */
const planOnce = 'set local plan_cache_mode = force_generic_plan'

/**
 * Kysely on Postgres, whose transactions begin within the limits of the pool. The first statement of a transaction is sent behind its
 * `begin` without waiting for it. Where `begin` fails there is no transaction that the statement could change anything in: the
 * connection is gone, or the server refuses everything up to the rollback.
 */
export function createLedgerDialect(pool: LedgerPool): PostgresDialect {
  class Dialect extends PostgresDialect {
    override createAdapter(): LedgerAdapter {
      return new LedgerAdapter()
    }

    override createDriver(): Driver {
      return new LedgerDriver({ pool }, pool)
    }
  }
  return new Dialect({ pool })
}

class LedgerDriver extends PostgresDriver {
  readonly #pool: LedgerPool

  constructor(config: ConstructorParameters<typeof PostgresDriver>[0], pool: LedgerPool) {
    super(config)
    this.#pool = pool
  }

  override async beginTransaction(
    connection: DatabaseConnection,
    settings: TransactionSettings,
  ): Promise<void> {
    const { isolationLevel, accessMode } = settings
    const modes = [isolationLevel && `isolation level ${isolationLevel}`, accessMode]
    const begin = ['begin', ...modes.filter((mode) => mode !== undefined)].join(' ')
    const limits = this.#pool.afterBegin()
    // A pooler, for which the limits are set each time, has nothing prepared.
    const plans = goesFirst() && limits.length === 0 ? [planOnce] : []
    const text = [begin, ...plans, ...limits].join('; ')
    // Its error is that of the statement behind it (pool.ts).
    connection.executeQuery(CompiledQuery.raw(text)).catch(() => {})
  }
}
