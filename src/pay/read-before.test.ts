import { expect, test } from 'vitest'
import { PaymentInDoubtError } from '../domain/errors.ts'
import { createPayer } from './payer.ts'
import { challenge, paid } from './payer-replies.fixture.ts'
import { openStage } from './payer-stage.fixture.ts'
import type { Purchase } from './purchase.ts'

type Stage = ReturnType<typeof openStage>
const none = { open: undefined, lost: 0 }

/** Buys with what was read ahead of earlier charges, and counts how often they are read again before the first answer. */
function buyKnowing({ options, purchase }: Stage, readAhead: Purchase['readAhead']) {
  const { journal } = options
  let reads = 0
  const counted = {
    ...journal,
    unanswered: async (key: Purchase['key']) => {
      reads += 1
      return journal.unanswered(key)
    },
  }
  const bought = createPayer({ ...options, journal: counted }).buy({ ...purchase, readAhead })
  return { bought, reads: () => reads }
}

test('earlier charges that were read ahead are not read again where there are none', async () => {
  const stage = openStage()
  stage.script(challenge(), paid)
  const { bought, reads } = buyKnowing(stage, Promise.resolve(none))
  expect(await bought).toMatchObject({ outcome: 'found' })
  expect(reads()).toBe(0)
})

test('one that was open is read again: nothing is decided by what it was', async () => {
  const stage = openStage()
  stage.leave({ state: 'sent' })
  const open = { ...stage.charges[0]!, state: 'journaled' as const }
  stage.script(paid)
  const { bought, reads } = buyKnowing(stage, Promise.resolve({ ...none, open }))
  expect(await bought).toMatchObject({ outcome: 'found' })
  expect(reads()).toBe(1)
  expect(stage.requests).toHaveLength(1)
})

test('one that was lost is read again', async () => {
  const stage = openStage()
  stage.script(challenge(), paid)
  const { bought, reads } = buyKnowing(stage, Promise.resolve({ ...none, lost: 3 }))
  expect(await bought).toMatchObject({ outcome: 'found' })
  expect(reads()).toBe(1)
})

test('one that another worker has opened since is found: nothing is bought beside it', async () => {
  const stage = openStage()
  stage.leave({ state: 'sent' })
  stage.script(challenge())
  await expect(buyKnowing(stage, Promise.resolve(none)).bought).rejects.toMatchObject({
    name: PaymentInDoubtError.name,
  })
  expect(stage.charges).toHaveLength(1)
})

test('an error of the reading is that of the purchase, and nothing is sent', async () => {
  const stage = openStage()
  await expect(buyKnowing(stage, Promise.reject(new Error('away'))).bought).rejects.toThrow('away')
  expect(stage.requests).toEqual([])
})

test('the budgets of the run are read beside the wait for the pace, and need not be there', async () => {
  const stage = openStage()
  stage.script(challenge(), paid)
  const steps: string[] = []
  const bought = createPayer({
    ...stage.options,
    recallRun: async (runId) => {
      steps.push(`recall ${runId}`)
      throw new Error('away')
    },
    acquirePermit: async (...asked) => {
      await Promise.resolve()
      steps.push('permit')
      return stage.options.acquirePermit(...asked)
    },
  }).buy(stage.purchase)
  expect(await bought).toMatchObject({ outcome: 'found' })
  // The first permit is that of the request for terms, before which nothing is known to be reserved.
  expect(steps).toEqual(['permit', `recall ${stage.purchase.runId}`, 'permit'])
})
