import { spawnSync } from 'node:child_process'
import { mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { migrations } from '../../src/store/database/migrating/migrations.ts'
import { missingServers, startPostgres, startRedis, type Server } from '../faults/servers.ts'
import { openKilledServices, roles } from '../long/killed-services.fixture.ts'

/** The last commit of the version before. It knows migrations up to 0038. */
const versionBefore = process.env['PAYDIRT_TEST_VERSION_BEFORE'] ?? '2332fd81'
const root = join(import.meta.dirname, '../..')
const hasHistory =
  spawnSync('git', ['cat-file', '-e', `${versionBefore}^{commit}`], { cwd: root, stdio: 'ignore' }).status ===
  0

// Needs redis-server, postgres, git with the history of the project.
const missing = missingServers() ?? (hasHistory ? undefined : `git does not have ${versionBefore}`)
if (missing !== undefined) process.stderr.write(`upgrade: left out, ${missing}\n`)

describe.skipIf(missing !== undefined)('the version before and this one, side by side under load', () => {
  let servers: { redis: Server; postgres: Server }
  let sandbox: Sandbox
  let folder: string
  let before: string
  const after = join(root, 'src/cli/main.ts')

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'paydirt-version-before-'))
    const unpacked = spawnSync('sh', ['-c', `git archive ${versionBefore} | tar -x -C ${folder}`], {
      cwd: root,
    })
    if (unpacked.status !== 0) throw new Error(`git archive ended with ${unpacked.status}`)
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
    before = join(folder, 'src/cli/main.ts')
    servers = { redis: await startRedis(), postgres: await startPostgres() }
    sandbox = await startSandbox({
      faults: { paymentIdentifier: true, latency: { minMs: 500, maxMs: 500 } },
    })
  })
  afterAll(async () => {
    await sandbox?.stop()
    await servers?.redis.stop()
    await servers?.postgres.stop()
    await rm(folder, { recursive: true, force: true })
  })

  test('upgraded, taken back in the middle, and upgraded again: no request and no record fails', async () => {
    const stage = await openKilledServices(servers, sandbox, { program: before })
    const applied = async () =>
      (await stage.house.runBy(after, ['migrate', '--plan', '--json'])).json<{ at: string; state: string }>()
    expect(await applied()).toMatchObject({ at: '0038', state: 'behind' })
    await stage.untilUnderWay()

    // A request at any time, of which none may be refused or broken: `press` expects 200 or 202 of each.
    let isOver = false
    let requests = 0
    const pressing = (async () => {
      while (!isOver) {
        await stage.press(1, requests % 3 === 0 ? '?wait=5' : '')
        requests += 1
      }
    })()
    const moveTo = async (program: string) => {
      for (const name of roles.keys()) await Promise.race([stage.replace(name, program), pressing])
    }

    await moveTo(after)
    expect(await applied()).toMatchObject({ at: migrations.at(-1)?.name.slice(0, 4), state: 'current' })
    stage.house.addCompanies(60)
    await stage.untilUnderWay()
    // The version before starts on the schema after, and works beside this one.
    await moveTo(before)
    stage.house.addCompanies(60)
    await stage.untilUnderWay()
    await moveTo(after)
    isOver = true
    await pressing
    console.log(`upgrade: ${requests} requests while 12 processes were replaced, none failed`)
    await stage.expectNothingLost('no process: upgraded, taken back and upgraded again')
  })
})
