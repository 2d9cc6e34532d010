import { setTimeout as pause } from 'node:timers/promises'
import { openDatabase } from '../../store/database/database.ts'
import { hostsOf } from '../../store/database/postgres/addresses.ts'
import { openReplica } from '../../store/database/replica.ts'
import type { Config } from '../config/config.ts'
import type { Finding } from './finding.ts'

const tries = 10
const pauseMs = 200

/** Says of the standby of DATABASE_READ_URL whether it follows DATABASE_URL, and how far it is behind. */
export async function checkStandby(config: Config): Promise<Finding[]> {
  const { reads, databaseUrl } = config
  if (!reads || databaseUrl === undefined) return []
  const connections = config.connections('command')
  // The check of the database says whether its schema is up to date.
  const database = await openDatabase({
    url: databaseUrl,
    dataDir: config.dataDir,
    connections,
    migratedBy: 'caller',
  })
  try {
    const replica = await openReplica({
      url: reads.url,
      primary: database.db,
      connections,
      mostBehindMs: reads.mostBehindMs,
      onChange: () => {},
      onFailedRead: () => {},
    })
    try {
      let state = await replica.check()
      for (let left = tries; left > 0 && state.name === 'behind'; left -= 1) {
        await pause(pauseMs)
        state = await replica.check()
      }
      const name = 'standby'
      const whose = `${hostsOf(reads.url)} (DATABASE_READ_URL)`
      const meanwhile = 'pages are read from the primary meanwhile'
      if (state.name === 'near') {
        const seconds = (Math.ceil(state.behindMs / 100) / 10).toFixed(1)
        return [{ name, status: 'ok', message: `${whose}: follows, at most ${seconds} s behind` }]
      }
      if (state.name === 'behind') {
        const by = `by more than the ${reads.mostBehindMs / 1_000} s of database.readBehindSeconds`
        return [
          {
            name,
            status: 'warning',
            message: `${whose}: behind ${by}; ${meanwhile}`,
            todo: 'look whether it still replays (pg_stat_wal_receiver, pg_last_wal_replay_lsn)',
          },
        ]
      }
      return [
        {
          name,
          status: 'problem',
          message: `${whose}: ${state.problem}; ${meanwhile}`,
          todo: 'let DATABASE_READ_URL name a standby of DATABASE_URL that runs, or take it out',
        },
      ]
    } finally {
      await replica.close()
    }
  } finally {
    await database.close()
  }
}
