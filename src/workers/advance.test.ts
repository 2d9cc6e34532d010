import { describe, expect, test } from 'vitest'
import type { LookupKey } from '../domain/keys.ts'
import type { Mark } from '../domain/subject.ts'
import type { TaskMove, WaitingTask } from '../store/tasks.ts'
import { createAdvance } from './advance.ts'

const contact = 'contact.lookup|email:ann@acme.com' as LookupKey
const waiting: WaitingTask = {
  id: 1n,
  runId: 'r',
  connector: 'hubspot',
  entity: 'contacts',
  object: 'person',
  recipe: 'full',
  hot: false,
  identity: { email: 'ann@acme.com' },
  waitingFor: contact,
  steps: [],
}

async function advanced(suppressed?: readonly string[]) {
  const moves: TaskMove[] = []
  const wanted: string[] = []
  const fact = {
    operation: 'contact.lookup' as const,
    outcome: 'found' as const,
    data: { profnet_url: 'https://www.profnet.com/in/ann', people_search_id: 'p1' },
    freshUntil: new Date('2999-01-01'),
  }
  const advance = createAdvance({
    lookups: {
      facts: async (keys) => new Map(keys.filter((key) => key === contact).map((key) => [key, fact])),
      want: async (lookups) => void wanted.push(...lookups.map(({ key }) => key)),
    },
    tasks: { move: async (all) => void moves.push(...all), waitingFor: async () => [] },
    onReady: () => {},
    onWanted: () => {},
    ...(suppressed
      ? {
          suppressed: async (subjects: readonly (readonly Mark[])[]) =>
            new Set(
              subjects.flatMap((marks, at) =>
                marks.some(({ value }) => suppressed.includes(value)) ? [at] : [],
              ),
            ),
        }
      : {}),
  })
  await advance.tasks([waiting])
  return { moves, wanted }
}

describe('a person who is found by a lookup', () => {
  test('is asked for further', async () => {
    const { moves, wanted } = await advanced([])
    expect(moves).toMatchObject([{ status: 'looking_up', waitingFor: 'person.profile|profnet.com/in/ann' }])
    expect(wanted).toEqual(['person.profile|profnet.com/in/ann'])
    expect(await advanced()).toEqual({ moves, wanted })
  })

  test('and stands on the list is left alone, and nothing more is bought', async () => {
    const { moves, wanted } = await advanced(['profnet.com/in/ann'])
    expect(moves).toMatchObject([
      { status: 'skipped', reason: 'suppressed', waitingFor: null, patch: null, steps: [contact] },
    ])
    expect(wanted).toEqual([])
  })
})
