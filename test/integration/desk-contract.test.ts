import { afterAll, beforeAll, expect, test } from 'vitest'
import { resolveConfig } from '../../src/app/config/config.ts'
import { createDeskContract } from '../../src/app/web/desk-contract.ts'
import { stopOperation } from '../../src/store/contract/operation-states.ts'
import type { ContractPort } from '../../src/http/desk/model/contract.ts'
import { refusedReason } from '../../src/workers/lookup/stop-reason.ts'
import { openBareDesk, type BareDesk } from './desk-fixture.ts'

let desk: BareDesk
let contract: ContractPort | undefined

beforeAll(async () => {
  desk = await openBareDesk({
    // The ledger of the desk is there only after it is open.
    ports: { contract: { list: () => contract!.list(), words: () => contract!.words() } },
  })
  contract = createDeskContract({ database: { db: desk.db }, config: resolveConfig({}, {}) })
})
afterAll(() => desk.close())

const place = { operation: 'job.search', part: '', place: 'POST http://127.0.0.1:9/jobs/search' } as const

test('an operator lets a stopped operation be asked again, and the audit log says so', async () => {
  const reason = 'job.search is stopped: its address answers 404'
  await stopOperation(desk.db, place, { code: 'no_such_endpoint', reason }, desk.now())
  const [viewer, operator] = [await desk.as('vera'), await desk.as('otto')]
  const seen = await (await viewer.ask('/contract')).text()
  expect(seen).toContain(reason)
  expect(seen).not.toContain('action="/contract/retry"')
  expect(await (await operator.ask('/contract')).text()).toContain('action="/contract/retry"')
  const shown = await (await viewer.ask('/contract/job.search')).text()
  expect(shown).toContain('the service has no such address (404)')

  const form = { operation: 'job.search' }
  expect((await viewer.ask('/contract/retry', { method: 'POST', form })).status).toBe(403)
  const asked = await operator.ask('/contract/retry', { method: 'POST', form })
  expect(asked.headers.get('location')).toBe('/contract?done=asked_again')
  expect(await desk.db.selectFrom('operation_states').selectAll().execute()).toEqual([])
  const audit = await desk.db.selectFrom('audit').select(['actor', 'action', 'target']).execute()
  expect(audit).toContainEqual({ actor: 'otto', action: 'service.retry', target: 'job.search' })
  const again = await operator.ask('/contract/retry', { method: 'POST', form })
  expect(again.headers.get('location')).toBe('/contract?done=nothing')
})

test('the stop of an action is lifted, nothing is sent, and its remedy is shown whole', async () => {
  const create = {
    operation: 'monitor.create',
    part: '',
    place: `POST http://${'host'.repeat(20)}/monitors`,
  } as const
  const reason = refusedReason(create, { details: { status: 404 } })
  await stopOperation(desk.db, create, { code: 'no_such_endpoint', reason }, desk.now())
  const operator = await desk.as('otto')
  const page = await (await operator.ask('/contract/monitor.create')).text()
  expect(page).toContain('Lift the stop')
  expect(page).not.toContain('Ask again')
  expect(page).toContain('`paydirt service retry monitor.create`</bdi>')
  const form = { operation: 'monitor.create' }
  const lifted = await operator.ask('/contract/retry', { method: 'POST', form })
  expect(lifted.headers.get('location')).toBe('/contract?done=stop_lifted')
})

test('an operation that does not exist has no page', async () => {
  const viewer = await desk.as('vera')
  expect((await viewer.ask('/contract/job.serch')).status).toBe(404)
})
