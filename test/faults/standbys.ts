import { spawn, spawnSync } from 'node:child_process'
import { mkdir, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { freePort } from '../support/free-port.ts'
import { answers, postgresProgram, serverOf, startPostgres, unprivilegedIn, type Server } from './servers.ts'

export interface Standbys {
  /** Both servers, as DATABASE_URL has them. */
  url: string
  /** Kills the primary, as a power cut would, and promotes its standby. */
  switchOver(): Promise<void>
  stop(): Promise<void>
}

/** A copy of a running primary that follows it, on a port of its own. */
export async function startStandby(primary: Server): Promise<Server> {
  const { port: primaryPort } = new URL(primary.url)
  const port = await freePort()
  const folder = await mkdtemp(join(tmpdir(), 'paydirt-standby-'))
  const data = join(folder, 'data')
  await mkdir(join(folder, 'socket'))
  const asUser = unprivilegedIn(folder)
  const copied = spawnSync(
    ...asUser(postgresProgram('pg_basebackup'), [
      '-D',
      data,
      '-d',
      `host=127.0.0.1 port=${primaryPort} user=paydirt application_name=standby`,
      '-R',
      '-X',
      'stream',
      '--checkpoint=fast',
    ]),
    { cwd: folder, encoding: 'utf8' },
  )
  if (copied.status !== 0) throw new Error(`pg_basebackup: ${copied.stderr}`)
  const settings = [
    'listen_addresses=127.0.0.1',
    `unix_socket_directories=${join(folder, 'socket')}`,
    'max_connections=200',
    'fsync=off',
  ]
  const args = ['-D', data, '-p', String(port), ...settings.flatMap((pair) => ['-c', pair])]
  const url = `postgres://paydirt@127.0.0.1:${port}/postgres`
  return serverOf({
    url,
    folder,
    spawn: () => spawn(...asUser(postgresProgram('postgres'), args), { cwd: folder, stdio: 'ignore' }),
    isReady: () => answers(url),
    killSignal: 'SIGQUIT',
  })
}

/** A primary and a standby without which it commits nothing, so that no transaction is lost with the primary. */
export async function startStandbys(): Promise<Standbys> {
  const primary = await startPostgres()
  const standby = await startStandby(primary)
  const onPrimary = new pg.Client({ connectionString: primary.url })
  onPrimary.on('error', () => {})
  await onPrimary.connect()
  await onPrimary.query("alter system set synchronous_standby_names = 'standby'")
  await onPrimary.query('select pg_reload_conf()')
  const isSynchronous = async () =>
    (await onPrimary.query("select from pg_stat_replication where sync_state = 'sync'")).rowCount === 1
  for (let tries = 0; !(await isSynchronous()); tries += 1) {
    if (tries > 600) throw new Error('the standby does not follow')
    await delay(50)
  }
  await onPrimary.end()
  return {
    url: `postgres://paydirt@${hostOf(primary)},${hostOf(standby)}/postgres?target_session_attrs=read-write`,
    async switchOver() {
      await primary.kill()
      const client = new pg.Client({ connectionString: standby.url })
      await client.connect()
      await client.query('select pg_promote(true, 60)')
      await client.end()
    },
    async stop() {
      await standby.stop()
      await primary.stop()
    },
  }
}

function hostOf({ url }: Server): string {
  return new URL(url).host
}
