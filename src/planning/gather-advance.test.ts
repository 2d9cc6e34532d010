import { expect, test } from 'vitest'
import type { LookupKey } from '../domain/keys.ts'
import { gatherAdvance } from './gather-advance.ts'

const keysOf = (...names: string[]) => names.map((name) => `company.profile|${name}` as LookupKey)

/** Records the groups that are moved on, and refuses every group with this lookup. */
function setStage(refused?: string) {
  const groups: string[][] = []
  const advance = {
    async advanceTasksWaitingFor(keys: LookupKey[]) {
      groups.push(keys.map((key) => key.split('|')[1] ?? ''))
      await new Promise((resolve) => setTimeout(resolve, 5))
      if (keys.some((key) => key.endsWith(`|${refused}`))) throw new Error('refused')
    },
  }
  return { groups, advance }
}

test('lookups that end at once are one group', async () => {
  const { groups, advance } = setStage()
  const move = gatherAdvance(advance, { times: 6, mostMs: 150 })
  await Promise.all([move(keysOf('a', 'b')), move(keysOf('c')), move([])])
  expect(groups).toEqual([['a', 'b', 'c']])
})

test('those that end while a group is moved are the next one', async () => {
  const { groups, advance } = setStage()
  const move = gatherAdvance(advance, { times: 6, mostMs: 150 })
  const first = move(keysOf('a'))
  while (groups.length === 0) await new Promise((resolve) => setImmediate(resolve))
  const later = [move(keysOf('b')), move(keysOf('c', 'd'))]
  await Promise.all([first, ...later])
  expect(groups).toEqual([['a'], ['b', 'c', 'd']])
})

test('one that cannot be moved fails alone', async () => {
  const { groups, advance } = setStage('bad')
  const move = gatherAdvance(advance, { times: 6, mostMs: 150 })
  const moved = await Promise.allSettled([move(keysOf('a')), move(keysOf('bad')), move(keysOf('b'))])
  expect(moved.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(groups).toEqual([['a', 'bad', 'b'], ['a'], ['bad'], ['b']])
})
