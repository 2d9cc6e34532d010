import { checkpointWhenLong } from './checkpoint.ts'
import type { OpenDatabase } from './database.ts'

/**
 * Between two steps of long work at the end of a command, when the jobs that do it have stopped: the log of an embedded ledger and
 * its pages would take a gigabyte until the work is done.
 */
export async function keepSmall(
  database: Pick<OpenDatabase, 'db' | 'kind' | 'pages'>,
  maxWalBytes?: number,
): Promise<void> {
  await checkpointWhenLong(database, maxWalBytes)
  while (await database.pages?.compress());
}
