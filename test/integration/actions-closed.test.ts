import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { closeByVerdict } from '../../src/app/actions/close-action.ts'
import { listActions } from '../../src/app/actions/list-actions.ts'
import { forget } from '../../src/app/records/forget.ts'
import { enforceRetention } from '../../src/app/upkeep/retention.ts'
import { useActions } from './actions.fixture.ts'
import { monitorFields } from './sandbox-monitors.fixture.ts'

const stage = useActions()
const { perform, sends, unfinished, cut } = stage

/** All texts of the tables that an action is in. */
async function textsOf(...tables: string[]) {
  const texts = []
  for (const table of tables) {
    const { rows } = await sql<{ text: string }>`
      select row_to_json(each)::text as text from ${sql.table(table)} as each`.execute(
      stage.context.database.db,
    )
    texts.push(...rows.map(({ text }) => text))
  }
  return texts.join('\n')
}

describe('an action in doubt', () => {
  const order = { channel_template_id: [7] }

  test('that a person says was not done leaves the list, and the same call sends it', async () => {
    cut('template_delete')
    expect(await perform('template.delete', order)).toMatchObject({ state: 'in_doubt' })
    const [listed] = await listActions(stage.context)
    expect(listed!.todo).toContain(`paydirt service actions --close ${listed!.id} --as done|not-done`)
    expect(await closeByVerdict(stage.context, listed!.id, 'not-done')).toEqual({
      id: listed!.id,
      operation: 'template.delete',
      as: 'not-done',
    })
    expect(await unfinished()).toEqual([])
    // The money is another question.
    const { rows } = await sql<{ state: string }>`
      select state from charges where operation = 'template.delete'`.execute(stage.context.database.db)
    expect(rows).toEqual([{ state: 'in_doubt' }])
    const audited = await textsOf('audit')
    expect(audited).toContain('service.action.close')
    await expect(closeByVerdict(stage.context, listed!.id, 'done')).rejects.toThrow(/no unfinished action/)

    const before = sends('template_delete')
    await perform('template.delete', order)
    expect(sends('template_delete') - before).toBe(1)
  })

  test('that a person says was done is not made again without an order to', async () => {
    const monitor = monitorFields({ name: 'Closed as done' })
    cut('monitor_create', true)
    expect(await perform('monitor.create', monitor)).toMatchObject({ state: 'in_doubt' })
    const [listed] = await listActions(stage.context)
    await closeByVerdict(stage.context, listed!.id, 'done')
    await expect(perform('monitor.create', monitor)).rejects.toThrow(/was done on .*--again makes another/)
  })

  test('may still be on its way: it is closed only after that, and one that was never sent is not done', async () => {
    await stage.context.spendSwitch.stop('a test')
    await perform('monitor.create', monitorFields({ name: 'On its way' }))
    await stage.context.spendSwitch.resume()
    const [listed] = await listActions(stage.context)
    await expect(closeByVerdict(stage.context, listed!.id, 'done')).rejects.toThrow(/never sent/)
    const { db } = stage.context.database
    await db
      .updateTable('service_actions')
      .set({ state: 'sent', sent_at: stage.context.now() })
      .where('id', '=', BigInt(listed!.id))
      .execute()
    await expect(closeByVerdict(stage.context, listed!.id, 'not-done')).rejects.toThrow(/on its way/)
    const later = { ...stage.context, now: () => new Date(Date.now() + 120_000) }
    await closeByVerdict(later, listed!.id, 'not-done')
    expect(await unfinished()).toEqual([])
  })
})

describe('the journal of actions', () => {
  test('keeps the ids alone of old answers, so that the same order is still known', async () => {
    const monitor = monitorFields({ name: 'A name that is old' })
    await perform('monitor.create', monitor)
    const context = {
      ...stage.context,
      config: { ...stage.context.config, keptDays: { ...stage.context.config.keptDays, answers: 10 } },
      now: () => new Date(Date.now() + 11 * 86_400_000),
    }
    expect(await enforceRetention(context)).toBeGreaterThan(1)
    const { rows } = await sql<{ answer: object | null }>`
      select answer from service_actions where body->>'name' = 'A name that is old'`.execute(
      stage.context.database.db,
    )
    expect(rows).toEqual([{ answer: { data: { monitor_id: expect.any(String) as string }, erased: true } }])
    expect(await enforceRetention(context)).toBe(0)
    await expect(perform('monitor.create', monitor)).rejects.toThrow(/was done on .*\(monitor_id /)
  })

  test('is reached by forget, in the order and in the answer', async () => {
    await perform('monitor.create', monitorFields({ name: 'for ann.lee@acme.example' }))
    expect(await textsOf('service_actions', 'lookups', 'charges')).toContain('ann.lee@')
    const { erased } = await forget(stage.context, [{ kind: 'email', value: 'ann.lee@acme.example' }], {
      suppress: false,
    })
    expect(erased.mentions).toBeGreaterThan(0)
    expect(await textsOf('service_actions', 'lookups', 'charges')).not.toContain('ann.lee@')
  })
})
