import { describe, expect, test } from 'vitest'
import type { LearnedPace } from '../../app/runs/run-progress.ts'
import { createLiveLine } from './live-line.ts'
import { createProgressView } from './progress.ts'

const counts = (change: Record<string, number>) => ({
  queued: 0,
  looking_up: 0,
  ready: 0,
  written: 0,
  unchanged: 0,
  skipped: 0,
  rejected: 0,
  parked: 0,
  ...change,
})

function view(total: number | undefined, stream: { isTTY?: boolean; columns?: number }) {
  const written: string[] = []
  const clock = { ms: 0 }
  const write = (text: string) => written.push(text)
  const made = createProgressView({
    total,
    line: createLiveLine({ ...stream, write } as unknown as NodeJS.WriteStream),
    print: write,
    nowMs: () => clock.ms,
  })
  const show = (
    atMs: number,
    change: Record<string, number>,
    settledAtomic = 0n,
    underWay = { records: 0, bought: 0 },
    pace?: LearnedPace,
    creditsAtomic = 0n,
    isStopping = false,
  ) => {
    clock.ms = atMs
    const spent = { settledAtomic, creditsAtomic }
    made.show({ records: 100, scanned: true, counts: counts(change), underWay, ...spent, pace, isStopping })
  }
  /** The line as it was drawn last. */
  const shown = () => written.at(-1)?.replace('\r\u001b[2K', '')
  return { show, end: made.end, written, shown }
}

describe('the progress of a run', () => {
  test('is one line on a terminal, drawn again and gone at the end: share, rate, spend, time left', () => {
    const { show, end, written, shown } = view(200, { isTTY: true, columns: 200 })
    show(0, {})
    expect(shown()).toMatch(/^\S ░{12} 0\/200 · 0\.000000 USD$/)
    show(10_000, { written: 40, unchanged: 5, rejected: 5 }, 500_000n)
    expect(shown()).toMatch(/^\S █{3}░{9} 50\/200 · 5\/s · 0\.500000 USD · about 30 s left$/)
    for (const text of written) expect(text).toMatch(/^\r.\[2K[^\n]*$/)
    end()
    expect(shown()).toBe('')
  })

  test('says credits where those were paid', () => {
    const { show, shown } = view(200, { isTTY: true, columns: 200 })
    show(0, { written: 7 }, 0n, { records: 0, bought: 0 }, undefined, 7_000_000n)
    expect(shown()).toMatch(/ 7\/200 · 7 credits$/)
  })

  test('says nothing of rate and time before they are known, nor of a time that is over at once', () => {
    const { show, shown } = view(100, { isTTY: true, columns: 200 })
    show(0, {})
    show(4_900, { written: 60 })
    expect(shown()).toMatch(/60\/100 · 0\.000000 USD$/)
    show(9_000, { written: 9 })
    expect(shown()).toMatch(/ 9\/100 · 0\.000000 USD$/)
    show(20_000, { written: 96 })
    expect(shown()).toMatch(/96\/100 · 5\/s · 0\.000000 USD$/)
  })

  test('counts the lookups that are answered before their records end', () => {
    const { show, shown } = view(3000, { isTTY: true, columns: 200 })
    show(0, {})
    show(5_000, { unchanged: 14 }, 2_060_000n, { records: 96, bought: 206 })
    expect(shown()).toMatch(/░{12} 14\/3000 · 22\/s · 206 bought, 2\.060000 USD · about 3 min left$/)
    show(25_000, { unchanged: 280 }, 29_000_000n, { records: 1310, bought: 2900 })
    expect(shown()).toMatch(/ 280\/3000 · 64\/s · 2900 bought, 29\.000000 USD · about 25 s left$/)
  })

  test('has room in 80 columns', () => {
    const { show, shown } = view(3000, { isTTY: true, columns: 80 })
    show(0, {})
    show(15_000, { unchanged: 280 }, 19_000_000n, { records: 810, bought: 1900 })
    expect(shown()).toMatch(/ 280\/3000 · 73\/s · 1900 bought, 19\.000000 USD · about 30 s left$/)
  })

  test('gives a slow rate by the minute', () => {
    const { show, shown } = view(100, { isTTY: true, columns: 200 })
    show(0, {})
    show(20_000, { written: 10 })
    expect(shown()).toMatch(/10\/100 · 30\/min · 0\.000000 USD · about 3 min left$/)
  })

  test('says what is parked, and counts on no time for it', () => {
    const { show, shown } = view(100, { isTTY: true, columns: 200 })
    show(0, {})
    show(10_000, { written: 50, parked: 50 })
    expect(shown()).toMatch(/50\/100 · 5\/s · 0\.000000 USD · 50 parked$/)
  })

  test('says no pace and no time left while the run stops: nothing more is begun', () => {
    const { show, shown } = view(400, { isTTY: true, columns: 200 })
    const pace = { perSecond: 20, refusedShare: 0 }
    show(0, {})
    show(10_000, { written: 20 }, 200_000n, { records: 0, bought: 20 }, pace)
    expect(shown()).toMatch(/20 bought, 0\.200000 USD · about 4 min left · pace 20\/s$/)
    show(11_000, { written: 20 }, 360_000n, { records: 0, bought: 36 }, pace, 0n, true)
    expect(shown()).toMatch(/36 bought, 0\.360000 USD$/)
  })

  test('never runs over the edge of the terminal', () => {
    const { show, written } = view(100, { isTTY: true, columns: 40 })
    show(0, {})
    show(9_000, { written: 99, parked: 1 })
    for (const text of written) expect(text.replace('\r\u001b[2K', '').length).toBeLessThan(40)
  })

  test('is a plain line every five seconds where there is no terminal', () => {
    const { show, end, written } = view(100, {})
    for (let ms = 0; ms <= 11_000; ms += 100) show(ms, { written: ms / 500 })
    end()
    expect(written).toEqual([
      '10/100 · 2/s · 0.000000 USD · about 45 s left\n',
      '20/100 · 2/s · 0.000000 USD · about 40 s left\n',
    ])
  })

  test('says what the service is asked a second, and how much of it was refused', () => {
    const { show, shown } = view(100, { isTTY: true, columns: 200 })
    show(0, {})
    show(10_000, { written: 50 }, 500_000n, undefined, { perSecond: 7.59, refusedShare: 0.052 })
    expect(shown()).toMatch(
      / 5\/s · 0\.500000 USD · about 10 s left · pace 7\.6\/s, 5\.2 % refused \(10 min\)$/,
    )
    show(11_000, { written: 55 }, 550_000n, undefined, { perSecond: 48.2, refusedShare: 0 })
    expect(shown()).toMatch(/ · pace 48\/s$/)
    show(12_000, { written: 60 }, 600_000n, undefined, { perSecond: 950, atOnce: 6, refusedShare: 0.002 })
    expect(shown()).toMatch(/ · pace 6 at a time, 0\.2 % refused \(10 min\)$/)
  })

  test('of nothing is whole', () => {
    const { show, shown, end } = view(0, { isTTY: true })
    show(0, {})
    expect(shown()).toContain('█'.repeat(12))
    end()
  })
})
