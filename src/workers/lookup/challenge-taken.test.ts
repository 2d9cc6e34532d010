import { expect, test } from 'vitest'
import { RetriableError } from '../../domain/errors.ts'
import { lookupKey } from '../../domain/keys.ts'
import { createAccessWatch } from './access-watch.ts'
import { createLookUp, type LookUpOptions } from './look-up.ts'

const key = lookupKey('company.profile', 'profnet.example/company/acme')
const at = new Date('2026-04-04T04:04:04Z')

test('a server that gives every payment the same challenge is asked six times, then every five minutes', async () => {
  const done: string[] = []
  let tries = 0
  const lookUp = createLookUp({
    lookups: {
      get: async () => ({
        key,
        operation: 'company.profile',
        request: {},
        state: 'waiting',
        runId: 'r',
        tries,
      }),
      async postpone(_: string, due: Date) {
        tries += 1
        done.push(`again in ${due.getTime() - at.getTime()} ms`)
      },
      async park(_: string, due: Date | null, cause: { code: string; reason: string }) {
        done.push(`parked ${due!.getTime() - at.getTime()} ms ${cause.code}: ${cause.reason}`)
      },
    },
    payer: {
      buy: async () => {
        throw new RetriableError('challenge_taken', 'the service gave another payment the same challenge')
      },
    },
    prepare: () => ({}),
    suppressed: async () => new Set(),
    probation: { guard: (_: unknown, to: { confirmed: () => Promise<void> }) => to.confirmed() },
    access: createAccessWatch({ now: () => at }),
    advance: { advanceTasksWaitingFor: async () => {} },
    now: () => at,
    random: () => 0.5,
    onUnexpected: () => {},
  } as unknown as LookUpOptions)
  for (let i = 0; i < 7; i++) expect(await lookUp('background', key, 1)).toBeUndefined()
  const parked = 'parked 300000 ms challenge_taken: the service gave another payment the same challenge'
  expect(done).toEqual([
    'again in 500 ms',
    'again in 1000 ms',
    'again in 2000 ms',
    'again in 4000 ms',
    'again in 8000 ms',
    parked,
    parked,
  ])
})
