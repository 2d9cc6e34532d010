import { describe, expect, it } from 'vitest'
import { middle, percent, second, show } from '../simulation.fixture.ts'
import { fixedWindow, seeded, simulate, slidingWindow, tokenBucket } from '../simulation.ts'

const kinds = { fixed: fixedWindow, sliding: slidingWindow, bucket: tokenBucket }
const seeds = Array.from({ length: 45 }, (_, index) => index + 1)
const fallsMs = 100 * second

function afterFall(kind: keyof typeof kinds, isBusy: boolean) {
  const limitAt = (atMs: number) => (atMs < fallsMs ? 20 : 5)
  const busy = { busy: { forMs: 20, everyMs: 100 }, preparedMs: (dice: () => number) => 40 + 80 * dice() }
  const runs = seeds.map((seed) => {
    const dice = seeded(77 + seed)
    return simulate({
      ...(isBusy ? busy : {}),
      seed,
      limit: (random) => kinds[kind]({ limitAt, windowMs: second }, random),
      permitted: (fromMs, toMs) => (5 * (toMs - fromMs)) / second,
      serviceMs: () => 40 + 440 * dice(),
      outboundMs: 1,
      durationMs: fallsMs + 150 * second,
    })
  })
  return (fromSeconds: number, toSeconds: number) => {
    const parts = runs.map((run) => run.between(fallsMs + fromSeconds * second, fallsMs + toSeconds * second))
    const use = middle(parts.map((part) => part.use))
    const refused = middle(parts.map((part) => part.refusedShare))
    const name = `${kind} 20 to 5 a second${isBusy ? ', busy and prepared' : ''}`
    show(`  ${name}, ${fromSeconds} to ${toSeconds} s: use ${percent(use)}, refused ${percent(refused)}`)
    return { use, refused }
  }
}

describe('a limit that falls to a few requests a second and stays there', () => {
  // Levels that were one request of three seconds apart were taken for changes, and a tenth was refused for more than a minute.
  it.each([
    ['fixed', false, 0.95],
    ['fixed', true, 0.93],
    ['sliding', false, 0.85],
    ['sliding', true, 0.8],
    ['bucket', false, 0.95],
    ['bucket', true, 0.95],
  ] as const)('is followed, and its refusals become fewer: %s, busy: %s', (kind, isBusy, use) => {
    const between = afterFall(kind, isBusy)
    expect(between(10, 30).use).toBeGreaterThanOrEqual(use - 0.1)
    const then = between(30, 75)
    expect(then.use).toBeGreaterThanOrEqual(use)
    expect(then.refused).toBeLessThanOrEqual(isBusy ? 0.08 : 0.07)
    const later = between(75, 150)
    expect(later.use).toBeGreaterThanOrEqual(Math.min(0.95, use + 0.05))
    expect(later.refused).toBeLessThanOrEqual(0.03)
  })
})
