import { parse } from 'csv-parse/sync'
import { describe, expect, test } from 'vitest'
import type { LookupKey } from '../../src/domain/keys.ts'
import { updateRunStates } from '../../src/store/runs/run-states.ts'
import { runHead } from '../../src/store/views/desk-runs.ts'
import { lastOfSource } from '../../src/store/views/run-comparison.ts'
import {
  addCharge,
  addLookup,
  addRun,
  addTask,
  desk,
  minutesAgo,
  statusesOf,
  useDesk,
} from './desk-rows.fixture.ts'

useDesk()

const flat = async (answer: Response | Promise<Response>) =>
  (await (await answer).text()).replaceAll(/\s+/g, ' ')

describe('a run on the desk', () => {
  test('is stopped with a reason, shows who stopped it, and is resumed; each is audited', async () => {
    await addRun('r1')
    const waiting = await addLookup('a', 'waiting', { run: 'r1' })
    await addTask('r1', 'looking_up', { lookup: waiting })
    const local = desk.browser()
    const before = await flat(local.ask('/runs/r1'))
    expect(before).toContain('action="/runs/r1/stop"')
    const stopped = await local.ask('/runs/r1/stop', { form: { reason: 'wrong <b>mapping</b>' } })
    expect(stopped.headers.get('location')).toBe('/runs/r1?done=run_stopped')
    expect(await statusesOf('r1')).toEqual(['parked'])
    const page = await flat(local.ask('/runs/r1?done=run_stopped'))
    expect(page).toContain('What is on its way is waited for.')
    expect(page).toContain('wrong &lt;b&gt;mapping&lt;/b&gt;')
    expect(page).toMatch(/Stopped<\/strong> by <bdi>local<\/bdi>, <time[^>]*>20 Nov, 12:00 UTC<\/time ?>/)
    expect(page).toContain('Nothing is on its way')
    expect(page).toContain('action="/runs/r1/resume"')
    expect(page).toContain('1 lookup to be bought for what waits now: at most $0.01.')
    expect(page).not.toContain('action="/runs/r1/retry"')
    expect(page).not.toContain('action="/runs/r1/stop"')
    await addCharge(waiting, 'in_doubt', 10_000n, minutesAgo(1))
    await desk.db.updateTable('charges').set({ state: 'sent' }).execute()
    expect(await flat(local.ask('/runs/r1'))).toContain('What is on its way is waited for.')

    const resumed = await local.ask('/runs/r1/resume', { form: {} })
    expect(resumed.headers.get('location')).toBe('/runs/r1?done=run_resumed')
    expect(await statusesOf('r1')).toEqual(['looking_up'])
    expect((await local.ask('/runs/r1/resume', { form: {} })).headers.get('location')).toBe(
      '/runs/r1?done=nothing',
    )
    expect(await desk.audit.list(5)).toMatchObject([
      { actor: 'local', action: 'run.resume', target: 'r1', details: { continuedBy: 'workers' } },
      { actor: 'local', action: 'run.stop', target: 'r1', details: { reason: 'wrong <b>mapping</b>' } },
    ])
  })

  test('that has ended is not stopped, and one of a file says which command continues it', async () => {
    await addRun('r1', { state: 'finished' })
    await addRun('f1', { state: 'parked', connector: 'csv', source: { file: 'leads.csv' } })
    const local = desk.browser()
    await local.ask('/runs/r1')
    const late = await local.ask('/runs/r1/stop', { form: {} })
    expect(late.headers.get('location')).toBe('/runs/r1?done=run_ended')
    await local.ask('/runs/f1/stop', { form: { reason: '' } })
    expect(await flat(local.ask('/runs/f1'))).toContain('when the command that began it is run again')
    const resumed = await local.ask('/runs/f1/resume', { form: {} })
    expect(resumed.headers.get('location')).toBe('/runs/f1?done=run_command')
    await updateRunStates(desk.db, desk.now(), ['csv'])
    expect((await runHead(desk.db, 'f1'))?.state).toBe('stopped')
    for (const [path, form] of [
      ['/runs/none/stop', {}],
      ['/runs/none/compare', undefined],
    ] as const)
      expect((await local.ask(path, form ? { form } : {})).status).toBe(404)
  })

  test('retries its failed records alone, behind a confirmation', async () => {
    await addRun('r1', { state: 'finished' })
    const failed = await addLookup('a', 'failed')
    await addTask('r1', 'rejected', { lookup: failed, reason: 'no luck' })
    await addTask('r1', 'rejected', { reason: 'never looked up' })
    const local = desk.browser()
    expect(await flat(local.ask('/runs/r1'))).toContain('Retry 1 failed record</summary>')
    await local.ask('/runs/r1/retry', { form: {} })
    expect(await statusesOf('r1')).toEqual(['looking_up', 'rejected'])
    expect(await flat(local.ask('/runs/r1'))).not.toContain('action="/runs/r1/retry"')
    expect(await desk.audit.list(1)).toMatchObject([
      { action: 'run.retry', target: 'r1', details: { records: 1, left: 1 } },
    ])
  })

  test('is compared with the last run of the same source', async () => {
    await addRun('old', { state: 'finished', startedAt: minutesAgo(300) })
    await addRun('other', { state: 'finished', startedAt: minutesAgo(100), connector: 'salesforce' })
    await addRun('r1', { state: 'finished' })
    const lookup = await addLookup('a', 'answered', { outcome: 'found' })
    for (const run of ['old', 'old', 'r1', 'r1', 'r1'])
      await addTask(run, 'written', { lookup, patch: { city: { set: 'Ulm' } } })
    await addTask('old', 'rejected', { lookup, reason: 'refused' })
    await addCharge(lookup, 'settled', 60_000n, minutesAgo(5))
    await addCharge(lookup, 'lost', 30_000n, minutesAgo(5))
    const head = await runHead(desk.db, 'r1')
    expect(await lastOfSource(desk.db, head!)).toBe('old')
    const page = await flat(desk.browser().ask('/runs/r1/compare'))
    const row = (name: string) =>
      [
        ...(new RegExp(`<th scope="row"[^>]*>${name}</th>(.*?)</tr>`).exec(page)?.[1] ?? '').matchAll(
          /<div>(.*?)<\/div>/g,
        ),
      ].map(([, cell]) => cell?.trim())
    expect(row('Records')).toEqual(['3', '3', '0'])
    expect(row('Matched')).toEqual(['3', '3', '0'])
    expect(row('Written')).toEqual(['3', '2', '+1'])
    expect(row('Rejected')).toEqual(['0', '1', '−1'])
    expect(row('Cost')).toEqual(['$0.09', '$0.00', '+$0.09'])
    expect(row('Cost per matched record')).toEqual(['$0.03', '$0.00', '+$0.03'])
    expect(page).toMatch(/refused<\/bdi>.*?<div>0<\/div>.*?<div>1<\/div>.*?<div>−1<\/div>/)
    expect(await flat(desk.browser().ask('/runs/old/compare'))).toContain('No earlier run of the same source')
  })
})

