import { describe, expect, test } from 'vitest'
import { callRefusals } from '../../src/store/access/call-refusals.ts'
import { v2Headers, v3Headers } from '../support/hubspot-signature.ts'
import { call, secrets } from '../support/http-house.ts'
import { aCompany, house, publicUrl, sandbox, useHookHouse } from '../integration/hooks.fixture.ts'

useHookHouse()

interface HookAnswer {
  taskId: string
  runId: string
  status: string
  reason: string | null
  fields: { name: string; label: string; value: string }[]
  costUsd: string
  currency: string
  enrichedAt: string | null
  done: boolean
  last: Pick<HookAnswer, 'status' | 'reason' | 'enrichedAt' | 'fields' | 'costUsd'> | null
}

async function refusedToday(): Promise<Record<string, number>> {
  const rows = await callRefusals(house.context.database.db)
  return Object.fromEntries(rows.map(({ reason, count }) => [reason, count]))
}

test('the desk is closed where a public address is set and nobody would have to sign in', async () => {
  const answer = await fetch(house.url, { headers: { accept: 'text/html' } })
  expect(answer.status).toBe(403)
  expect(await answer.text()).toContain('PAYDIRT_ADMIN_PASSWORD_HASH')
})

describe('a card in HubSpot', () => {
  // HubSpot's proxy adds who pressed it, with an address in it.
  const path = '/hooks/hubspot/card?userId=7&portalId=62515&userEmail=ops%2Bx%40example.com&appId=1'

  /** The request as HubSpot signs it, and as the proxy hands it on. */
  async function signed(body: object, more: { atMs?: number; path?: string } = {}) {
    const text = JSON.stringify(body)
    const target = more.path ?? path
    const uri = `${publicUrl}${target}`
    const headers = await v3Headers(secrets.hubspot, {
      method: 'POST',
      uri,
      body: text,
      atMs: more.atMs ?? Date.now(),
    })
    return { url: `${house.url}${target}`, headers, body: text }
  }
  const send = ({ url, headers, body }: Awaited<ReturnType<typeof signed>>) =>
    call<HookAnswer & { code: string }>(url, { headers, body })

  test('enriches the record and answers with what was written and what it cost', async () => {
    const id = aCompany()
    const startedMs = performance.now()
    const { status, body } = await send(
      await signed({ action: 'enrich', objectType: 'companies', objectId: id, recipe: 'profile' }),
    )
    expect(performance.now() - startedMs).toBeLessThan(14_000)
    expect(status).toBe(200)
    expect(body).toMatchObject({ status: 'written', done: true, costUsd: '0.010000', currency: 'USD' })
    expect(body.last).toMatchObject({ status: 'written', costUsd: '0.010000' })
    expect(body.last?.fields).toEqual(body.fields)
    const { domain } = house.company(id)
    expect(domain).toBeTruthy()
    expect(body.fields).toContainEqual({ name: 'domain', label: 'Domain', value: domain })

    const asked = { action: 'status', objectType: '0-2', objectId: Number(id), taskId: body.taskId }
    expect((await send(await signed(asked))).body).toEqual(body)
    const { taskId: _, ...noTask } = asked
    const last = await send(await signed(noTask))
    expect(last.body).toMatchObject({ taskId: null, status: null, done: true, last: body.last })
    const other = await send(await signed({ ...asked, objectId: aCompany() }))
    expect(other).toMatchObject({ status: 404, body: { code: 'not_found' } })
  })

  test('the same request again, six minutes old, or with one byte changed does nothing and is counted', async () => {
    const before = await refusedToday()
    const count = (await house.context.database.db.selectFrom('tasks').select('id').execute()).length
    const id = aCompany()
    const body = { action: 'enrich', objectType: 'companies', objectId: id }

    const old = await signed(body, { atMs: Date.now() - 6 * 60_000 })
    expect(await send(old)).toMatchObject({ status: 401, body: { code: 'hubspot_stale' } })
    const early = await signed(body, { atMs: Date.now() + 60_000 })
    expect(await send(early)).toMatchObject({ status: 401, body: { code: 'hubspot_future' } })
    const good = await signed(body)
    const changed = { ...good, body: good.body.replace(id, `${id.slice(0, -1)}${(Number(id) + 1) % 10}`) }
    expect(await send(changed)).toMatchObject({ status: 401, body: { code: 'hubspot_wrong_signature' } })
    const moved = { ...good, url: good.url.replace('ops', 'oqs') }
    expect(await send(moved)).toMatchObject({ status: 401, body: { code: 'hubspot_wrong_signature' } })
    expect(await house.context.database.db.selectFrom('tasks').select('id').execute()).toHaveLength(count)

    expect((await send(good)).body).toMatchObject({ status: 'written' })
    expect(await send(good)).toMatchObject({ status: 403, body: { code: 'hubspot_replayed' } })
    const after = await refusedToday()
    const more = (code: string) => (after[code] ?? 0) - (before[code] ?? 0)
    expect({
      stale: more('hubspot_stale'),
      future: more('hubspot_future'),
      wrong: more('hubspot_wrong_signature'),
      replayed: more('hubspot_replayed'),
    }).toEqual({ stale: 1, future: 1, wrong: 2, replayed: 1 })
  })

  test('a slow service is answered in time with a task that goes on', async () => {
    sandbox.faults.set({ latency: { minMs: 11_500, maxMs: 11_500 } })
    const id = aCompany()
    const startedMs = performance.now()
    const { status, body } = await send(
      await signed({ action: 'enrich', objectType: 'companies', objectId: id }),
    )
    expect(performance.now() - startedMs).toBeLessThan(13_500)
    expect(status).toBe(200)
    expect(body).toMatchObject({ status: 'looking_up', done: false, enrichedAt: null })
    const token = await house.token()
    const events = await fetch(`${house.url}/v1/tasks/${body.taskId}/events`, {
      headers: { authorization: `Bearer ${await house.token({ scopes: ['read'] })}` },
    })
    expect(await events.text()).toContain('"status":"written"')
    // Made by HubSpot, not with this token.
    expect((await call(`${house.url}/v1/tasks/${body.taskId}`, { token })).status).toBe(404)
  })

  test('another object than HubSpot’s companies and contacts is refused by name', async () => {
    const answer = await send(await signed({ action: 'enrich', objectType: '0-3', objectId: '1' }))
    expect(answer).toMatchObject({ status: 422, body: { errors: [{ pointer: '/objectType' }] } })
  })
})

