import { describeError } from '../../domain/errors.ts'
import { hostsOf } from '../../store/database/postgres/addresses.ts'
import type { Database } from '../../store/database/database.ts'
import { openReplica, type Replica, type ReplicaState } from '../../store/database/replica.ts'
import type { Context } from '../context/context.ts'
import { moduleLog } from '../context/log.ts'

/** The reading of what only shows and decides nothing. */
export interface Reads extends Pick<Replica, 'read'> {
  /** After a change, its visitor reads from the primary for so long. */
  freshSeconds: number
  /** The most that a reading may lack. */
  mostBehindMs: number
  /** Undefined without a standby. */
  state(): ReplicaState | undefined
  close(): Promise<void>
}

/** Beside what the standby may be behind: a measurement is up to a second old. */
const marginSeconds = 2

/** Opens the standby of DATABASE_READ_URL. Without one, or while it is away or too far behind, the primary is read. */
export async function openReads({ config, database, log }: Context): Promise<Reads> {
  const { db } = database
  if (!config.reads) {
    const read = async <T>(read: (db: Database) => Promise<T>) => ({
      result: await read(db),
      behindMs: undefined,
    })
    return { read, freshSeconds: 0, mostBehindMs: 0, state: () => undefined, close: async () => {} }
  }
  const { url, mostBehindMs } = config.reads
  const storeLog = moduleLog(log, 'store')
  const replica = await openReplica({
    url,
    primary: db,
    connections: config.connections('web'),
    mostBehindMs,
    onChange: (state) =>
      state.name === 'near'
        ? storeLog.info({ standby: hostsOf(url) }, 'pages are read from the standby')
        : storeLog.warn(
            { standby: hostsOf(url), ...state },
            'pages are read from the primary: the standby is of no use',
          ),
    onFailedRead: (error) =>
      storeLog.warn(
        { problem: describeError(error) },
        'a page was read from the primary: the standby failed',
      ),
  })
  return {
    read: replica.read,
    state: replica.state,
    mostBehindMs,
    freshSeconds: Math.ceil(mostBehindMs / 1_000) + marginSeconds,
    close: replica.close,
  }
}
