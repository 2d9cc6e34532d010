import { expect, test } from 'vitest'
import type { NowModel } from '../model/now.ts'
import type { PaceNow } from '../model/ports.ts'
import { requestRate } from './now-capacity.ts'

const pace: PaceNow = {
  phase: 'hold',
  perSecond: 950,
  servedPerSecond: 140,
  windows: [],
  closedForMs: 0,
  totals: { ok: 9_000, limited: 4 },
  limitedShare: 0.001,
}

const shown = (now: PaceNow): string =>
  String(requestRate({ pace: now } as unknown as NowModel)).replace(/\s+/g, ' ')

test('the request rate is a share of what is allowed', () => {
  expect(shown(pace)).toContain('140 of 950 requests/s')
})

test('of a service that serves so many at a time, it is said how many', () => {
  const text = shown({ ...pace, atOnce: 6 })
  expect(text).toMatch(/<span>6 at a time<\/span ?>.*<span>140 requests\/s<\/span>/)
  expect(text).not.toContain('950')
  expect(shown({ ...pace, atOnce: 6, phase: 'blocked' })).toContain('blocked by the service, 6 at a time')
})
