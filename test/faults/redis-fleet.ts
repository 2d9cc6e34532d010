import { spawn, spawnSync } from 'node:child_process'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { freePort } from '../support/free-port.ts'
import { accepts, onPath, serverOf, type Server } from './servers.ts'

const program = onPath('redis-server')
const command = onPath('redis-cli')

export function missingRedisFleet(): string | undefined {
  return program === undefined || command === undefined
    ? 'redis-server and redis-cli are not installed'
    : undefined
}

export interface RedisFleet {
  /** As REDIS_URL has it. */
  url: string
  /** Kills the server that has the keys of a prefix, as a power cut would, and returns when another has taken its place. */
  failOver(prefix: string): Promise<void>
  stop(): Promise<void>
}

/** A master, a replica, and three sentinels that agree by two of them. */
export async function startSentinels(): Promise<RedisFleet> {
  const servers: Server[] = []
  const master = await startOne([], servers)
  const replica = await startOne(['replicaof 127.0.0.1 ' + portOf(master)], servers)
  const sentinels: Server[] = []
  for (let count = 0; count < 3; count += 1) {
    sentinels.push(
      await startOne(
        [
          `sentinel monitor main 127.0.0.1 ${portOf(master)} 2`,
          'sentinel down-after-milliseconds main 1000',
          'sentinel failover-timeout main 10000',
        ],
        servers,
        ['--sentinel'],
      ),
    )
  }
  const state = new Redis(Number(portOf(replica)))
  await until(async () => /master_link_status:up/.test(await state.info('replication')))
  for (const sentinel of sentinels) {
    const seen = new Redis(Number(portOf(sentinel)))
    await until(async () => {
      const known = (await seen.call('sentinel', 'master', 'main')) as string[]
      const figure = (name: string) => Number(known[known.indexOf(name) + 1])
      return figure('num-slaves') === 1 && figure('num-other-sentinels') === 2
    })
    seen.disconnect()
  }
  return {
    url: `redis+sentinel://${sentinels.map((each) => `127.0.0.1:${portOf(each)}`).join(',')}/main`,
    async failOver() {
      await master.kill()
      await until(async () => /role:master/.test(await state.info('replication')))
    },
    async stop() {
      state.disconnect()
      for (const server of servers.reverse()) await server.stop()
    },
  }
}

/** Three masters with a replica each. */
export async function startCluster(): Promise<RedisFleet> {
  const servers: Server[] = []
  const settings = ['cluster-enabled yes', 'cluster-config-file nodes.conf', 'cluster-node-timeout 1000']
  for (let count = 0; count < 6; count += 1) await startOne(settings, servers)
  const hosts = servers.map((each) => `127.0.0.1:${portOf(each)}`)
  const made = spawnSync(
    command as string,
    ['--cluster', 'create', ...hosts, '--cluster-replicas', '1', '--cluster-yes'],
    { encoding: 'utf8' },
  )
  if (made.status !== 0) throw new Error(`redis-cli --cluster create: ${made.stdout} ${made.stderr}`)
  const [first] = servers as [Server]
  const state = new Redis(Number(portOf(first)))
  state.on('error', () => {})
  const linked = async () => {
    const nodes = servers.map((each) => new Redis(Number(portOf(each))))
    const replies = await Promise.all(nodes.map((node) => node.info('replication')))
    const states = await Promise.all(nodes.map((node) => node.cluster('INFO')))
    for (const node of nodes) node.disconnect()
    const isLinked = replies.filter((text) => /master_link_status:up/.test(text)).length === 3
    return isLinked && states.every((text) => String(text).includes('cluster_state:ok'))
  }
  await until(linked)
  const ownerOf = async (node: Redis, prefix: string): Promise<string> => {
    const slot = await node.cluster('KEYSLOT', `{${prefix}}`)
    const ranges = await node.cluster('SLOTS')
    const range = ranges.find(([from, to]) => from <= Number(slot) && Number(slot) <= to)
    return String(range?.[2]?.[1])
  }
  return {
    url: `redis+cluster://${hosts.slice(0, 3).join(',')}`,
    async failOver(prefix) {
      const owner = await ownerOf(state, prefix)
      const other = new Redis(Number(portOf(servers.find((each) => portOf(each) !== owner) as Server)))
      await servers.find((each) => portOf(each) === owner)?.kill()
      await until(async () => (await ownerOf(other, prefix)) !== owner)
      other.disconnect()
    },
    async stop() {
      state.disconnect()
      for (const server of servers.reverse()) await server.stop()
    },
  }
}

const portOf = (server: Server): string => new URL(server.url).port

async function startOne(settings: string[], servers: Server[], flags: string[] = []): Promise<Server> {
  const port = await freePort()
  const folder = await mkdtemp(join(tmpdir(), 'paydirt-redis-'))
  const file = join(folder, 'redis.conf')
  const base = [`port ${port}`, 'bind 127.0.0.1', `dir ${folder}`]
  const keeps =
    flags.length > 0
      ? []
      : ['save ""', 'appendonly no', 'maxmemory-policy noeviction', 'repl-diskless-sync-delay 0']
  await writeFile(file, [...base, ...keeps, ...settings, ''].join('\n'))
  const server = await serverOf({
    url: `redis://127.0.0.1:${port}`,
    folder,
    spawn: () => spawn(program as string, [file, ...flags], { cwd: folder, stdio: 'ignore' }),
    isReady: () => accepts(port),
    killSignal: 'SIGKILL',
  })
  servers.push(server)
  return server
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await condition().catch(() => false)); tries += 1) {
    if (tries > 600) throw new Error('the servers did not come to the expected state in a minute')
    await delay(100)
  }
}
