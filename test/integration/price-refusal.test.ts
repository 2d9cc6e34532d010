import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fileSchema, type FileConfig } from '../../src/app/config/file.ts'
import { createAlerts, standingAlerts } from '../../src/app/ops/alerts.ts'
import { startSchedules } from '../../src/app/schedules/scheduler.ts'
import { runScheduleNow } from '../../src/app/schedules/schedule-commands.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openOnDemand } from '../../src/app/runs/on-demand.ts'
import { call, openHttpHouse, secrets, type HttpHouse } from '../support/http-house.ts'
import { v3Headers } from '../support/hubspot-signature.ts'
import { addOccurrence } from './occurrence.fixture.ts'
import { until } from './schedules.fixture.ts'

/** The sentence of a plan: the step above its cap, with the line that allows it. */
const sentence =
  /the recipe contact has a step that costs more than the cap.*maxPricesUsd: \{ 'contact\.redeem/

let sandbox: Sandbox
let house: HttpHouse
let token: string
beforeAll(async () => {
  sandbox = await startSandbox()
  const schedules = {
    leads: { connector: 'hubspot', object: 'contacts', cron: '0 2 * * *', recipe: 'contact', limit: 5 },
  }
  house = await openHttpHouse(sandbox, {
    contacts: 5,
    config: fileSchema.parse({ schedules, connectors: { hubspot: {} } }) as FileConfig,
  })
  token = await house.token()
})
afterAll(async () => {
  await house?.close()
  await sandbox?.stop()
})

const runs = () => house.context.database.db.selectFrom('runs').selectAll().execute()
const aContact = () => [...house.hubspot.store.list('contacts')][0]?.id ?? ''

async function signed(path: string, content: object) {
  const uri = `${house.url}${path}`
  const body = JSON.stringify(content)
  const headers = await v3Headers(secrets.hubspot, { method: 'POST', uri, body, atMs: Date.now() })
  return call(uri, { headers, body })
}

describe('a recipe above its price caps buys nothing', () => {
  test('for a schedule: its run fails before it begins, and says why where failed schedules are shown', async () => {
    const { context } = house
    const before = sandbox.stats().requests
    const schedules = await startSchedules(context, { everyMs: 3_600_000 })
    try {
      await addOccurrence(context.database.db, 'leads', context.now, undefined, {
        entity: 'contacts',
        recipe: 'contact',
      })
      await schedules.look()
      await until(async () =>
        expect(
          await context.database.db
            .selectFrom('schedule_turns')
            .select(['state', 'reason', 'run_id'])
            .execute(),
        ).toEqual([{ state: 'failed', reason: expect.stringMatching(sentence), run_id: null }]),
      )
    } finally {
      await schedules.stop(5_000)
    }
    expect(await runs()).toEqual([])
    expect(sandbox.stats().requests).toBe(before)
    await createAlerts(context, { signal: AbortSignal.timeout(60_000) }).look()
    expect(await standingAlerts(context)).toContainEqual(
      expect.objectContaining({ message: expect.stringMatching(sentence) }),
    )
    const page = await (await fetch(`${house.url}/settings`)).text()
    expect(page).toContain('contacts</bdi> failed')
    await expect(runScheduleNow(context, 'leads')).rejects.toThrow(sentence)
  })

  test('for a request, a card and a step of a workflow: refused with the same sentence, and nothing is stored', async () => {
    const before = sandbox.stats().requests
    const id = aContact()
    const answers = [
      await call(`${house.url}/v1/enrich`, {
        token,
        body: { connector: 'hubspot', object: 'person', ids: [id], recipe: 'contact' },
      }),
      await signed('/hooks/hubspot/card', {
        action: 'enrich',
        objectType: 'contacts',
        objectId: id,
        recipe: 'contact',
      }),
      await signed('/hooks/hubspot/workflow', {
        callbackId: 'one',
        object: { objectId: id, objectType: 'CONTACT' },
        inputFields: { recipe: 'contact' },
      }),
    ]
    for (const { status, body } of answers) {
      expect(status).toBe(409)
      expect(body).toMatchObject({ code: 'above_cap', detail: expect.stringMatching(sentence) })
    }
    expect(await runs()).toEqual([])
    expect(sandbox.stats().requests).toBe(before)
  })

  test('for a monitor: what it has found waits, with the reason, until the caps are raised', async () => {
    const { context } = house
    const before = sandbox.stats().requests
    const onDemand = openOnDemand(context, { onReady: () => {}, onError: () => {} })
    const [task] = await onDemand.request({
      connector: 'hubspot',
      object: 'person',
      entity: 'contacts',
      ids: [aContact()],
      recipe: 'contact',
      trigger: 'monitor',
      source: { caller: 'monitor', records: 1 },
    })
    await onDemand.idle()
    const rows = await context.database.db
      .selectFrom('tasks')
      .select(['status', 'reason'])
      .where('id', '=', task?.taskId ?? 0n)
      .execute()
    expect(rows).toEqual([{ status: 'queued', reason: expect.stringMatching(sentence) }])
    expect(sandbox.stats().requests).toBe(before)
  })
})
