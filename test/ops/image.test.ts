import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openDatabase } from '../../src/store/database/database.ts'
import { missingServers, startPostgres, startRedis, type Server } from '../faults/servers.ts'
import { freePort } from '../support/free-port.ts'
import { call } from '../support/http-house.ts'
import { openServiceHouse } from '../support/service-house.ts'
import { baseImage } from './base-image.ts'
import { missingDocker, openDocker, type DockerEngine } from './docker-engine.ts'

// Needs redis-server (or valkey-server), Postgres, and Docker: an engine that runs, or dockerd and root.
const missing = missingServers() ?? missingDocker()
if (missing !== undefined) process.stderr.write(`image: left out, ${missing}\n`)

const root = join(import.meta.dirname, '../..')
const published = /^ARG NODE_IMAGE=(\S+)$/m.exec(readFileSync(join(root, 'Dockerfile'), 'utf8'))![1]!
const roles = ['web', 'worker', 'scheduler'] as const
const latencyMs = 1_500
const mostMegabytes = 450

interface Inspected {
  State: { ExitCode: number; Health: { Status: string } }
  Config: { User: string }
}

describe.skipIf(missing !== undefined)('the image', () => {
  let engine: DockerEngine
  let redis: Server
  let postgres: Server
  let sandbox: Sandbox
  const image = 'paydirt-test'
  const containers: string[] = []

  beforeAll(async () => {
    engine = await openDocker()
    const base = baseImage(engine, published)
    const options = ['--network', 'host', '--target', 'app', '-t', image, '--build-arg', `NODE_IMAGE=${base}`]
    engine.docker('build', ...options, '--build-arg', 'REVISION=of-a-test', root)
    redis = await startRedis()
    postgres = await startPostgres()
    sandbox = await startSandbox({
      faults: { paymentIdentifier: true, latency: { minMs: latencyMs, maxMs: latencyMs } },
    })
  }, 900_000)
  afterAll(async () => {
    for (const name of containers) engine.tryDocker('rm', '-f', '-v', name)
    await sandbox?.stop()
    for (const server of [postgres, redis]) await server?.stop()
    await engine?.stop()
  })

  const hardened = [
    '--read-only',
    '--cap-drop',
    'ALL',
    '--security-opt',
    'no-new-privileges',
    '--network',
    'host',
  ]

  test('is small, has labels and runs as nobody in particular', () => {
    const [found] = JSON.parse(engine.docker('image', 'inspect', image)) as {
      Size: number
      Config: { User: string; Labels: Record<string, string>; Volumes: object }
    }[]
    const megabytes = Math.round(found!.Size / 1e6)
    process.stderr.write(`image: ${megabytes} MB\n`)
    expect(megabytes).toBeLessThan(mostMegabytes)
    expect(found!.Config).toMatchObject({ User: 'node', Volumes: { '/data': {} } })
    expect(found!.Config.Labels).toMatchObject({
      'org.opencontainers.image.licenses': 'MIT',
      'org.opencontainers.image.revision': 'of-a-test',
    })
  })

  test('writes to its volume alone and has neither sources nor development dependencies', () => {
    const look = `id -u; ls /app /app/node_modules
      for place in /app /tmp /home/node /data; do touch $place/file && echo writes $place; done`
    const { stdout } = engine.tryDocker('run', '--rm', ...hardened, '--entrypoint', 'sh', image, '-c', look)
    const lines = stdout.split('\n')
    expect(lines[0]).toBe('1000')
    expect(lines.filter((line) => line.startsWith('writes'))).toEqual(['writes /data'])
    for (const name of ['src', 'test', 'typescript', 'vitest', 'playwright-core', 'node'])
      expect(lines).not.toContain(name)
    expect(lines).toContain('dist')
    expect(engine.docker('run', '--rm', ...hardened, image, '--version')).toMatch(/^\d+\.\d+\.\d+$/)
  })

  test('ends on SIGTERM as the first process, also where a command does not listen to signals', async () => {
    // It goes on after its work, as a command does that waits for something.
    const waits = 'NODE_OPTIONS=--import=data:text/javascript,setInterval(()=>{},1e3)'
    const name = begin('waiting', ['--env', waits], ['--version'])
    await vi.waitFor(() => expect(engine.docker('logs', name)).toMatch(/\d/), {
      timeout: 60_000,
      interval: 200,
    })
    engine.docker('stop', '--time', '120', name)
    // 137 would be the SIGKILL after these two minutes.
    expect(inspect('waiting').State.ExitCode).toBe(143)
  })

  test('serves web, worker and scheduler, all healthy, and each ends its work when it is stopped', async () => {
    const house = await openServiceHouse({ redis, postgres }, sandbox, {
      pacing: { startPerSecond: 50, concurrency: 4 },
      schedules: { nightly: { connector: 'hubspot', object: 'companies', cron: '0 0 1 1 *' } },
    })
    try {
      const port = await freePort()
      const settings = ['--volume', `${house.stores.dataDir}/paydirt.config.mjs:/app/paydirt.config.mjs:ro`]
      const environment = { ...house.environment, PAYDIRT_DATA_DIR: '/data', PAYDIRT_PORT: String(port) }
      for (const [key, value] of Object.entries(environment)) settings.push('--env', `${key}=${value}`)
      for (const role of roles) begin(role, settings, ['start', '--role', role])
      await vi.waitFor(
        () =>
          expect(roles.map((role) => inspect(role).State.Health.Status)).toEqual(roles.map(() => 'healthy')),
        { timeout: 60_000, interval: 1_000 },
      )
      for (const role of roles) {
        await vi.waitFor(() => expect(probe(role, 'readyz')).toContain('"status":"ok"'), { timeout: 60_000 })
        process.stderr.write(
          `image: ${role} is ${inspect(role).State.Health.Status}, ${probe(role, 'livez')}\n`,
        )
        expect(inspect(role).Config.User).toBe('node')
      }

      const token = JSON.parse(
        await engine.dockerBeside(
          'exec',
          'paydirt-test-web',
          'paydirt',
          'token',
          'create',
          'presser',
          '--json',
        ),
      ).token as string
      const url = `http://127.0.0.1:${port}`
      const press = async (id: string, wait = '') => {
        const body = { connector: 'hubspot', object: 'company', ids: [id] }
        return call<{ tasks: { id: string; status: string }[] }>(`${url}/v1/enrich${wait}`, { token, body })
      }
      const [first, second] = house.addCompanies(2)
      expect((await press(first!, '?wait=10')).body.tasks[0]).toMatchObject({ status: 'written' })

      // The second one has been paid for, and its answer is on the way, when everything is stopped.
      await press(second!)
      const { databaseUrl = '', dataDir } = house.stores
      const database = await openDatabase({ url: databaseUrl, dataDir })
      const charges = (state: string) =>
        database.db
          .selectFrom('charges')
          .select('id')
          .where('state', '=', state as 'sent')
          .execute()
      await vi.waitFor(async () => expect(await charges('sent')).toHaveLength(1), {
        timeout: 30_000,
        interval: 20,
      })
      const startedMs = performance.now()
      for (const role of ['worker', 'scheduler', 'web'])
        await engine.dockerBeside('stop', '--time', '60', `paydirt-test-${role}`)
      process.stderr.write(`image: stopped in ${Math.round(performance.now() - startedMs)} ms\n`)
      expect(roles.map((role) => inspect(role).State.ExitCode)).toEqual([0, 0, 0])
      expect(await charges('sent')).toEqual([])
      expect(await charges('settled')).toHaveLength(2)
      await database.close()
      expect(await sandbox.transfersFrom(house.wallet)).toHaveLength(2)
    } catch (error) {
      for (const role of roles) process.stderr.write(engine.tryDocker('logs', `paydirt-test-${role}`).stderr)
      throw error
    } finally {
      await house.close()
    }
  })

  function begin(role: string, options: string[], args: string[]): string {
    const name = `paydirt-test-${role}`
    containers.push(name)
    engine.docker(
      'run',
      '--detach',
      '--name',
      name,
      ...hardened,
      '--health-interval',
      '2s',
      ...options,
      image,
      ...args,
    )
    return name
  }
  function inspect(role: string): Inspected {
    return (JSON.parse(engine.docker('inspect', `paydirt-test-${role}`)) as Inspected[])[0]!
  }
  function probe(role: string, path: string): string {
    return engine.docker('exec', `paydirt-test-${role}`, 'node', 'bin/alive.mjs', path)
  }
})
