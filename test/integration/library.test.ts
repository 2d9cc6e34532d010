import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createPaydirt, recoveryOf, type Paydirt, type PaydirtEvent } from '../../src/library/index.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openDesk, type Desk } from '../support/cli.ts'
import { sized } from '../support/full-size.ts'
import { makeFile } from '../support/spellings.ts'

const count = sized(200, 30)
const file = makeFile(Array.from({ length: count }, (_, index) => `lib-${index}`))
const config = { pacing: { startPerSecond: 300 } }
let sandbox: Sandbox
let desk: Desk
let paydirt: Paydirt

beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())
beforeEach(async () => {
  desk = await openDesk(sandbox)
  await desk.write('in.csv', file.csv)
  paydirt = createPaydirt({ config, env: desk.variables })
})
afterEach(async () => {
  await paydirt.close()
  await desk.close()
})

const input = () => ({ file: join(desk.folder, 'in.csv'), object: 'company' as const })
const out = () => join(desk.folder, 'out.csv')

describe('an object of the library', () => {
  test('plans, applies, reads and is heard, as the command line does on the same ledger', async () => {
    const plan = await paydirt.plan(input())
    expect(plan).toMatchObject({ records: count, lookups: { toBuy: file.distinct.length } })
    expect(await desk.transfers()).toEqual([])

    const heard: PaydirtEvent[] = []
    const events = paydirt.events()
    const listening = (async () => {
      for await (const event of events) heard.push(event)
    })()
    const told: PaydirtEvent[] = []
    const applied = await paydirt.apply(plan.planId!, { out: out(), onEvent: (event) => told.push(event) })
    expect(applied).toMatchObject({
      end: 'finished',
      planId: plan.planId,
      drifted: 0,
      summary: { records: count, lookups: { paid: file.distinct.length } },
    })
    const rows = parse(await readFile(out(), 'utf8'), { columns: true })
    expect(rows).toHaveLength(count)
    expect(await desk.transfers()).toHaveLength(file.distinct.length)

    const again = await paydirt.enrich({ ...input(), out: out() })
    expect(again).toMatchObject({ end: 'finished', summary: { lookups: { paid: 0 } } })
    const runs = await paydirt.runs()
    expect(runs.map(({ runId }) => runId)).toEqual([again.summary.runId, applied.summary.runId])
    expect(await paydirt.run(applied.summary.runId)).toMatchObject({ trigger: 'csv', state: 'finished' })
    const { tasks } = await paydirt.history('csv:company:2', { run: applied.summary.runId })
    expect(tasks).toHaveLength(1)
    expect(await paydirt.undo(applied.summary.runId, { plan: true })).toBeUndefined()
    expect(await paydirt.undo(applied.summary.runId)).toBeUndefined()
    const { rows: spent, by } = await paydirt.spend()
    expect({ by, settled: spent[0]?.['settled'] }).toEqual({
      by: 'day',
      settled: applied.summary.spend.settled,
    })

    // Another process reads beside it, by asking this one.
    const beside = await desk.start(['runs', '--json']).ended
    expect(beside.json<{ runId: string }[]>().map(({ runId }) => runId)).toEqual(
      runs.map(({ runId }) => runId),
    )
    await paydirt.close()
    await listening
    const ended = heard.filter(({ type }) => type === 'ended')
    expect(ended).toHaveLength(2)
    expect(told.at(-1)).toEqual(ended[0])
    expect(heard.some(({ type }) => type === 'file')).toBe(true)
    // The command line finds the same in the same ledger.
    const listed = await desk.run(['runs', '--json'])
    expect(listed.json()).toEqual(JSON.parse(JSON.stringify(runs)))
  })

  test('is interrupted by a signal or by close, and the same call continues and pays nothing twice', async () => {
    const stop = new AbortController()
    const first = await paydirt.enrich(
      { ...input(), out: out() },
      {
        signal: stop.signal,
        onEvent: ({ type }) => {
          if (type === 'file') stop.abort()
        },
      },
    )
    expect(first.end).toBe('interrupted')
    const reading = Promise.withResolvers<void>()
    const second = paydirt.enrich(
      { ...input(), out: out() },
      { onEvent: ({ type }) => void (type === 'progress' && reading.resolve()) },
    )
    await Promise.race([reading.promise, second])
    // Beside the run, not behind it.
    expect(await paydirt.runs()).toHaveLength(1)
    await paydirt.close()
    expect((await second).summary.runId).toBe(first.summary.runId)
    await using other = createPaydirt({ config, env: desk.variables })
    const last = await other.enrich({ ...input(), out: out() })
    expect(last.end).toBe('finished')
    expect(await desk.transfers()).toHaveLength(file.distinct.length)
    await expect(paydirt.runs()).rejects.toMatchObject({ code: 'closed', recovery: 'give_up' })
  })
})

describe('errors say the next thing to do', () => {
  test.each([
    ['fix_settings', 'bad_config', () => createPaydirt({ config: { colour: 'red' } as never })],
    ['fix_settings', 'bad_environment', () => createPaydirt({ env: { PAYDIRT_PORT: 'x' } })],
  ])('%s: %s, at once', (recovery, code, make) => {
    expect(make).toThrow(expect.objectContaining({ recovery, code }))
  })

  test.each([
    ['no_such_plan', () => paydirt.apply('p0')],
    ['no_such_run', () => paydirt.run('r0')],
    ['no_such_record', () => paydirt.history('csv:company:1')],
    ['missing_setting', () => paydirt.sync({ connector: 'hubspot' })],
    ['csv_out_exists', () => paydirt.enrich({ ...input(), out: join(desk.folder, 'taken.csv') })],
  ])('fix_settings: %s', async (code, call) => {
    await writeFile(join(desk.folder, 'taken.csv'), 'a\nb\n')
    const error: unknown = await call().catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code })
    expect(recoveryOf(error)).toBe('fix_settings')
    // The object goes on after it.
    expect(await paydirt.runs()).toEqual([])
  })

  test('report: anything that is not ours', () => {
    expect(recoveryOf(new TypeError('x'))).toBe('report')
    expect(recoveryOf(Object.assign(new Error('x'), { code: 'ECONNREFUSED' }))).toBe('retry_later')
  })
})