describe('the records of a run as CSV', () => {
  const read = async (run: string) => {
    const answer = await desk.browser().ask(`/runs/${run}/records.csv`)
    expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(answer.headers.get('content-disposition')).toBe(`attachment; filename="paydirt-run-${run}.csv"`)
    const text = await answer.text()
    expect(text.startsWith('place,') || text.startsWith('\ufeffplace,')).toBe(true)
    return parse(text, { columns: true, bom: true }) as Record<string, string>[]
  }

  test('hold before, after and cost of each field, and no cell that a spreadsheet would run', async () => {
    await addRun('r1', { state: 'finished' })
    const lookup = await addLookup('a', 'answered', { outcome: 'found' })
    await addTask('r1', 'written', {
      lookup,
      record: '=HYPERLINK("http://x")',
      patch: { city: { set: 'Ulm' } },
    })
    await addTask('r1', 'rejected', { reason: '@SUM(A1)\n"quoted", and more', record: '6' })
    await addCharge(lookup, 'settled', 10_000n, minutesAgo(5))
    const [task] = await desk.db.selectFrom('tasks').select(['id', 'record_id']).orderBy('id').execute()
    await desk.db
      .insertInto('field_writes')
      .values(
        (['city', 'industry'] as const).map((field, index) => ({
          task_id: task!.id,
          run_id: 'r1',
          connector: 'hubspot',
          entity: 'companies',
          record_id: task!.record_id,
          field,
          old_value: index === 0 ? JSON.stringify("+cmd|' /C calc'!A0") : null,
          new_value: JSON.stringify(index === 0 ? '-2+3' : 'Tools'),
          lookup_key: lookup as LookupKey,
          price_atomic: 5_000n,
          currency: 'USD' as const,
          state: 'written' as const,
          intended_at: desk.now(),
          written_at: desk.now(),
        })),
      )
      .execute()
    const rows = await read('r1')
    expect(rows).toMatchObject([
      {
        record: `'=HYPERLINK("http://x")`,
        status: 'written',
        record_cost_usd: '0.010000',
        field: 'city',
        before: `'+cmd|' /C calc'!A0`,
        after: `'-2+3`,
        field_state: 'written',
        field_cost_usd: '0.005000',
      },
      { record_cost_usd: '', field: 'industry', before: '', after: 'Tools', field_cost_usd: '0.005000' },
      {
        record: '6',
        status: 'rejected',
        reason: `'@SUM(A1)\n"quoted", and more`,
        field: '',
        record_cost_usd: '0.000000',
      },
    ])
    expect(await desk.audit.list(1)).toMatchObject([{ action: 'run.export', target: 'r1' }])
  })

  test('are all of them, in order, also over many pages', async () => {
    await addRun('r1', { state: 'finished', connector: 'csv', source: { file: 'leads.csv' } })
    const tasks = Array.from({ length: 1_203 }, (_, index) => ({
      run_id: 'r1',
      ordinal: index + 1,
      record_id: String(index + 2),
      identity: '{}',
      status: 'written' as const,
      patch: JSON.stringify({ city: { set: 'Ulm' } }),
      updated_at: desk.now(),
    }))
    await desk.db.insertInto('tasks').values(tasks).execute()
    const rows = await read('r1')
    expect(rows.map(({ place }) => Number(place))).toEqual(tasks.map(({ ordinal }) => ordinal))
    expect(rows.at(-1)).toMatchObject({ record: '1204', field: 'city', after: 'Ulm' })
  })
})
