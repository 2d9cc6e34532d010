import { beforeEach, expect, test } from 'vitest'
import type { LookupKey } from '../../domain/keys.ts'
import type { SendPermit } from '../../domain/ports/send-permit.ts'
import type { Purchase } from '../../pay/purchase.ts'
import { permitAhead } from '../../pay/read-before.ts'
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
  permit = () => step('permit', { ready: async () => {}, done: async () => void steps.push('given back') }),
}: {
  state?: LookupRow['state']
  earlier?: () => Promise<unknown>
  suppressed?: () => Promise<Set<number>>
  permit?: () => Promise<SendPermit>
}) {
  const lookUp = createLookUp({
    lookups: {
      get: () => step('row', { ...row, state }),
      fail: async (_: LookupKey, reason: string) => void steps.push(`failed: ${reason}`),
    },
    payer: {
      earlier,
      recall: (runId: string) => step(`budgets of ${runId}`, undefined),
      permitAhead: () => permitAhead(permit),
      async buy(purchase: Purchase) {
        steps.push((await purchase.readAhead) === none ? 'bought' : 'bought anew')
        await purchase.permit?.take()
      },
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
  await lookUp('hot', key, 1, 'r1')
  // What was given up may end later.
  await new Promise((resolve) => setImmediate(resolve))
}

test('the lookup of a press has what it needs to know asked for beside its own row, and is bought with it', async () => {
  await press({})
  expect(steps.slice(0, 5).toSorted()).toEqual(['budgets of r1', 'charges', 'list', 'permit', 'row'])
  expect(steps.slice(-2)).toEqual(['bought', 'advanced'])
  expect(steps).not.toContain('given back')
})

test('it is not bought for a subject on the list', async () => {
  await press({ suppressed: async () => new Set([0]) })
  expect(steps).toContain('failed: suppressed')
  expect(steps).not.toContain('bought')
  expect(steps.filter((each) => each === 'given back')).toHaveLength(1)
})

test('one that has ended meanwhile minds no error of what it asked in vain', async () => {
  const away = () => Promise.reject(new Error('away'))
  await press({ state: 'answered', earlier: away, suppressed: away, permit: away })
  expect(steps.filter((each) => !each.startsWith('budgets'))).toEqual(['row', 'row.', 'advanced'])
})

test('a permit is taken once, and not when it was given too long ago', async () => {
  const clock = { ms: 0 }
  const given = { ready: async () => {}, done: async () => void steps.push('given back') }
  const ahead = () =>
    permitAhead(
      async () => given,
      () => clock.ms,
    )
  const [fresh, old] = [ahead(), ahead()]
  await Promise.resolve()
  clock.ms = 250
  expect(await fresh.take()).toBe(given)
  expect(fresh.take()).toBeUndefined()
  fresh.giveBack()
  clock.ms = 251
  expect(old.take()).toBeUndefined()
  old.giveBack()
  old.giveBack()
  await Promise.resolve()
  expect(steps).toEqual(['given back'])
})
