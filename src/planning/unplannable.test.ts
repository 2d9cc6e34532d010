import { describe, expect, test } from 'vitest'
import { defaultPrices } from '../domain/planning/prices.ts'
import { builtInRecipes, type Recipe } from '../domain/planning/recipes.ts'
import type { WaitingTask } from '../store/runs/waiting-tasks.ts'
import { createAdvance } from './advance.ts'
import { createStepPlanner } from './step-planner.ts'

test('a record whose values break the planning is rejected with its reason, and the others are planned', async () => {
  const failures: object[] = []
  const broken = new Proxy({} as Recipe, {
    get(_, name) {
      if (name === 'priceCeilingAtomic') return undefined
      throw new RangeError('Maximum call stack size exceeded, at Jane Doe')
    },
  })
  const planner = createStepPlanner({
    lookups: { facts: async () => new Map(), paidBy: async () => new Map() } as never,
    recipes: (object, name) => (name === 'broken' ? broken : builtInRecipes(object, name)),
    prices: defaultPrices,
    suppressed: async () => new Set(),
    now: () => new Date('2026-11-22'),
    onUnexpected: (failure) => void failures.push(failure),
  })
  const good = {
    runId: 'r',
    recipe: 'profile',
    object: 'company' as const,
    identity: { profileUrl: 'https://www.profnet.example/company/acme' },
    steps: [],
  }
  const bad = { ...good, recipe: 'broken' }
  const decisions = await planner.decide([good, bad, good])
  expect(decisions.map(({ kind }) => kind)).toEqual(['lookup', 'stop', 'lookup'])
  expect(decisions[1]).toMatchObject({
    status: 'rejected',
    reason: expect.stringMatching(/^unexpected error: RangeError at /),
  })
  expect(failures).toHaveLength(1)
  expect(JSON.stringify(failures)).not.toContain('Jane')
})

describe('what the ledger cannot store', () => {
  /** Text that no compression shortens. */
  const long = Array.from({ length: 900 }, (_, at) =>
    String.fromCharCode(0x4e00 + ((at * 7_919) % 20_000)),
  ).join('')
  const person = {
    runId: 'r',
    recipe: 'contact',
    object: 'person' as const,
    identity: { firstName: 'Ada', lastName: 'Moreau', company: 'Acme' },
    steps: [],
  }

  test('a lookup by too long a text is not asked for, and the record is rejected', async () => {
    const planner = createStepPlanner({
      lookups: { facts: async () => new Map(), paidBy: async () => new Map() } as never,
      recipes: builtInRecipes,
      prices: defaultPrices,
      suppressed: async () => new Set(),
      now: () => new Date('2026-11-22'),
    })
    const bad = { ...person, identity: { ...person.identity, company: long } }
    const decisions = await planner.decide([person, bad])
    expect(decisions).toMatchObject([{ kind: 'lookup' }, { kind: 'stop', status: 'rejected' }])
  })

  test('rejects its task alone: the others of the page are moved', async () => {
    const waiting = Array.from({ length: 9 }, (_, at) => ({
      id: BigInt(at),
      steps: [],
      waitingFor: `person.profile|${at}`,
    })) as unknown as WaitingTask[]
    const status = new Map<bigint, string>()
    const advance = createAdvance({
      planner: {
        decide: async (all) => all.map(() => ({ kind: 'write', patch: {}, reason: null })),
      },
      lookups: { facts: async () => new Map(), want: async () => {}, stopped: async () => new Map() },
      tasks: {
        waitingFor: async () => waiting,
        async move(moves) {
          if (moves.some((move) => move.id === 4n && move.status !== 'rejected'))
            throw Object.assign(new Error('index row size 6024 exceeds btree version 4 maximum 2704'), {
              code: '54000',
            })
          for (const move of moves) status.set(move.id, move.status)
        },
      },
      onReady: () => {},
      onWanted: () => {},
    })
    await advance.advanceTasksWaitingFor(waiting.map(({ waitingFor }) => waitingFor))
    expect([...status].filter(([, now]) => now === 'rejected').map(([id]) => id)).toEqual([4n])
    expect(status.size).toBe(9)
  })
})
