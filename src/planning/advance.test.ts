import { describe, expect, test } from 'vitest'
import type { LookupKey } from '../domain/keys.ts'
import { defaultPrices } from '../domain/planning/prices.ts'
import { builtInRecipes, type RecipeBook } from '../domain/planning/recipes.ts'
import type { LookupLedger } from '../store/ledger/lookups.ts'
import type { TaskMove, WaitingTask } from '../store/runs/waiting-tasks.ts'
import { createAdvance } from './advance.ts'
import { createStepPlanner } from './step-planner.ts'

type Lookups = Pick<LookupLedger, 'facts' | 'paidBy' | 'want'> & Partial<Pick<LookupLedger, 'freshFacts'>>

async function advanceBy(
  lookups: Lookups,
  task: WaitingTask,
  by: { suppressed?: readonly string[]; recipes?: RecipeBook } = {},
): Promise<TaskMove[]> {
  const { suppressed = [], recipes = builtInRecipes } = by
  const moves: TaskMove[] = []
  const advance = createAdvance({
    planner: createStepPlanner({
      lookups: { freshFacts: async (keys) => lookups.facts([...keys]), ...lookups },
      recipes,
      prices: defaultPrices,
      suppressed: async (subjects) =>
        new Set(
          subjects().flatMap((marks, at) =>
            marks.some(({ value }) => suppressed.includes(value)) ? [at] : [],
          ),
        ),
      now: () => new Date('2026-11-20'),
    }),
    lookups: { stopped: async () => new Map(), ...lookups },
    tasks: { move: async (all) => void moves.push(...all), waitingFor: async () => [task] },
    onReady: () => {},
    onWanted: () => {},
  })
  await advance.advanceTasksWaitingFor([task.waitingFor])
  return moves
}

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

async function advanced(suppressed: readonly string[]) {
  const wanted: string[] = []
  const fact = {
    operation: 'contact.lookup' as const,
    outcome: 'found' as const,
    data: { profnet_url: 'https://www.profnet.com/in/ann', people_search_id: 'p1' },
    freshUntil: new Date('2999-01-01'),
  }
  const lookups: Lookups = {
    facts: async (keys) => new Map(keys.filter((key) => key === contact).map((key) => [key, fact])),
    paidBy: async () => new Map(),
    want: async (all) => void wanted.push(...all.map(({ key }) => key)),
  }
  return { moves: await advanceBy(lookups, waiting, { suppressed }), wanted }
}

describe('a person who is found by a lookup', () => {
  test('is asked for further', async () => {
    const { moves, wanted } = await advanced([])
    expect(moves).toMatchObject([{ status: 'looking_up', waitingFor: 'person.profile|profnet.com/in/ann' }])
    expect(wanted).toEqual(['person.profile|profnet.com/in/ann'])
  })

  test('and is suppressed is left alone, and nothing more is bought', async () => {
    const { moves, wanted } = await advanced(['profnet.com/in/ann'])
    expect(moves).toMatchObject([
      { status: 'skipped', reason: 'suppressed', waitingFor: null, patch: null, steps: [contact] },
    ])
    expect(wanted).toEqual([])
  })
})

describe('a price ceiling', () => {
  const recipe =
    (priceCeilingAtomic: bigint): RecipeBook =>
    () => ({
      name: 'mail',
      fields: ['email'],
      steps: ['contact.lookup', 'contact.redeem'],
      priceCeilingAtomic,
    })

  async function next(ceilingAtomic: bigint, ledger: { paid?: bigint; isFresh?: true }) {
    const found = { outcome: 'found' as const, freshUntil: new Date('2999-01-01') }
    const named = { ...waiting, identity: { firstName: 'Ann', lastName: 'Lee', company: 'Acme' } }
    const lookups: Lookups = {
      facts: async (keys) =>
        new Map(
          keys
            .filter((key) => key === contact || (ledger.isFresh && key.startsWith('contact.redeem')))
            .map((key) => [
              key,
              {
                ...found,
                operation: 'contact.lookup',
                data: { profnet_url: 'https://www.profnet.com/in/ann', job_title: 'CEO', emails: null },
              },
            ]),
        ),
      want: async () => {},
      paidBy: async () => new Map(ledger.paid === undefined ? [] : [[contact, ledger.paid]]),
    }
    return advanceBy(lookups, named, { recipes: recipe(ceilingAtomic) })
  }

  test('counts what the run paid for the record, and not answers that the ledger had', async () => {
    // A match of 0.01 and an e-mail of 0.15 are 0.16 together.
    expect((await next(150_000n, { paid: 10_000n })).at(-1)).toMatchObject({ waitingFor: null })
    expect((await next(160_000n, { paid: 10_000n }))[0]?.waitingFor).toMatch(/^contact.redeem/)
    expect((await next(150_000n, {}))[0]?.waitingFor).toMatch(/^contact.redeem/)
  })

  test('lets a step through whose fresh answer is in the ledger already', async () => {
    const [move] = await next(20_000n, { paid: 10_000n, isFresh: true })
    expect(move?.waitingFor).not.toBeNull()
  })
})
