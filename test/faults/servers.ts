import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, realpathSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import pg from 'pg'
import { freePort } from '../support/free-port.ts'

/** A real server for one test, on a free port of the loopback, that can be stopped and started again. */
export interface Server {
  url: string
  /** Ends it as a power cut would. */
  kill(): Promise<void>
  /** Starts it again at the same address. */
  start(): Promise<void>
  stop(): Promise<void>
}

const redisProgram = ['redis-server', 'valkey-server'].map(onPath).find((path) => path !== undefined)
const postgresPrograms = findPostgres()

/** Returns the programs that tests with real servers lack; undefined when none is missing. */
export function missingServers(): string | undefined {
  if (redisProgram === undefined) return 'neither redis-server nor valkey-server is installed'
  if (postgresPrograms === undefined) return 'no Postgres server is installed (initdb and postgres)'
  return undefined
}

export interface RedisServer extends Server {
  command(text: string): Promise<void>
}

/** Persists nothing: when it is killed, all of its data is gone. */
export async function startRedis(): Promise<RedisServer> {
  const port = await freePort()
  const folder = await mkdtemp(join(tmpdir(), 'paydirt-redis-'))
  const args = [
    '--port',
    String(port),
    '--bind',
    '127.0.0.1',
    '--dir',
    folder,
    '--save',
    '',
    '--appendonly',
    'no',
  ]
  const server = await serverOf({
    url: `redis://127.0.0.1:${port}`,
    folder,
    spawn: () => spawn(redisProgram as string, args, { stdio: 'ignore' }),
    isReady: () => accepts(port),
    killSignal: 'SIGKILL',
  })
  return {
    ...server,
    async command(text) {
      const socket = connect(port, '127.0.0.1').end(`${text}\r\n`)
      const [reply] = (await once(socket, 'data')) as [Buffer]
      if (!reply.toString().startsWith('+OK')) throw new Error(`${text}: ${reply}`)
    },
  }
}

/** Keeps what it has committed. Postgres refuses to run as root, so as root it runs as another user. */
export async function startPostgres(): Promise<Server> {
  const port = await freePort()
  const folder = await mkdtemp(join(tmpdir(), 'paydirt-postgres-'))
  const data = join(folder, 'data')
  await mkdir(join(folder, 'socket'))
  const asUser = unprivilegedIn(folder)
  const run = (program: string, args: string[]) => asUser(postgresProgram(program), args)
  const made = spawnSync(
    ...run('initdb', [
      '-D',
      data,
      '-U',
      'paydirt',
      '--auth=trust',
      '--encoding=UTF8',
      '--no-locale',
      '--no-sync',
    ]),
    { cwd: folder, encoding: 'utf8' },
  )
  if (made.status !== 0) throw new Error(`initdb: ${made.stderr}`)
  const settings = ['listen_addresses=127.0.0.1', `unix_socket_directories=${join(folder, 'socket')}`]
  const limits = ['max_connections=200', 'fsync=off']
  const args = ['-D', data, '-p', String(port), ...[...settings, ...limits].flatMap((pair) => ['-c', pair])]
  const url = `postgres://paydirt@127.0.0.1:${port}/postgres`
  return serverOf({
    url,
    folder,
    spawn: () => spawn(...run('postgres', args), { cwd: folder, stdio: 'ignore' }),
    isReady: () => answers(url),
    // Immediate shutdown: every connection is cut, and the next start recovers from the log.
    killSignal: 'SIGQUIT',
  })
}

/** The path of one of Postgres' own programs. */
export function postgresProgram(name: string): string {
  // The path may have links to some of them alone.
  return join(dirname(realpathSync(join(postgresPrograms as string, 'postgres'))), name)
}

/** Gives a folder to the user under whom programs run that refuse root, and returns what starts a program as that user. */
export function unprivilegedIn(folder: string): (path: string, args: string[]) => [string, string[]] {
  if (process.getuid?.() !== 0) return (path, args) => [path, args]
  const user = unprivileged()
  spawnSync('chown', ['-R', user.name, folder])
  // setpriv is replaced by the server, so that signals reach it.
  const flags = ['--reuid', user.uid, '--regid', user.gid, '--clear-groups', '--']
  return (path, args) => ['setpriv', [...flags, path, ...args]]
}

/** A server of any program, once it answers. */
export async function serverOf(options: {
  url: string
  folder: string
  spawn: () => ChildProcess
  isReady: () => Promise<boolean>
  killSignal: NodeJS.Signals
}): Promise<Server> {
  let child: ChildProcess
  let exited: Promise<unknown>

  async function start(): Promise<void> {
    child = options.spawn()
    exited = once(child, 'exit')
    for (let tries = 0; !(await options.isReady()); tries += 1) {
      if (child.exitCode !== null || tries > 300) throw new Error(`no server at ${options.url}`)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }

  async function end(signal: NodeJS.Signals): Promise<void> {
    child.kill(signal)
    await exited
  }

  // Ctrl-C in a terminal reaches the server too; a signal to this process alone does not.
  const abandon = () => void child.kill(options.killSignal)
  process.on('exit', abandon)
  await start()
  return {
    url: options.url,
    start,
    kill: () => end(options.killSignal),
    async stop() {
      process.off('exit', abandon)
      if (child.exitCode === null && child.signalCode === null) await end(options.killSignal)
      await rm(options.folder, { recursive: true, force: true })
    },
  }
}

export function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false))
    socket.on('connect', () => socket.destroy())
  })
}

export async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  try {
    await client.connect()
    await client.end()
    return true
  } catch {
    return false
  }
}

function unprivileged(): { name: string; uid: string; gid: string } {
  const id = (flag: string, name: string) => spawnSync('id', [flag, name], { encoding: 'utf8' })
  const name = id('-u', 'postgres').status === 0 ? 'postgres' : 'nobody'
  return { name, uid: id('-u', name).stdout.trim(), gid: id('-g', name).stdout.trim() }
}

export function onPath(program: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  return folders.map((folder) => join(folder, program)).find((path) => existsSync(path))
}

/** Debian keeps the server's programs off the path, in one directory per version. */
function findPostgres(): string | undefined {
  const root = '/usr/lib/postgresql'
  const versions = existsSync(root) ? readdirSync(root).sort((a, b) => Number(b) - Number(a)) : []
  const folders = [
    ...(process.env['PATH'] ?? '').split(delimiter),
    ...versions.map((it) => join(root, it, 'bin')),
  ]
  return folders.find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')))
}
