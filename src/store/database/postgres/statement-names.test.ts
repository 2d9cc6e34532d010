import type { Client } from 'pg'
import { expect, test } from 'vitest'
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

test('plans are given up after as long as the pool had been open: five seconds at least, a minute at most', () => {
  const { names, clock } = namesAt(1_000)
  const { client, prepared, sent } = connection()
  names.met(client, 7)
  const use = (atMs: number) => {
    clock.ms = 1_000 + atMs
    names.refresh(client)
    prepared.parsedStatements['p1'] = question
    return sent.length
  }
  expect(use(0)).toBe(0)
  expect(use(4_900)).toBe(0)
  expect(use(5_000)).toBe(1)
  expect(use(9_900)).toBe(1)
  expect(use(10_000)).toBe(2)
  expect(use(20_000)).toBe(3)
  expect(use(39_000)).toBe(3)
  expect(use(200_000)).toBe(4)
  expect(use(259_000)).toBe(4)
  expect(use(260_000)).toBe(5)
  expect(new Set(sent)).toEqual(new Set(['deallocate all']))
})

test('a connection that has prepared nothing is asked to give up nothing', () => {
  const { names, clock } = namesAt()
  const { client, sent } = connection()
  names.met(client, 7)
  clock.ms = 100_000
  names.refresh(client)
  expect(sent).toEqual([])
})
