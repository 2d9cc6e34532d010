import { expect, test, vi } from 'vitest'
import type { Connector, Later } from '../connectors/connector.ts'
import { FatalError, RetriableError } from '../domain/errors.ts'
import { createReadTogether } from './read-together.ts'

/** A CRM whose reads end when the test ends them. */
function setStage(refuse: (ids: readonly string[]) => Error | undefined = () => undefined) {
  const reads: string[][] = []
  const begun: (() => void)[] = []
  const connector = {
    name: 'hubspot',
    entities: { companies: 'company' },
    async read(_entity: string, ids: readonly string[]) {
      reads.push([...ids])
      await new Promise<void>((resolve) => begun.push(resolve))
      const error = refuse(ids)
      if (error) throw error
      return new Map(ids.map((id) => [id, id === 'gone' ? { state: 'gone' } : present(id)]))
    },
  } as unknown as Connector
  const read = createReadTogether()
  return {
    reads,
    read: (...ids: string[]) => read(connector, 'companies', ids),
    async end(count: number): Promise<void> {
      while (begun.length < count) await new Promise((resolve) => setImmediate(resolve))
      for (const resolve of begun.splice(0, count)) resolve()
    },
  }
}

const present = (id: string) => ({ state: 'present', values: { name: id }, identity: { company: id } })

test('two hundred that are asked for at once take four reads, and each caller gets its own', async () => {
  const { read, reads, end } = setStage()
  const asked = Array.from({ length: 200 }, (_, index) => read(`${index}`))
  await end(2)
  await end(2)
  const found = await Promise.all(asked)
  expect(reads.map((ids) => ids.length)).toEqual([1, 1, 100, 98])
  found.forEach((each, index) => expect([...each.keys()]).toEqual([`${index}`]))
})

test('a record that two callers want is read once, and one that is gone is told to its caller', async () => {
  const { read, reads, end } = setStage()
  const first = [read('a'), read('b')]
  const later = [read('c', 'gone'), read('c')]
  await end(2)
  await end(1)
  expect(reads[2]).toEqual(['c', 'gone'])
  expect((await Promise.all(first)).map((each) => each.size)).toEqual([1, 1])
  const [both, one] = await Promise.all(later)
  expect(both?.get('gone')).toEqual({ state: 'gone' })
  expect([...(one?.keys() ?? [])]).toEqual(['c'])
})

test('a caller with many records is not mixed with so many others that their request is divided', async () => {
  const { read, reads, end } = setStage()
  const ids = Array.from({ length: 90 }, (_, index) => `n${index}`)
  const all = Promise.all([read('a'), read('b'), read(...ids), read('c', 'd'), read(...ids.slice(0, 20))])
  await end(2)
  await end(2)
  await all
  expect(reads.map((each) => each.length)).toEqual([1, 1, 92, 20])
})

test('a CRM that is away is asked once for all, and a bad record fails its own caller only', async () => {
  const away = setStage((ids) => (ids.length > 1 ? new RetriableError('away', 'away') : undefined))
  const refused = Promise.allSettled(['a', 'b', 'c', 'd'].map((id) => away.read(id)))
  await away.end(2)
  await away.end(1)
  expect((await refused).map(({ status }) => status)).toEqual([
    'fulfilled',
    'fulfilled',
    'rejected',
    'rejected',
  ])
  expect(away.reads).toHaveLength(3)

  const bad = setStage((ids) => (ids.includes('bad') ? new FatalError('bad', 'bad') : undefined))
  const read = Promise.allSettled(['a', 'b', 'bad', 'c'].map((id) => bad.read(id)))
  await bad.end(2)
  await bad.end(1)
  await bad.end(1)
  await bad.end(1)
  expect((await read).map(({ status }) => status)).toEqual([
    'fulfilled',
    'fulfilled',
    'rejected',
    'fulfilled',
  ])
})

test('presses that come one after the other, faster than a CRM has calls, are read together too', async () => {
  vi.useFakeTimers()
  try {
    const reads: number[] = []
    const connector = {
      name: 'hubspot',
      entities: { companies: 'company' },
      async read(_entity: string, ids: readonly string[]) {
        reads.push(ids.length)
        return new Map(ids.map((id) => [id, present(id)]))
      },
    } as unknown as Connector
    const read = createReadTogether(() => Date.now())
    let answered = 0
    for (let index = 0; index < 200; index += 1) {
      void read(connector, 'companies', [`${index}`]).then(() => (answered += 1))
      await vi.advanceTimersByTimeAsync(20)
    }
    await vi.advanceTimersByTimeAsync(1_000)
    expect(answered).toBe(200)
    expect(reads.slice(0, 8)).toEqual([1, 1, 1, 1, 1, 1, 1, 1])
    expect(reads.length).toBeLessThanOrEqual(8 + 15)
  } finally {
    vi.useRealTimers()
  }
})

test('what a read leaves for later is done once for all who were read together, and before its end for who leaves nothing', async () => {
  let learned = 0
  const connector = {
    name: 'hubspot',
    entities: { companies: 'company' },
    async read(_entity: string, ids: readonly string[], later: Later) {
      await new Promise((resolve) => setImmediate(resolve))
      later(async () => void (learned += ids.length))
      return new Map(ids.map((id) => [id, present(id)]))
    },
  } as unknown as Connector
  const read = createReadTogether()
  const works: (() => Promise<void>)[] = []
  const press = (id: string) => read(connector, 'companies', [id], (work) => void works.push(work))
  await Promise.all(['a', 'b', 'c', 'd', 'e'].map(press))
  expect(learned).toBe(0)
  for (const work of works) await work()
  expect([works.length, learned]).toEqual([5, 5])
  await read(connector, 'companies', ['f'])
  expect(learned).toBe(6)
})
