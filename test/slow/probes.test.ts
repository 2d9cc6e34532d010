import { spawnSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, onTestFinished, test, vi } from 'vitest'
import { startProbeServer } from '../../src/app/health/probe-server.ts'
import { listenAddress } from '../../src/app/config/variable-types.ts'
import { startHeartbeat } from '../../src/timing/heartbeats.ts'
import { startPollLoop } from '../../src/timing/poll-loop.ts'
import { freePort } from '../support/free-port.ts'

const root = join(import.meta.dirname, '../..')
const folder = mkdtempSync(join(tmpdir(), 'paydirt-probes-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function open(place: string) {
  const server = await startProbeServer(listenAddress.parse(place))
  onTestFinished(() => server.stop())
  return server
}

/** Asks as a supervisor does, by the program of the image. */
async function ask(place: string, ...args: string[]) {
  const child = spawn(process.execPath, [join(root, 'bin/alive.mjs'), ...args], {
    env: { PAYDIRT_HEALTH: place },
  })
  let text = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (part: string) => (text += part))
  const [status] = (await once(child, 'close')) as [number]
  return { status, text: text.trim() }
}

test('a process is alive from the start, and ready once it says so and until it ends', async () => {
  const place = String(await freePort())
  const probes = await open(place)
  const isAlive = { status: 0, text: expect.stringContaining('"status":"ok"') as string }
  expect(await ask(place)).toEqual(isAlive)
  expect(await ask(place, 'readyz')).toEqual({
    status: 1,
    text: '{"status":"not ready","checks":{"process":"is starting"}}',
  })
  probes.setReady({ database: async () => undefined, redis: async () => 'is away' })
  expect(await ask(place, 'readyz')).toEqual({
    status: 1,
    text: '{"status":"not ready","checks":{"database":"ok","redis":"is away"}}',
  })
  probes.setReady({ database: async () => undefined })
  expect(await ask(place, 'readyz')).toEqual(isAlive)
  probes.setStopping()
  expect((await ask(place, 'readyz')).text).toContain('is being stopped')
  expect(await ask(place)).toEqual(isAlive)
})

test('a loop that hangs is named, and one that fails, rests or shows itself is not', async () => {
  const place = join(folder, 'loops.sock')
  await open(place)
  const letGo: (() => void)[] = []
  const hang = () => new Promise<void>((resolve) => letGo.push(resolve))
  const loops = [
    startPollLoop({ name: 'stuck', work: hang, pauseMs: 1, longestMs: 1, onError() {} }),
    startPollLoop({ name: 'slow', work: hang, pauseMs: 1, onError() {} }),
    startPollLoop({ name: 'resting', work: async () => {}, pauseMs: 3_600_000, longestMs: 1, onError() {} }),
    startPollLoop({
      name: 'failing',
      work: () => Promise.reject(new Error('the database is away')),
      pauseMs: 3_600_000,
      longestMs: 1,
      onError() {},
    }),
  ]
  const showing = startHeartbeat('showing itself', 60_000)
  showing.work()
  await vi.waitFor(async () => expect((await ask(place)).status).toBe(1), { timeout: 60_000 })
  expect(JSON.parse((await ask(place)).text)).toMatchObject({
    status: 'hanging',
    loops: 5,
    hanging: ['stuck'],
  })
  const stops = loops.map((loop) => loop.stop())
  for (const go of letGo) go()
  await Promise.all(stops)
  showing.end()
  expect(JSON.parse((await ask(place)).text)).toMatchObject({ status: 'ok', loops: 0 })
})

test('an event loop that does not turn gives no answer', async () => {
  const place = join(folder, 'blocked.sock')
  const script = `
    import { startProbeServer } from ${JSON.stringify(join(root, 'src/app/health/probe-server.ts'))}
    await startProbeServer({ path: ${JSON.stringify(place)} })
    process.stdout.write('listening')
    process.stdin.once('data', () => { for (;;); })`
  const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', script], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  expect((await ask(place)).status).toBe(0)
  child.stdin.write('turn no more\n')
  await vi.waitFor(
    async () => expect(await ask(place)).toEqual({ status: 1, text: `no answer at ${place} within 4 s` }),
    { timeout: 60_000 },
  )
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended

  // The socket of the killed process is there, and the next one takes its place.
  expect(existsSync(place)).toBe(true)
  expect(await ask(place)).toEqual({ status: 1, text: `no answer at ${place}: ECONNREFUSED` })
  await open(place)
  expect((await ask(place)).status).toBe(0)
  await expect(startProbeServer({ path: place })).rejects.toThrow('another program listens there')
})

test('an address is a port, a host with its port or a path', () => {
  expect(
    ['8081', '0.0.0.0:8081', '[::]:8081', '/run/paydirt.sock'].map((text) => listenAddress.parse(text)),
  ).toEqual([
    { host: '127.0.0.1', port: 8081 },
    { host: '0.0.0.0', port: 8081 },
    { host: '::', port: 8081 },
    { path: '/run/paydirt.sock' },
  ])
  for (const text of ['', 'here', '99999', 'run/paydirt.sock'])
    expect(() => listenAddress.parse(text)).toThrow('neither a port')
  const { status, stderr } = spawnSync(process.execPath, [join(root, 'bin/alive.mjs')], {
    env: {},
    encoding: 'utf8',
  })
  expect({ status, stderr }).toEqual({
    status: 1,
    stderr: expect.stringContaining('PAYDIRT_HEALTH') as string,
  })
})
