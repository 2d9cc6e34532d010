import { expect, test } from 'vitest'
import { defaultPrices } from '../domain/planning/prices.ts'
import { builtInRecipes, type Recipe } from '../domain/planning/recipes.ts'
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
