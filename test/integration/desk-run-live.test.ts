import { expect, test } from 'vitest'
import { addCharge, addLookup, addRun, addTask, desk, minutesAgo, useDesk } from './desk-rows.fixture.ts'

useDesk()

/** Returns the parts that the stream of a page sends until each of `ids` has come. */
async function partsOf(live: string, ids: readonly string[]): Promise<Map<string, string>> {
  const answer = await desk.browser().ask(`/desk/events?page=${encodeURIComponent(live)}`)
  const reader = answer.body!.getReader()
  const parts = new Map<string, string>()
  let text = ''
  while (ids.some((id) => !parts.has(id))) {
    const { value, done } = await reader.read()
    if (done) break
    text += new TextDecoder().decode(value as Uint8Array)
    for (const [, data = ''] of text.matchAll(/^data: (\{.*\})$/gm)) {
      const { id, html } = JSON.parse(data) as { id: string; html: string }
      parts.set(id, html)
    }
  }
  await reader.cancel()
  return parts
}

const settledIn = (html: string) => [...html.matchAll(/\$\d+\.\d+/g)].map(([amount]) => amount)

test(
  'every card of a run updates, by one reading, also when the run has ended',
  { timeout: 20_000 },
  async () => {
    await addRun('r1')
    const lookup = await addLookup('a', 'answered', { outcome: 'found' })
    await addTask('r1', 'skipped', { record: '5', reason: 'no profile URL' })
    const local = desk.browser()
    const page = await (await local.ask('/runs/r1?status=written')).text()
    expect(page).toContain('No matching records.')
    const live = /data-live="([^"]+)"/.exec(page)?.[1]?.replaceAll('&amp;', '&') ?? ''
    const ids = [...page.matchAll(/id="(run-[a-z]+)"/g)].map(([, id = '']) => id)
    expect(ids).toContain('run-cost')

    // The page has missed a payment, a record, the end.
    await addCharge(lookup, 'settled', 1_170_000n, minutesAgo(1))
    await addTask('r1', 'written', { lookup, patch: { city: { set: 'Ulm' } }, record: '6' })
    await desk.db
      .updateTable('runs')
      .set({ state: 'finished', finished_at: desk.now() })
      .where('id', '=', 'r1')
      .execute()
    const parts = await partsOf(live, ids)
    expect([...parts.keys()]).toEqual(expect.arrayContaining(ids))
    expect(settledIn(parts.get('run-progress') ?? '')).toEqual(['$1.17'])
    expect(settledIn(parts.get('run-cost') ?? '')[0]).toBe('$1.17')
    expect(parts.get('run-funnel')).toContain('Written: 1 of 2')
    expect(parts.get('run-lead')).toContain('ended')
    expect(parts.get('run-choices')).toContain('Undo …')
    expect(parts.get('run-records')).toContain('/tasks/')
  },
)
