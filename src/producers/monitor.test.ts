import { expect, test } from 'vitest'
import { builtInRecipes } from '../domain/planning/recipes.ts'
import { createMonitor } from './monitor.ts'

/** One delivery is to be worked, and another one is being stored until `stored` resolves. */
function monitorBeside(stored: Promise<boolean>) {
  const done: string[] = []
  const due = [
    { digest: 'd', body: '{"signals":[{"domain":"a.example"}]}', tries: 1, receivedAt: new Date() },
  ]
  const monitor = createMonitor({
    deliveries: {
      add: () => stored,
      lease: async () => due.splice(0),
      admit: async () => (done.push('worked'), new Set()),
      finish: async () => {},
      prune: async () => {},
    } as never,
    index: { find: async () => [] },
    onDemand: { request: async () => [] },
    connectors: [],
    recipes: builtInRecipes,
    recipe: 'profile',
    networkName: 'profnet',
    now: () => new Date('2026-11-20T12:00:00Z'),
    onError: (error) => done.push(String(error)),
  })
  return { monitor, done }
}

test('work waits while a delivery is being stored', async () => {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const { monitor, done } = monitorBeside(promise)
  const received = monitor.receive('{}').then(() => done.push('stored'))
  const worked = monitor.work()
  setImmediate(() => resolve(true))
  await Promise.all([received, worked])
  expect(done).toEqual(['stored', 'worked'])
})

test('work goes on all the same where a delivery takes long to be stored', async () => {
  const { monitor, done } = monitorBeside(new Promise(() => {}))
  void monitor.receive('{}')
  expect(await monitor.work()).toBe(1)
  expect(done).toEqual(['worked'])
})