describe('a step of a HubSpot workflow', () => {
  async function execute(callbackId: string, objectId: string) {
    const url = '/hooks/hubspot/workflow'
    const body = JSON.stringify({
      callbackId,
      origin: { portalId: 62515, actionDefinitionId: 1, actionDefinitionVersion: 1 },
      context: { source: 'WORKFLOWS', workflowId: 1 },
      object: { objectId: Number(objectId), objectType: 'COMPANY' },
      inputFields: { recipe: 'profile' },
    })
    const signed = { method: 'POST', uri: `${publicUrl}${url}`, body }
    return call(`${house.url}${url}`, { body, headers: await v2Headers(secrets.hubspot, signed) })
  }
  const completed = async (callbackId: string) => {
    const { workflows } = house.hubspot
    const deadline = Date.now() + 60_000
    while (!workflows.completed.has(callbackId)) {
      if (Date.now() > deadline) throw new Error('never completed')
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    return workflows.completed.get(callbackId)
  }
  const blocks = { outputFields: { hs_execution_state: 'BLOCK', hs_expiration_duration: 'P1D' } }

  test('blocks, and is completed with the result when the record is enriched', async () => {
    house.hubspot.workflows.block('ap-1-2-3-0')
    const id = aCompany()
    const answers = [await execute('ap-1-2-3-0', id), await execute('ap-1-2-3-0', id)]
    for (const answer of answers) expect(answer).toMatchObject({ status: 200, body: blocks })
    const output = await completed('ap-1-2-3-0')
    expect(output).toMatchObject({ status: 'written', costUsd: '0.01', hs_execution_state: 'SUCCESS' })
    expect(Number(output?.['fieldsFilled'])).toBeGreaterThan(0)
    const tasks = await house.context.database.db
      .selectFrom('tasks')
      .select('id')
      .where('record_id', '=', id)
      .execute()
    expect(tasks).toHaveLength(1)
  })

  test('is told again until HubSpot has heard it', async () => {
    house.hubspot.workflows.block('ap-1-2-4-0')
    house.hubspot.faults.inject({ kind: 'drop', path: /callbacks/, times: 3 })
    await execute('ap-1-2-4-0', aCompany())
    expect(await completed('ap-1-2-4-0')).toMatchObject({ status: 'written' })
  })

  test('is given up when HubSpot does not wait for it', async () => {
    await execute('ap-1-2-5-0', aCompany())
    const read = () =>
      house.context.database.db
        .selectFrom('workflow_callbacks')
        .select(['state', 'reason'])
        .where('callback_id', '=', 'ap-1-2-5-0')
        .executeTakeFirstOrThrow()
    while ((await read()).state === 'waiting') await new Promise((resolve) => setTimeout(resolve, 50))
    expect(await read()).toEqual({ state: 'given_up', reason: 'OBJECT_NOT_FOUND' })
  })
})
