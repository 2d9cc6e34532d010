import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { createTemplate, deleteTemplates, readTypes } from '../../src/app/monitors/templates.ts'
import { API_KEY } from '../../src/sandbox/accounts.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openHouse, type House } from '../support/house.ts'

let sandbox: Sandbox
let house: House
const { signal } = new AbortController()
const message = '5b0c7a52-6f0e-4a8e-9d6c-0f5a3f1c1a04'

beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())
beforeEach(async () => {
  sandbox.faults.reset()
  house = await openHouse(sandbox, {
    env: { PAYDIRT_API_KEY: API_KEY },
    config: {
      payment: {
        maxPricesUsd: { 'template.types': '0.05', 'template.create': '0.05', 'template.delete': '0.05' },
      },
    } as never,
  })
})
afterEach(() => house.close())

const hello = { nodeId: message, name: 'Hello', parameters: { message: 'Hello' } }
const creates = () => sandbox.stats().byEndpoint['template_create'] ?? 0
const idOf = (end: Awaited<ReturnType<typeof createTemplate>>) =>
  end.state === 'done'
    ? (end.fact.data as { data: { channel_template_id: number } }).data.channel_template_id
    : undefined

test('types are read with their parameters', async () => {
  expect(await readTypes(house.context, signal)).toContainEqual({
    nodeId: message,
    slug: 'professional-network',
    name: 'Message',
    parameters: [{ key: 'message', isRequired: true, maxLength: 2_000 }],
  })
})

test.each<[string, object, RegExp]>([
  ['a node that is no UUID', { nodeId: 'email' }, /channel_node_id is not a UUID/],
  ['a node that no type has', { nodeId: message.replace(/4$/, '9') }, /templates types` lists them/],
  ['another channel', { slug: 'email' }, /channel_type_slug of this node is professional-network/],
  ['a parameter of another type', { parameters: { subject: 'Hello' } }, /parameters has no subject/],
  ['a parameter that is missing', { parameters: {} }, /parameters\.message is missing/],
])('a template with %s is refused before it is sent', async (_, change, reason) => {
  const before = creates()
  await expect(createTemplate(house.context, { ...hello, ...change }, { signal })).rejects.toThrow(reason)
  expect(creates()).toBe(before)
})

test('a template is made once, and its version removed by its number', async () => {
  const before = creates()
  const made = await createTemplate(house.context, hello, { signal })
  const id = idOf(made)
  expect(id).toEqual(expect.any(Number))
  await expect(createTemplate(house.context, hello, { signal })).rejects.toThrow(/was done on .*--again/)
  expect(creates()).toBe(before + 1)
  const end = await deleteTemplates(house.context, [id!], { signal })
  expect(end).toMatchObject({ state: 'done', fact: { data: { data: { deleted: [id], not_found: [] } } } })
})

test('a creation whose answer was lost stays in doubt, and is not sent again by itself', async () => {
  const before = creates()
  sandbox.faults.set({ dropAfterAction: { next: 1 } })
  const lost = { ...hello, name: 'Lost' }
  expect(await createTemplate(house.context, lost, { signal })).toMatchObject({ state: 'in_doubt' })
  expect(await createTemplate(house.context, lost, { signal })).toMatchObject({ state: 'in_doubt' })
  expect(creates()).toBe(before + 1)
})
