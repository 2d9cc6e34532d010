import { expect, test } from 'vitest'
import { progressEvent } from '../../library/work.ts'
import { createEventView } from './event-view.ts'
import { createLiveLine } from './live-line.ts'

test('the line of a command that stops is as the run tells it: no pace and no time left', () => {
  const written: string[] = []
  const stream = { isTTY: true, columns: 200, write: (text: string) => written.push(text) }
  const view = createEventView({ line: createLiveLine(stream as unknown as NodeJS.WriteStream) })
  const progress = {
    records: 400,
    scanned: true,
    counts: {
      queued: 0,
      looking_up: 398,
      ready: 0,
      written: 2,
      unchanged: 0,
      skipped: 0,
      rejected: 0,
      parked: 0,
    },
    settledAtomic: 80_000n,
    creditsAtomic: 0n,
    underWay: { records: 6, bought: 8 },
    pace: { perSecond: 20, refusedShare: 0 },
  }
  view.show(progressEvent({ ...progress, isStopping: false }))
  expect(written.at(-1)).toContain('8 bought, 0.080000 USD · pace 20/s')
  view.show(progressEvent({ ...progress, isStopping: true }))
  expect(written.at(-1)).toMatch(/ 8 bought, 0\.080000 USD$/)
  view.end()
})
