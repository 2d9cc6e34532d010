import { expect, test } from 'vitest'
import { stamp } from '../../src/http/desk/view/format.ts'
import { addCharge, addLookup, addRun, addTask, desk, minutesAgo, useDesk } from './desk-rows.fixture.ts'

useDesk()

/** A time of day without a zone behind it, in what a visitor reads. */
const bare = /\b\d{1,2}:\d{2}(?::\d{2})?(?:\.\d+)?(?! ?(?:UTC\b|Z\b|[A-Z][A-Za-z]+\/[A-Z]\w+))/g
const textOf = (markup: string) =>
  markup
    .replaceAll(/<(script|style|svg)[\s\S]*?<\/\1>/g, '')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')

async function firstEvents(page: string): Promise<string> {
  const answer = await desk.browser().ask(`/desk/events?page=${encodeURIComponent(page)}`)
  const reader = answer.body!.getReader()
  let text = ''
  while (!text.includes('"id":"spending"')) {
    const { value, done } = await reader.read()
    if (done) break
    text += new TextDecoder().decode(value as Uint8Array)
  }
  await reader.cancel()
  return text
}

test('every time of day bears its zone, on each page and in its live parts', async () => {
  await addRun('r1', { state: 'finished', startedAt: minutesAgo(400 * 24 * 60) })
  await addRun('r2')
  const lookup = await addLookup('a', 'answered', { outcome: 'found' })
  await addTask('r1', 'written', { lookup, patch: { city: { set: 'Ulm' } }, record: '5' })
  await addTask('r2', 'rejected', { reason: 'refused', record: '6' })
  await addCharge(lookup, 'settled', 10_000n, minutesAgo(5))
  await desk.db
    .insertInto('refusals')
    .values({
      lookup_key: lookup as never,
      run_id: 'r1',
      endpoint: 'e',
      rule: 'price',
      message: 'dear',
      refused_at: minutesAgo(3),
    })
    .execute()
  const local = desk.browser()
  await local.ask('/')
  await local.ask('/spending/stop', { form: { reason: 'a test' } })
  await desk.spendSwitch.stop('a test')
  const paths = ['/', '/runs', '/runs/r1', '/runs/r2', '/records?q=5', '/spend', '/failures', '/settings']
  const read: string[] = []
  for (const path of [...paths, '/audit']) read.push(textOf(await (await local.ask(path)).text()))
  for (const page of ['shell', 'now', 'run:r2']) read.push(textOf(await firstEvents(page)))
  expect(read.join(' ').match(/\d:\d\d UTC/g)?.length).toBeGreaterThan(10)
  expect(
    read.flatMap((text) => [...text.matchAll(bare)].map(({ index }) => text.slice(index - 40, index + 20))),
  ).toEqual([])
})

test('a schedule shows its times in its own zone', async () => {
  const text = textOf(await (await desk.browser().ask('/settings')).text())
  for (const day of [21, 22, 23, 24, 25]) expect(text).toContain(`${day} Nov, 02:00 Europe/Berlin`)
  expect(text).not.toContain('26 Nov')
})

test('a schedule is run after a question, once, and it is audited', async () => {
  const local = desk.browser()
  const asked = textOf(await (await local.ask('/schedules/run?name=nightly')).text())
  expect(asked).toContain('HubSpot companies')
  expect(asked).toContain('21 Nov, 02:00 Europe/Berlin')
  expect(desk.asked).toEqual([])
  const run = () => local.ask('/schedules/run', { form: { name: 'nightly' } })
  expect((await run()).headers.get('location')).toBe('/settings?done=schedule_run')
  expect((await run()).headers.get('location')).toBe('/settings?done=schedule_due')
  expect(await desk.audit.list(5)).toMatchObject([
    { action: 'schedule.run', target: 'nightly', details: { objects: 1 } },
  ])
  expect((await local.ask('/schedules/run', { form: { name: 'weekly' } })).status).toBe(404)
})

test('a time of another year names the year, in each zone', () => {
  const [now, at] = [new Date('2026-12-31T23:30:00Z'), new Date('2026-06-30T22:05:00Z')]
  expect(stamp(at, now)).toBe('30 Jun, 22:05 UTC')
  expect(stamp(at, now, 'Europe/Berlin')).toBe('1 Jul 2026, 00:05 Europe/Berlin')
  expect(stamp(at, now, 'America/Argentina/Buenos_Aires')).toBe(
    '30 Jun, 19:05 America/Argentina/Buenos_Aires',
  )
})
