import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { readEnvironment } from '../../src/app/config/environment.ts'
import { logConfig, type LogConfig } from '../../src/app/config/observing/log.ts'
import { createLog, moduleLog } from '../../src/app/context/log.ts'
import { start } from '../../src/app/start.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { withLogFields } from '../../src/timing/log-scope.ts'
import { startPlannedSync } from '../support/planned-sync.ts'
import { shortProcess } from '../support/short-process.ts'
import { openCrmHouse } from '../integration/crm-house.ts'

type Line = Record<string, unknown> & { msg: string }

function heard(config: LogConfig) {
  const texts: string[] = []
  const log = createLog(config, { write: (line) => void texts.push(line) })
  return { log, text: () => texts.join(''), lines: () => texts.map((text) => JSON.parse(text) as Line) }
}

let sandbox: Sandbox
beforeAll(async () => {
  sandbox = await startSandbox()
})
afterAll(async () => {
  await sandbox.stop()
})

test('the lines of two runs at once name their run and lookup, and nobody’s data', async () => {
  const { log, lines, text } = heard({
    level: 'debug',
    modules: {},
  })
  const house = await openCrmHouse(sandbox, {
    config: {
      payment: { maxPricesUsd: { 'contact.redeem:email-work': '0.15', 'contact.redeem:phone': '0.30' } },
    },
    env: { PAYDIRT_PORT: '0' },
    overrides: { log },
  })
  const { context } = house
  house.add('companies', {
    name: 'Log Secret Works',
    profnet_url: 'https://www.profnet.com/company/log-secret-works',
  })
  house.add('contacts', {
    email: 'erika.mustermann@acme-logs.test',
    firstname: 'Erika',
    lastname: 'Mustermann',
    phone: '+4930901820',
  })
  const runIds: string[] = []
  try {
    const running = await start(context, 'all')
    try {
      const runs = await Promise.all([
        startPlannedSync(context, 'companies'),
        startPlannedSync(context, 'contacts', 'contact'),
      ])
      runIds.push(...runs.map(({ runId }) => runId))
      await vi.waitFor(
        async () => {
          for (const id of runIds) expect((await context.runs.get(id))?.state).toBe('finished')
        },
        { timeout: 120_000, interval: 100 },
      )
    } finally {
      await running.stop()
    }
  } finally {
    await house.close()
  }

  const worked = lines().filter(({ msg }) => msg === 'a lookup was worked')
  expect(new Set(worked.map(({ runId }) => runId))).toEqual(new Set(runIds))
  for (const line of worked)
    expect(line).toMatchObject({ module: 'workers', lookup: expect.stringMatching(/^k[0-9a-f]{32}$/) })
  const written = lines().filter(({ msg }) => msg === 'records were written')
  for (const { runId } of written) expect(runIds).toContain(runId)
  expect(written).not.toHaveLength(0)

  const personal = ['erika', 'mustermann', '4930901820', 'log-secret-works', 'acme-logs', 'profnet.com']
  for (const word of personal) expect(text().toLowerCase()).not.toContain(word)
  // A proof or a challenge, an e-mail address, a key.
  expect(text()).not.toMatch(/eyJ[A-Za-z0-9+/_-]{40,}|[\w.+-]+@[\w-]+\.[a-z]{2,}|0x[0-9a-f]{130}/i)
})

test('work in hand names its lines alone, also when works take turns', async () => {
  const { log, lines } = heard({ level: 'info', modules: {} })
  async function work(runId: string): Promise<void> {
    for (let index = 0; index < 3; index++) {
      await turn()
      log.info({ of: runId }, 'line')
    }
  }
  await Promise.all([
    withLogFields({ runId: 'one' }, () => work('one')),
    withLogFields({ runId: 'two' }, () => work('two')),
  ])
  log.info('outside')
  expect(lines()).toHaveLength(7)
  for (const { runId, of } of lines()) expect(runId).toBe(of)
})

describe('the level of a module', () => {
  const environment = (text: string) => readEnvironment({ PAYDIRT_LOG_LEVEL: text }).PAYDIRT_LOG_LEVEL

  test('is its own, and the environment goes before the file', () => {
    const config = logConfig(environment('error,pay=debug'), {
      level: 'info',
      modules: { pay: 'silent', web: 'info' },
    })
    expect(config).toMatchObject({ level: 'error', modules: { pay: 'debug', web: 'info' } })
    const { log, lines } = heard(config)
    for (const module of ['pay', 'web', 'workers'] as const) {
      moduleLog(log, module).debug('debug')
      moduleLog(log, module).info('info')
      moduleLog(log, module).error('error')
    }
    expect(lines().map(({ module, msg }) => `${String(module)} ${msg}`)).toEqual([
      'pay debug',
      'pay info',
      'pay error',
      'web info',
      'web error',
      'workers error',
    ])
  })

  test.each([
    ['pays=debug', 'names an unknown module; did you mean pay'],
    ['loud', 'names no level (trace, '],
    ['pay=loud', 'names no level (trace, '],
    ['zzzzz=info', 'names an unknown module; there are alerts, monitors'],
  ])('%s is refused in words', (text, words) => {
    expect(() => environment(text)).toThrow(words)
  })
})

describe('a process with a slow reader of its log', () => {
  const file = join(import.meta.dirname, 'log-writer.fixture.ts')
  const lines = 5_000
  const writer = (how: string) =>
    spawn(process.execPath, [...shortProcess, file, how, String(lines)], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })

  test.each(['throw', 'exit', 'signal'])('loses no line at its end by %s', async (how) => {
    const child = writer(how)
    // Its pipe holds 64 KiB or so, and it writes a megabyte: most stands in its memory when it ends.
    if (how === 'signal') {
      await once(child.stdout, 'data')
      child.kill('SIGTERM')
    }
    const chunks: Buffer[] = []
    child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk))
    const [status, signal] = (await once(child, 'close')) as [number | null, string | null]
    expect(how === 'signal' ? signal : status).toBe({ throw: 1, exit: 3, signal: 'SIGTERM' }[how])
    const found = Buffer.concat(chunks)
      .toString()
      .split('\n')
      .filter((line) => line.startsWith('{"level"'))
      .map((line) => (JSON.parse(line) as { index: number }).index)
    expect(new Set(found).size).toBe(lines)
  })

  test('leaves its end to a listener of the signal, also to one that listens once', async () => {
    const child = writer('once')
    child.stderr.resume()
    await once(child.stdout, 'data')
    child.kill('SIGTERM')
    expect(await once(child, 'close')).toEqual([4, null])
  })

  test('goes on while nobody reads', async () => {
    const child = writer('turns')
    const [chunk] = (await once(child.stdout, 'data')) as [Buffer]
    expect(Number(chunk.toString())).toBeLessThan(5_000)
    child.stderr.resume()
    await once(child, 'close')
  })
})
