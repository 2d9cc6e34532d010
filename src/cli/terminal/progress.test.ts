import { describe, expect, test } from 'vitest'
import { createProgressView } from './progress.ts'

const redraw = '\r\u001b[2K'

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
  const made = createProgressView({
    total,
    stream: { ...stream, write: (text: string) => written.push(text) } as unknown as NodeJS.WriteStream,
    nowMs: () => clock.ms,
  })
  const show = (atMs: number, change: Record<string, number>, settledAtomic = 0n) => {
    clock.ms = atMs
    made.show({ records: 100, scanned: true, counts: counts(change), settledAtomic })
  }
  return { show, end: made.end, written }
}

describe('the progress of a run', () => {
  test('is one line on a terminal, drawn again and gone at the end: share, rate, spend, time left', () => {
    const { show, end, written } = view(100, { isTTY: true, columns: 200 })
    show(0, {})
    show(10_000, { written: 40, unchanged: 5, rejected: 5 }, 500_000n)
    expect(written).toHaveLength(2)
    for (const text of written) expect(text.replace(redraw, '>')).toMatch(/^>[█░]{24} [^\n]*$/)
    expect(written[1]).toContain('████████████░░░░░░░░░░░░ 50/100 · 5/s · 0.500000 USD · 10 s left')
    end()
    expect(written.at(-1)).toBe('\r\x1b[2K')
  })

  test('says what is parked, and counts on no time for it', () => {
    const { show, written } = view(100, { isTTY: true, columns: 200 })
    show(0, {})
    show(10_000, { written: 50, parked: 50 })
    expect(written[1]).toContain('· 50 parked')
    expect(written[1]).toContain('0 s left')
  })

  test('never runs over the edge of the terminal', () => {
    const { show, written } = view(100, { isTTY: true, columns: 40 })
    show(0, {})
    show(9_000, { written: 99, parked: 1 })
    for (const text of written) expect(text.replace('\r\x1b[2K', '').length).toBeLessThan(40)
  })

  test('is a plain line every five seconds where there is no terminal', () => {
    const { show, end, written } = view(100, {})
    for (let ms = 0; ms <= 11_000; ms += 100) show(ms, { written: ms / 1000 })
    end()
    expect(written).toHaveLength(2)
    expect(written[0]).toMatch(/^5\/100 · 1\/s · 0\.000000 USD · 2 min left\n$/)
    for (const sign of ['\r', '\u001b', '█']) expect(written.join('')).not.toContain(sign)
  })

  test('of nothing is whole', () => {
    const { show, written } = view(0, { isTTY: true })
    show(0, {})
    expect(written[0]).toContain('█'.repeat(24))
  })
})
