import { describe, expect, it } from 'vitest'
import { isFullSize } from '../../../test/support/full-size.ts'
import { always, evenly, minute, second, show, percent, type KindName } from './simulation.fixture.ts'
import { simulate } from './simulation.ts'

const goal = 0.2
const callers = 500

describe('Redis commands for each request at a high pace', () => {
  it.each([1, 4])(
    'are below 0.2 at 1,000 a second, where the pace is the bottleneck, in %i processes',
    (processes) => {
      // The limit is above the highest pace, so that the pacer stays at it.
      const run = simulate({
        seed: 3,
        limit: always('fixed', { limitAt: () => 2_000, windowMs: second }),
        permitted: evenly(1_000, second),
        durationMs: minute,
        workers: callers,
        processes,
      })
      const { sent } = run.between(10 * second, minute)
      const each = run.commandsBetween(10 * second, minute) / sent
      show(`  1,000/s ×${processes}: ${(sent / 50).toFixed(0)}/s, ${each.toFixed(3)} commands a request`)
      expect(sent / 50).toBeGreaterThan(990)
      expect(each).toBeLessThan(goal)
    },
  )

  it.each([1, 4])(
    'are below 0.2 where %i processes with 800/s have less to send than they may',
    (processes) => {
      const run = simulate({
        seed: 3,
        limit: always('fixed', { limitAt: () => 2_000, windowMs: second }),
        permitted: evenly(1_000, second),
        durationMs: minute,
        workers: 256,
        serviceMs: (random) => 150 + 300 * random(),
        processes,
      })
      const { sent } = run.between(10 * second, minute)
      const each = run.commandsBetween(10 * second, minute) / sent
      show(
        `  800/s, callers are the bottleneck, ×${processes}: ${(sent / 50).toFixed(0)}/s, ${each.toFixed(3)}`,
      )
      // 256 callers, 300 ms for an answer and 24 ms for the way there and back: a request does not wait for permits.
      expect(sent / 50).toBeGreaterThan(0.97 * (256 / 0.327))
      expect(each).toBeLessThan(goal)
    },
  )
})

describe('in steady state above 333 a second, with permits in blocks', () => {
  const kinds: KindName[] = ['fixed', 'sliding', 'bucket']
  const shapes = kinds.flatMap((kind) =>
    (isFullSize ? [400, 700] : [700]).map((perSecond) => ({ kind, perSecond })),
  )
  it.each(shapes)('$kind $perSecond/s is used as well as without', ({ kind, perSecond }) => {
    for (const processes of [1, 4]) {
      const run = simulate({
        seed: 1,
        limit: always(kind, { limitAt: () => perSecond, windowMs: second }),
        permitted: evenly(perSecond, second),
        durationMs: 2 * minute,
        workers: callers,
        processes,
      })
      const { use, refusedShare } = run.between(minute, 2 * minute)
      show(`  ${kind} ${perSecond}/s ×${processes}: use ${percent(use)}, refused ${percent(refusedShare)}`)
      expect(use).toBeGreaterThan(kind === 'sliding' ? 0.985 : 0.993)
      expect(refusedShare).toBeLessThan(0.004)
    }
  })
})
