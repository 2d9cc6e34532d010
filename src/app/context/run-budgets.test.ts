import { expect, test } from 'vitest'
import { createRunBudgets } from './run-budgets.ts'

const now = new Date('2026-05-05T12:00:00Z')

function open() {
  const asked: string[] = []
  let isAway = false
  const budgets = createRunBudgets({
    tokens: {
      ofRun: async (runId) => {
        asked.push(runId)
        if (isAway) throw new Error('away')
        return { id: 'tk_1', dayCapAtomic: 5_000n }
      },
    },
    listOf: async () => 'accounts',
    listMonths: () => undefined,
    matchCaps: () => ({ dayAtomic: undefined, monthAtomic: undefined }),
  })
  return { budgets, asked, setAway: (value: boolean) => (isAway = value) }
}

test('what was recalled of a run is not read again for its charges', async () => {
  const { budgets, asked } = open()
  await budgets.recall('run-1')
  for (const currency of ['USD', 'credit'] as const) await budgets.linesOf({ runId: 'run-1', now, currency })
  await budgets.linesOf({ runId: 'run-2', now, currency: 'USD' })
  expect(asked).toEqual(['run-1', 'run-2'])
})

test('the lines are those of the moment and the currency of the charge', async () => {
  const { budgets } = open()
  const scopes = async (at: string, currency: 'USD' | 'credit') =>
    (await budgets.linesOf({ runId: 'run-1', now: new Date(at), currency })).map(({ scope }) => scope)
  expect(await scopes('2026-05-31T23:59:59Z', 'USD')).toEqual([
    'token:tk_1:2026-05-31',
    'list:accounts:2026-05',
  ])
  expect(await scopes('2026-06-01T00:00:00Z', 'credit')).toEqual([
    'credits:token:tk_1:2026-06-01',
    'credits:list:accounts:2026-06',
  ])
})

test('a reading that failed is repeated', async () => {
  const { budgets, asked, setAway } = open()
  setAway(true)
  await expect(budgets.recall('run-1')).rejects.toThrow('away')
  setAway(false)
  expect(await budgets.linesOf({ runId: 'run-1', now, currency: 'USD' })).toHaveLength(2)
  expect(asked).toEqual(['run-1', 'run-1'])
})
