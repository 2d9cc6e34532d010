import { describe, expect, it } from 'vitest'
import { mediansOf } from '../../bench/medians.ts'

describe('mediansOf', () => {
  it('takes the median of each number by itself, whatever row the others come from', () => {
    const run = (p50: number, p95: number) => [{ stores: 'Postgres', p50, p95 }]
    expect(mediansOf([run(1, 30), run(3, 10), run(2, 20)])).toEqual([{ stores: 'Postgres', p50: 2, p95: 20 }])
  })

  it('takes the median of numbers within a text', () => {
    expect(mediansOf(['12/95', '10/130.5', '11/90'])).toBe('11/95')
  })

  it('shows all forms of a text that differs', () => {
    expect(mediansOf(['not in 90', '12', 'not in 90'])).toBe('not in 90 | 12')
  })

  it('keeps the digits of names, such as those of a limit', () => {
    expect(mediansOf(['20 a second, 5 s closed', '20 a second, 5 s closed'])).toBe('20 a second, 5 s closed')
  })

  it('walks results of several tables', () => {
    const run = (value: number) => ({ nights: [{ value }], model: [] })
    expect(mediansOf([run(5), run(1), run(4)])).toEqual({ nights: [{ value: 4 }], model: [] })
  })

  it('refuses runs with other rows, which have no medians', () => {
    expect(() => mediansOf([[1, 2], [1]])).toThrow('runs have 2, 1 rows')
  })
})
