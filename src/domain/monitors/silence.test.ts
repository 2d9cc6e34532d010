import { expect, test } from 'vitest'
import { silentSince } from './silence.ts'

const at = (hour: number) => new Date(Date.UTC(2026, 10, 1, hour))
/** Every hour of the day, none at night. */
const daily = [0, 1, 2, 3].flatMap((day) => [8, 9, 10, 11, 12].map((hour) => at(day * 24 + hour)))
const last = at(3 * 24 + 12)

test.each([
  ['within the habit of its nights', daily, 3 * 24 + 12 + 20, undefined],
  ['just at the limit', daily, 3 * 24 + 12 + 30, undefined],
  ['beyond it', daily, 3 * 24 + 12 + 31, last],
  ['in whatever order the log has them', daily.toReversed(), 3 * 24 + 12 + 31, last],
  ['with too few detections for a habit', daily.slice(0, 7), 24 * 30, undefined],
  ['without any', [], 24 * 30, undefined],
])('a monitor is silent %s', (_, detections, hour, since) => {
  expect(silentSince(detections, at(hour))).toEqual(since)
})

test('a monitor that detects every minute is not silent after an hour', () => {
  const minutes = Array.from({ length: 30 }, (_, minute) => new Date(Date.UTC(2026, 10, 1, 8, minute)))
  expect(silentSince(minutes, new Date(Date.UTC(2026, 10, 1, 9, 29)))).toBeUndefined()
  expect(silentSince(minutes, new Date(Date.UTC(2026, 10, 1, 9, 30)))).toEqual(minutes.at(-1))
})
