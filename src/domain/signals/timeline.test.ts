import { expect, test } from 'vitest'
import type { SeenSignal } from './score.ts'
import { timelineOf } from './timeline.ts'

const signal = (key: string, happened: string | null, seen: string, ended: string | null = null) =>
  ({
    type: 'job',
    key,
    title: key,
    link: null,
    place: null,
    strength: null,
    about: {},
    happenedAt: happened === null ? null : new Date(happened),
    firstSeenAt: new Date(seen),
    endedAt: ended === null ? null : new Date(ended),
  }) satisfies SeenSignal
const day = (text: string, stage: string | null) => ({ day: text, hundredths: 0, stage })

test('events come the latest first, each at the time that is known of it', () => {
  const events = timelineOf(
    [
      signal('told', '2026-11-01', '2026-11-10', '2026-11-20'),
      signal('seen', null, '2026-11-12'),
      signal('short', '2026-11-05', '2026-11-05', '2026-11-05'),
    ],
    [
      [day('2026-11-02', 'Exploring'), day('2026-11-09', null), day('2026-11-16', 'Scaling')],
      // Another pipeline saw the same move.
      [day('2026-11-15', 'Exploring'), day('2026-11-16', 'Scaling')],
    ],
  )
  expect(
    events.map((event) => [
      event.at.toISOString().slice(0, 10),
      event.kind,
      event.kind === 'stage' ? `${event.from} to ${event.to}` : event.signal.key,
    ]),
  ).toEqual([
    ['2026-11-20', 'ended', 'told'],
    ['2026-11-16', 'stage', 'Exploring to Scaling'],
    ['2026-11-12', 'signal', 'seen'],
    ['2026-11-05', 'ended', 'short'],
    ['2026-11-05', 'signal', 'short'],
    ['2026-11-01', 'signal', 'told'],
  ])
})

test('an account of which nothing is known has no events', () => {
  expect(timelineOf([], [])).toEqual([])
})
