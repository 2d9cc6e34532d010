import { describe, expect, it } from 'vitest'
import { afterTrial, unknownWay } from './way.ts'

const after = (tookMs: readonly number[]) =>
  tookMs.reduce((way, took) => afterTrial(way, { sentAtMs: 5_000, atMs: 5_000 + took }), unknownWay)

describe('the way to the server', () => {
  it('varies by what the times of two trials in a row differ', () => {
    expect(after([40]).variesMs).toBe(0)
    expect(after([40, 40, 40, 40]).variesMs).toBe(0)
    expect(after([40, 46, 40, 46, 40]).variesMs).toBeCloseTo(6)
  })

  it('is told by the last trials, and by a slow one for a while', () => {
    const even = Array.from({ length: 60 }, () => 10)
    expect(after([...even, 30]).variesMs).toBeCloseTo(5)
    expect(after([...even, 30, ...even]).variesMs).toBeLessThan(1.1)
    expect(after([...even, 5_000]).variesMs).toBeCloseTo(5)
  })

  it('never took less than nothing: the clock may be set back', () => {
    expect(after([-20])).toMatchObject({ tookMs: 0, trials: 1 })
  })
})
