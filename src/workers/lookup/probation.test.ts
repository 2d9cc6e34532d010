import { describe, expect, test } from 'vitest'
import { AccessRefusedError, OperationStoppedError, RetriableError } from '../../domain/errors.ts'
import { lookupKey, type LookupKey } from '../../domain/keys.ts'
import type { Fact } from '../../domain/record.ts'
import type { OperationPlace, OperationState } from '../../store/contract/operation-states.ts'
import { createProbation } from './probation.ts'

const place: OperationPlace = {
  operation: 'job.search',
  part: '',
  place: 'POST https://x.example/jobs/search',
}
const keyOf = (name: string) => lookupKey('job.search', name)

/** Probations of several processes, over one ledger in memory. */
function openStage() {
  const ledger: { state?: OperationState; holder?: { key: LookupKey; until: Date } | undefined } = {}
  const events: string[] = []
  let clockMs = Date.UTC(2026, 10, 1)
  const now = () => new Date(clockMs)
  const stateOf = (state: OperationState['state'], code: string | null, reason: string | null) => {
    ledger.state = { ...place, state, code, reason, since: now(), confirmedAt: null }
    ledger.holder = undefined
  }
  const start = () =>
    createProbation({
      placeOf: (operation, part) =>
        operation === 'job.search' && part === '' ? { ...place, timeoutMs: 30_000 } : undefined,
      store: {
        async take(_, { key, until }) {
          events.push(`take ${key.split('|')[1]}`)
          if (ledger.state) return ledger.state
          if (ledger.holder && ledger.holder.key !== key && ledger.holder.until > now())
            return { state: 'busy', holder: ledger.holder.key }
          ledger.holder = { key, until }
          return 'taken'
        },
        async release() {
          if (ledger.holder) ledger.holder.until = now()
        },
        confirm: async () => stateOf('confirmed', null, null),
        stop: async (_, { code, reason }) => stateOf('stopped', code, reason),
        states: async () => (ledger.state ? [ledger.state] : []),
      },
      now,
      onStopped: ({ operation }) => void events.push(`stopped ${operation}`),
    })
  return { ledger, events, start, pass: (ms: number) => void (clockMs += ms) }
}

type Started = ReturnType<ReturnType<typeof openStage>['start']>
/** Guards a request of a lookup. Returns which of the two requests was made, or the error. */
async function guarded(
  probation: Started,
  name: string,
  answer: () => Promise<Fact> = async () => ({ outcome: 'found', data: {} }),
  operation: 'job.search' | 'company.profile' = 'job.search',
) {
  const made: string[] = []
  const asked = (which: string) => async () => {
    made.push(which)
    return answer()
  }
  try {
    await probation.guard(
      { operation, part: '', request: {}, key: keyOf(name) },
      { single: asked('single'), confirmed: async () => void (await asked('confirmed')()) },
    )
    return made.join()
  } catch (error) {
    return error
  }
}
const failing = (error: Error) => async (): Promise<never> => {
  throw error
}
const isWaiting = expect.objectContaining({
  name: RetriableError.name,
  code: 'on_probation',
  countsAsTry: false,
})
const isStopped = expect.objectContaining({ name: OperationStoppedError.name, code: 'operation_stopped' })

