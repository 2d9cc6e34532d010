import type { Client } from 'pg'
import { expect, test } from 'vitest'
import { isOfPreparation } from './preparation-errors.ts'
import { createStatementNames } from './statement-names.ts'

function connection(processID = 7) {
  const sent: string[] = []
  const client = {
    processID,
    connection: { parsedStatements: {} as Record<string, string> },
    query: async (text: string) => void sent.push(text),
  }
  return { client: client as unknown as Client, prepared: client.connection, sent }
}

function namesAt(openMs = 0) {
  const clock = { ms: openMs }
  return { clock, names: createStatementNames(() => clock.ms) }
}

const question = 'select name from tasks where id = $1'

test('a statement that is asked for the third time has a name, the same on each connection', () => {
  const { names } = namesAt()
  const [first, second] = [connection().client, connection().client]
  for (const client of [first, second]) names.met(client, 7)
  expect(names.nameOf(first, question, 1)).toBeUndefined()
  expect(names.nameOf(second, question, 1)).toBeUndefined()
  const name = names.nameOf(first, question, 1)
  expect(name).toMatch(/^p[0-9a-f]{32}$/)
  expect(names.nameOf(second, question, 1)).toBe(name)
  const other = `${question} limit 1`
  for (let use = 0; use < 3; use += 1) names.nameOf(first, other, 1)
  expect(names.nameOf(first, other, 1)).not.toBe(name)
})

test.each([
  ['behind a pooler, where another process answers', 8, question, 1],
  ['without parameters', 7, 'select 1', 0],
  ['that is a list of values', 7, question, 41],
  ['that sets something', 7, 'set local statement_timeout = $1', 1],
])('a statement %s has none', (_, backend, text, parameters) => {
  const { names } = namesAt()
  const { client } = connection(7)
  names.met(client, backend)
  for (let use = 0; use < 5; use += 1) expect(names.nameOf(client, text, parameters)).toBeUndefined()
})

test('plans are given up after ten seconds, and then after twice as long up to a minute', async () => {
  const { names, clock } = namesAt(1_000)
  const { client, prepared, sent } = connection()
  names.met(client, 7)
  const use = async (atMs: number) => {
    clock.ms = 1_000 + atMs
    await names.refresh(client)
    const known = Object.keys(prepared.parsedStatements)
    prepared.parsedStatements['p1'] = question
    return [sent.length, known.length]
  }
  expect(await use(0)).toEqual([0, 0])
  expect(await use(9_900)).toEqual([0, 1])
  expect(await use(10_000)).toEqual([1, 0])
  expect(await use(29_900)).toEqual([1, 1])
  expect(await use(30_000)).toEqual([2, 0])
  expect(await use(70_000)).toEqual([3, 0])
  expect(await use(129_900)).toEqual([3, 1])
  expect(await use(130_000)).toEqual([4, 0])
  expect(await use(190_000)).toEqual([5, 0])
  expect(new Set(sent)).toEqual(new Set(['deallocate all']))
})

test('a connection that has prepared nothing is asked to give up nothing', async () => {
  const { names, clock } = namesAt()
  const { client, sent } = connection()
  names.met(client, 7)
  clock.ms = 100_000
  await names.refresh(client)
  expect(sent).toEqual([])
})

test.each([
  [{ code: '0A000', routine: 'RevalidateCachedQuery', message: 'gecachter Plan darf …' }, true],
  [{ code: '26000' }, true],
  [{ code: '42P05' }, true],
  [{ code: '0A000', routine: 'transformLockingClause' }, false],
  [new Error('cached plan must not change result type'), false],
])('%o comes of having prepared: %s', (error, expected) => {
  expect(isOfPreparation(error)).toBe(expected)
})
