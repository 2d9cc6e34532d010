import { expect, test } from 'vitest'
import type { Connector } from './connector.ts'
import { indexed } from './indexed.ts'

function setStage() {
  const calls: string[] = []
  const connector = {
    name: 'hubspot',
    entities: { companies: 'company' },
    read: async () =>
      new Map([
        ['1', { state: 'present', values: { name: 'Acme' }, identity: { domain: 'acme.example' } }],
        ['2', { state: 'gone' }],
      ]),
  } as unknown as Connector
  const learned = (call: string) => async (_name: string, _entity: string, records: readonly unknown[]) => {
    await new Promise((resolve) => setImmediate(resolve))
    calls.push(`${call} ${records.length}`)
  }
  const index = { keep: learned('keep'), drop: learned('drop'), add: learned('add') }
  return { calls, connector: indexed(connector, index) }
}

test('what identifies the records is in the index before they are returned', async () => {
  const { calls, connector } = setStage()
  await connector.read('companies', ['1', '2'])
  expect(calls).toEqual(['drop 1', 'keep 1'])
})

test('somebody who waits for the records gets them first, and has the index learn from them', async () => {
  const { calls, connector } = setStage()
  const works: (() => Promise<void>)[] = []
  const found = await connector.read('companies', ['1', '2'], (work) => void works.push(work))
  expect(found.size).toBe(2)
  expect(calls).toEqual([])
  for (const work of works) await work()
  expect(calls).toEqual(['drop 1', 'keep 1'])
})
