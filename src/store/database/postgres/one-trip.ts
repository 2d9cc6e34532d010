import type { DatabaseConnection, QueryExecutorProvider, QueryResult, RawBuilder } from 'kysely'
import type { Connected } from '../../packed/ledger-adapter.ts'

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
    const answers = await Promise.allSettled(compiled.map((query) => connection.executeQuery(query)))
    return answers.map((answer) => {
      if (answer.status === 'rejected') throw answer.reason
      return answer.value
    }) as Results<Rows>
  })
}
