import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../support/free-port.ts'
import { accepts, onPath, serverOf, unprivilegedIn, type Server } from './servers.ts'

/** Debian keeps it off the path of users. */
const program = onPath('pgbouncer') ?? ['/usr/sbin/pgbouncer'].find((path) => existsSync(path))

export function missingPgbouncer(): string | undefined {
  return program === undefined ? 'pgbouncer is not installed' : undefined
}

/**
 * Starts pgbouncer in front of `postgres` in transaction mode: a connection to the server belongs to a client for one
 * transaction alone, and with few of them each goes from client to client.
 */
export async function startPgbouncer(postgres: Server): Promise<Server> {
  const port = await freePort()
  const folder = await mkdtemp(join(tmpdir(), 'paydirt-pgbouncer-'))
  const users = join(folder, 'userlist.txt')
  await writeFile(users, '"paydirt" ""\n')
  const file = join(folder, 'pgbouncer.ini')
  await writeFile(
    file,
    [
      '[databases]',
      `* = host=127.0.0.1 port=${new URL(postgres.url).port}`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${port}`,
      'unix_socket_dir =',
      'auth_type = trust',
      `auth_file = ${users}`,
      'pool_mode = transaction',
      'default_pool_size = 8',
      'max_client_conn = 1000',
      'server_login_retry = 1',
      '',
    ].join('\n'),
  )
  const asUser = unprivilegedIn(folder)
  return serverOf({
    url: `postgres://paydirt@127.0.0.1:${port}/postgres`,
    folder,
    spawn: () => spawn(...asUser(program as string, ['-q', file]), { cwd: folder, stdio: 'ignore' }),
    isReady: () => accepts(port),
    killSignal: 'SIGKILL',
  })
}