describe('an operation that no answer has confirmed', () => {
  test('has one request in flight over all processes, and then as many as there are', async () => {
    const stage = openStage()
    const [here, there] = [stage.start(), stage.start()]
    let answer: (fact: Fact) => void = () => {}
    const first = guarded(here, 'a', () => new Promise((resolve) => (answer = resolve)))
    await Promise.resolve()
    expect(await guarded(here, 'b')).toEqual(isWaiting)
    expect(await guarded(there, 'c')).toEqual(isWaiting)
    expect(await guarded(there, 'd')).toEqual(isWaiting)
    // The process that holds the request asks nobody, and the other one not for each lookup.
    expect(stage.events).toEqual(['take a', 'take c'])
    answer({ outcome: 'not_found', data: null })
    expect(await first).toBe('single')
    expect(await guarded(here, 'b')).toBe('confirmed')
    stage.pass(500)
    expect(await guarded(there, 'c')).toBe('confirmed')
    expect(await Promise.all(['d', 'e', 'f'].map((name) => guarded(there, name)))).toEqual(
      Array(3).fill('confirmed'),
    )
    // Known in memory: no query a lookup.
    expect(stage.events).toEqual(['take a', 'take c', 'take c'])
  })

  test('makes the others wait longer the longer its request takes, to five seconds', async () => {
    const stage = openStage()
    const here = stage.start()
    void guarded(here, 'a', () => new Promise(() => {}))
    await Promise.resolve()
    const waits: unknown[] = []
    for (const ms of [0, 300, 700, 60_000]) {
      stage.pass(ms)
      waits.push(((await guarded(here, 'b')) as RetriableError).retryAfterMs)
    }
    expect(waits).toEqual([100, 300, 1_000, 5_000])
  })

  test('lets the lookup in that has the request already, however many others have just asked', async () => {
    const stage = openStage()
    void guarded(stage.start(), 'a', () => new Promise(() => {}))
    await Promise.resolve()
    // Its process is killed. In the next one the lookup comes each time right behind another that waits.
    const next = stage.start()
    expect(await Promise.all([guarded(next, 'b'), guarded(next, 'a')])).toEqual([isWaiting, isWaiting])
    stage.pass(5_000)
    expect(await Promise.all([guarded(next, 'b'), guarded(next, 'a')])).toEqual([isWaiting, 'single'])
    expect(stage.ledger.state).toMatchObject({ state: 'confirmed' })
  })

  test.each([401, 403, 404])('is stopped by a %i alone, and asks for nothing more', async (status) => {
    const stage = openStage()
    const here = stage.start()
    const refusal = new AccessRefusedError('refused', 'refused', { details: { status } })
    const error = await guarded(here, 'a', failing(refusal))
    expect(error).toEqual(isStopped)
    expect(String(error)).toContain(`answers ${status}`)
    expect(String(error)).toContain('`paydirt service retry job.search`')
    expect(String(error)).toContain(status === 401 ? 'Check PAYDIRT_API_KEY' : 'service.operations')
    if (status === 401) expect(String(error)).not.toContain('service.operations')
    expect(await guarded(here, 'b')).toEqual(isStopped)
    expect(await guarded(stage.start(), 'c')).toEqual(isStopped)
    expect(await guarded(here, 'p', undefined, 'company.profile')).toBe('confirmed')
    expect(stage.events).toEqual(['take a', 'stopped job.search', 'take c'])
  })

  test('is stopped by one unreadable answer, which its own lookup keeps', async () => {
    const stage = openStage()
    const here = stage.start()
    expect(await guarded(here, 'a', async () => ({ outcome: 'unreadable', data: null }))).toBe('single')
    expect(await guarded(here, 'b')).toEqual(isStopped)
    expect(stage.ledger.state).toMatchObject({ state: 'stopped', code: 'unreadable' })
  })

  test('goes on when a person lets it, in every process at once', async () => {
    const stage = openStage()
    const [here, there] = [stage.start(), stage.start()]
    await guarded(here, 'a', failing(new AccessRefusedError('x', 'x', { details: { status: 404 } })))
    expect(await guarded(there, 'b')).toEqual(isStopped)
    delete stage.ledger.state
    expect(await guarded(there, 'b')).toBe('single')
    expect(await guarded(here, 'a')).toBe('confirmed')
  })

  test.each([
    ['an error that says nothing about it', failing(new RetriableError('service_error', 'x'))],
    ['an answer that says nothing about it', async (): Promise<Fact> => ({ outcome: 'failed', data: null })],
  ])('passes its request on after %s', async (_, answer) => {
    const stage = openStage()
    const here = stage.start()
    await guarded(here, 'a', answer)
    expect(await guarded(here, 'b')).toBe('single')
    expect(stage.ledger.state).toMatchObject({ state: 'confirmed' })
  })

  test('is asked for again where the ledger could not be asked', async () => {
    const stage = openStage()
    const here = stage.start()
    const broken = createProbation({
      placeOf: () => ({ ...place, timeoutMs: 1 }),
      store: {
        take: async () => {
          throw new Error('away')
        },
      } as never,
      now: () => new Date(),
      onStopped: () => {},
    })
    expect(await guarded(broken, 'a')).toEqual(new Error('away'))
    expect(await guarded(broken, 'a')).toEqual(new Error('away'))
    expect(await guarded(here, 'a')).toBe('single')
  })
})

test('batches are formed for all operations but those whose batches, or the answers to them, are stopped here', async () => {
  const states: Partial<OperationState>[] = [
    { operation: 'contact.lookup', part: 'batch', place: 'POST here', state: 'stopped' },
    { operation: 'contact.redeem', part: 'answer', place: 'POST here', state: 'stopped' },
    { operation: 'company.lookup', part: '', place: 'POST here', state: 'stopped' },
    { operation: 'person.lookup', part: 'batch', place: 'POST elsewhere', state: 'stopped' },
    { operation: 'job.search', part: 'batch', place: 'POST here', state: 'confirmed' },
  ]
  let asked = 0
  const { hasNoBatches } = createProbation({
    placeOf: (operation, part) => ({ operation, part, place: 'POST here', timeoutMs: 1 }),
    store: {
      states: async () => {
        asked += 1
        return states
      },
    } as never,
    now: () => new Date(0),
    onStopped: () => {},
  })
  const found = []
  for (const { operation } of states) found.push(await hasNoBatches(operation!))
  expect(found).toEqual([true, true, false, false, false])
  expect(asked).toBe(1)
})
