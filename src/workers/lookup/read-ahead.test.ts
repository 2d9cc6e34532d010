import { beforeEach, expect, test } from 'vitest'
import type { LookupKey } from '../../domain/keys.ts'
import type { Purchase } from '../../pay/purchase.ts'
import type { LookupRow } from '../../store/ledger/lookups.ts'
import { createLookUp, type LookUpOptions } from './look-up.ts'

const key = 'company.profile|profnet.example/company/acme' as LookupKey
const row = { key, operation: 'company.profile', request: {}, state: 'waiting', tries: 0, runId: 'r1' }
const none = { open: undefined, lost: 0 }
/** The steps that were begun and, with a full stop, ended. */
let steps: string[]
beforeEach(() => (steps = []))

async function step<T>(name: string, result: T): Promise<T> {
  steps.push(name)
  await new Promise((resolve) => setImmediate(resolve))
  steps.push(`${name}.`)
  return result
}

async function press({
  state = 'waiting',
  earlier = () => step('charges', none),
  suppressed = () => step('list', new Set<number>()),
}: {
  state?: LookupRow['state']
  earlier?: () => Promise<unknown>
  suppressed?: () => Promise<Set<number>>
}) {
  const lookUp = createLookUp({
    lookups: {
      get: () => step('row', { ...row, state }),
      fail: async (_: LookupKey, reason: string) => void steps.push(`failed: ${reason}`),
    },
    payer: {
      earlier,
      buy: async ({ readAhead }: Purchase) =>
        void steps.push((await readAhead) === none ? 'bought' : 'bought anew'),
    },
    advance: { advanceTasksWaitingFor: async () => void steps.push('advanced') },
    suppressed,
    probation: { guard: (_: unknown, { confirmed }: { confirmed: () => Promise<void> }) => confirmed() },
    access: {
      watch: async (_: string, __: string, request: () => Promise<unknown>) => void (await request()),
    },
    prepare: () => ({}),
    now: () => new Date(0),
    random: () => 0.5,
  } as unknown as LookUpOptions)
  await lookUp('hot', key, 1)
}

test('the lookup of a press has what it needs to know asked for beside its own row, and is bought with it', async () => {
  await press({})
  expect(steps.slice(0, 3).toSorted()).toEqual(['charges', 'list', 'row'])
  expect(steps.slice(-2)).toEqual(['bought', 'advanced'])
})

test('it is not bought for a subject on the list', async () => {
  await press({ suppressed: async () => new Set([0]) })
  expect(steps).toContain('failed: suppressed')
  expect(steps).not.toContain('bought')
})

test('one that has ended meanwhile minds no error of what it asked in vain', async () => {
  const away = () => Promise.reject(new Error('away'))
  await press({ state: 'answered', earlier: away, suppressed: away })
  expect(steps).toEqual(['row', 'row.', 'advanced'])
})
