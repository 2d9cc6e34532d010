import {
  sql,
  type DatabaseConnection,
  type QueryExecutorProvider,
  type QueryResult,
  type RawBuilder,
  type Transaction,
} from 'kysely'
import { PaydirtError } from '../../../domain/errors.ts'
import { isEmbedded } from '../embedded.ts'
import type { Connected } from '../../packed/ledger-adapter.ts'
import type { Database } from '../database.ts'
import type { Tables } from '../tables/schema.ts'

type Results<Rows extends readonly unknown[]> = { [Place in keyof Rows]: QueryResult<Rows[Place]> }

/**
 * Sends statements one behind the other, without waiting for the answer to the first before the second leaves. The server carries them
 * out in this order, each with a snapshot of its own, and what they lock and see is what they would if each were waited for. Only
 * for statements of which none needs what another has answered.
 *
 * In a transaction an error ends it, and no statement behind it changes anything. Outside of one each commits by itself, and those
 * behind an error are carried out all the same. Throws the first error once all have been answered: a connection that is given
 * back has nothing under way. The embedded ledger has no trips, and carries them out one by one.
 */
export async function inOneTrip<Rows extends readonly unknown[]>(
  db: Connected & QueryExecutorProvider,
  ...statements: { [Place in keyof Rows]: RawBuilder<Rows[Place]> }
): Promise<Results<Rows>> {
  if (statements.length === 0) return [] as unknown as Results<Rows>
  const compiled = statements.map((statement) => statement.compile(db))
  return db.getExecutor().provideConnection(async (connection: DatabaseConnection) => {
    const answers: PromiseSettledResult<QueryResult<unknown>>[] = []
    // Two statements that PGlite is given at once may change places while the first is prepared.
    if (isEmbedded(db))
      for (const query of compiled)
        answers.push(...(await Promise.allSettled([connection.executeQuery(query)])))
    else answers.push(...(await Promise.allSettled(compiled.map((query) => connection.executeQuery(query)))))
    return answers.map((answer) => {
      if (answer.status === 'rejected') throw answer.reason
      return answer.value
    }) as Results<Rows>
  })
}

/**
 * Returns the `commit` that goes behind the last statements of a transaction in one trip (`inOneTransaction`); nothing where the
 * transaction is ended in the usual way. Behind a statement that has failed it ends the transaction without a change.
 */
export type Ending = readonly RawBuilder<unknown>[]

const atOnce: Ending = [sql`commit`]
const usually: Ending = []

/**
 * Does work in a transaction whose last statements may bring the `commit` with them. What they lock is then held for no longer than
 * the server needs: the answer to the last statement, and the turn of this process in which it is read, are not waited for. The work must
 * fail in the database where it must not be committed. What has failed there is repeated in the usual way, in which each
 * statement is waited for and the error is the one to tell.
 */
export async function inOneTransaction<T>(
  db: Database,
  work: (tx: Transaction<Tables>, ending: Ending) => Promise<T>,
): Promise<T> {
  const inTransaction = (ending: Ending) => db.transaction().execute((tx) => work(tx, ending))
  if (isEmbedded(db)) return inTransaction(usually)
  try {
    return await inTransaction(atOnce)
  } catch (error) {
    if (error instanceof PaydirtError) throw error
    return inTransaction(usually)
  }
}
