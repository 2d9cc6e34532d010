import { expect, it } from 'vitest'
import { evenlySpaced } from '../shapes.ts'
import { percent, second, show } from '../simulation.fixture.ts'
import { seeded, simulate, slidingWindow, type HiddenLimit } from '../simulation.ts'

const draws = Array.from({ length: 40 }, (_, index) => index + 1)

/** A limit of 10 to 30 a second that rises once by a tenth to four tenths. */
function usesAfterRise(kind: 'sliding' | 'spaced', risesMs: number): number[] {
  return draws.map((seed) => {
    const dice = seeded(77 + seed)
    const low = Math.round(10 + 20 * dice())
    const high = low * (1.1 + 0.3 * dice())
    const extra = 1 + Math.floor(3 * dice())
    const limitAt = (atMs: number) => (atMs < risesMs ? low : high)
    const spaced = (): HiddenLimit => {
      const [before, after] = [evenlySpaced(low, extra), evenlySpaced(high, extra)]
      return (atMs) => (atMs < risesMs ? before(atMs) : after(atMs))
    }
    const run = simulate({
      seed,
      limit: () => (kind === 'spaced' ? spaced() : slidingWindow({ limitAt, windowMs: second })),
      permitted: (fromMs, toMs) => (high * (toMs - fromMs)) / second,
      serviceMs: () => 40 + 440 * dice(),
      outboundMs: 2,
      durationMs: 150 * second,
    })
    return run.between(risesMs, 150 * second).use
  })
}

// A look in the midst of a climb ended it, at a limit that the climb still had to reach; and looks that a level a tenth above
// refuses as well made the rate so sure that it climbed no more.
it.each([
  ['sliding', 25, 0.92],
  ['sliding', 40, 0.905],
  ['spaced', 25, 0.94],
  ['spaced', 40, 0.892],
] as const)(
  'a limit that rises by a tenth to four tenths is found: %s, at second %i',
  (kind, seconds, mean) => {
    const uses = usesAfterRise(kind, seconds * second).sort((a, b) => a - b)
    const use = uses.reduce((sum, each) => sum + each, 0) / uses.length
    show(`  ${kind}, rises at second ${seconds}: use ${percent(use)} (least ${percent(uses[0]!)})`)
    expect(use).toBeGreaterThanOrEqual(mean)
    // One of these draws was taken for eight requests under way, which sank to three: 35 and 49 % of it were used.
    expect(uses[0]).toBeGreaterThanOrEqual(0.6)
  },
)
