import { describe, expect, test } from 'vitest'
import { measureCalls } from '../../bench/calls.ts'
import { capacity } from '../../bench/capacity.ts'
import { hook } from '../../bench/hook.ts'
import { burst } from '../../bench/burst.ts'
import { latency } from '../../bench/latency.ts'
import { listPreview } from '../../bench/list-preview.ts'
import { lists } from '../../bench/lists.ts'
import type { BenchOptions } from '../../bench/options.ts'
import { overhead } from '../../bench/overhead.ts'
import { pacing } from '../../bench/pacing.ts'
import { scale } from '../../bench/scale.ts'
import { syncMemory } from '../../bench/sync-memory.ts'
import { workers } from '../../bench/workers.ts'
import { missingServers } from '../faults/servers.ts'

const quick: BenchOptions = {
  quick: true,
  only: [],
  sizes: undefined,
  stores: ['embedded'],
  repeat: 1,
  seed: 1,
  pictures: undefined,
}

// The figures of so short a time mean nothing; that they still run, and measure something, does.
describe('a benchmark in its smallest size', () => {
  test('pacing', async () => {
    const rows = await pacing(quick)
    expect(rows.map(({ processes }) => processes)).toEqual([1, 4, 1, 1])
    expect(rows.every(({ requests }) => requests > 0)).toBe(true)
  })

  test('overhead', async () => {
    const [ours, plain, bare] = await overhead(quick)
    expect(ours).toMatchObject({ what: 'paydirt csv', lookups: 50 })
    expect(ours?.['requests a lookup']).toBeLessThanOrEqual(1.02)
    expect(plain?.['requests a lookup']).toBe(2)
    expect(bare?.['cpu ms a lookup']).toBeGreaterThan(0)
  })

  test('calls', async () => {
    const rows = await measureCalls(quick)
    expect(rows.map((row) => row['bytes of body'] > 0)).toEqual([true, true, true, true])
  })

  test('scale', async () => {
    const rows = await scale(quick)
    expect(rows.map(({ tasks }) => tasks)).toEqual([50, 100])
    expect(rows.every((row) => row['Redis bytes a task'] > 0)).toBe(true)
  })

  test('burst', async () => {
    const [row] = await burst(quick)
    expect(row?.['with the result']).toBeGreaterThan(0)
  })

  test('latency', async () => {
    const [row] = await latency(quick)
    expect(row).toMatchObject({ requests: 3 })
    expect(row?.p50).toBeGreaterThan(0)
  })

  test('hook', async () => {
    const [row] = await hook(quick)
    expect(row).toMatchObject({ deliveries: 50, refused: 0 })
    expect(row?.p95).toBeGreaterThan(0)
  })

  test('sync-memory', async () => {
    const rows = await syncMemory(quick)
    expect(rows.at(-1)).toMatchObject({ records: 1_000 })
  })

  test('list-preview', async () => {
    const [row] = await listPreview(quick)
    expect(row).toMatchObject({ previews: 1, companies: 200 })
    expect(row?.['the service']).toBeGreaterThan(0)
  })

  test('lists', async () => {
    const rows = await lists(quick)
    expect(rows.map(({ step, rows: count }) => `${step} ${count}`)).toEqual([
      'fetch 50',
      'members 50',
      'plan 50',
      'fetch 100',
      'members 100',
      'plan 100',
    ])
  })

  test.skipIf(missingServers() !== undefined)('workers', async () => {
    const rows = await workers(quick)
    expect(rows.map(({ workers: count }) => count)).toEqual([1, 2, 4])
    expect(rows[0]?.['served a second']).toBeGreaterThan(0)
  })
  test.skipIf(missingServers() !== undefined)('capacity', async () => {
    const { nights, model } = await capacity(quick)
    expect(nights.map(({ lookups }) => lookups)).toEqual([60, 120, 240])
    expect(nights.every((night) => night.statements > 0 && night.walBytes > 0)).toBe(true)
    expect(nights.every((night) => night.queueCommands > 0 && night.pacerCommands > 0)).toBe(true)
    expect(model.map(({ measure }) => measure)).toContain('perSecond')
  })
})
