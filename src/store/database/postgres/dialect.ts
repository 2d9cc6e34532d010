import {
  CompiledQuery,
  PostgresDialect,
  PostgresDriver,
  type DatabaseConnection,
  type Driver,
  type TransactionSettings,
} from 'kysely'
import { LedgerAdapter } from '../../packed/ledger-adapter.ts'
import type { LedgerPool } from './pool.ts'

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
    const text = [begin, ...this.#pool.afterBegin()].join('; ')
    // Its error is that of the statement behind it (pool.ts).
    connection.executeQuery(CompiledQuery.raw(text)).catch(() => {})
  }
}
