import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { afterPresses, giveWay, goFirst, waitOutside, type GiveWay } from './go-first.ts'

/** A press that works until it is told to go on. */
function press(work: (held: Promise<void>) => Promise<void> = (held) => held) {
  const { promise, resolve } = Promise.withResolvers<void>()
  const ended = goFirst(() => work(promise))
  return { goOn: resolve, ended }
}

/** Other work that gives way once. */
function other(step: keyof GiveWay = 'goOn') {
  const state = { hasGoneOn: false }
  const ways = giveWay(60_000)
  const ended = ways[step]().then(() => void (state.hasGoneOn = true))
  return { state, ended }
}

test('other work goes on at once where no press is at work', async () => {
  const works = (['begin', 'goOn'] as const).map(other)
  await Promise.all(works.map(({ ended }) => ended))
  expect(works.map(({ state }) => state.hasGoneOn)).toEqual([true, true])
})

test('other work goes on when the last press has ended', async () => {
  const [one, two] = [press(), press()]
  const { state, ended } = other()
  one.goOn()
  await one.ended
  await setImmediate()
  expect(state.hasGoneOn).toBe(false)
  two.goOn()
  await ended
})

test('what is short gives no way to a press that waits for the service, and what is long does', async () => {
  const answer = Promise.withResolvers<void>()
  const { goOn, ended } = press(async (held) => {
    await waitOutside(() => answer.promise)
    await held
  })
  const long = other('begin')
  await other().ended
  answer.resolve()
  await setImmediate()
  const short = other()
  await setImmediate()
  expect([long.state.hasGoneOn, short.state.hasGoneOn]).toEqual([false, false])
  goOn()
  await Promise.all([ended, long.ended, short.ended])
})

test('an answer that comes when its press has ended holds nothing up', async () => {
  const answer = Promise.withResolvers<void>()
  let late: Promise<void> | undefined
  await goFirst(async () => void (late = waitOutside(() => answer.promise)))
  answer.resolve()
  await late
  const { state, ended } = other()
  await ended
  expect(state.hasGoneOn).toBe(true)
})

test('others give way to work that a press has left behind, when it goes first by itself', async () => {
  const held = Promise.withResolvers<void>()
  let left: Promise<void> | undefined
  await goFirst(async () => void (left = goFirst(() => held.promise)))
  const { state, ended } = other()
  await setImmediate()
  expect(state.hasGoneOn).toBe(false)
  held.resolve()
  await Promise.all([left, ended])
})

test('a press that fails holds nothing up', async () => {
  await expect(goFirst(() => Promise.reject(new Error('away')))).rejects.toThrow('away')
  await other().ended
})

test('the steps of one work give way for so long together, and no longer', async () => {
  const { goOn, ended } = press()
  const way = giveWay(20)
  const sinceMs = performance.now()
  await way.goOn()
  expect(performance.now() - sinceMs).toBeGreaterThanOrEqual(19)
  // A wait of its own would take a minute.
  for (let step = 0; step < 3_000; step += 1) await way.goOn()
  goOn()
  await ended
})

test('a press that goes from step to step lets nothing between them', async () => {
  let steps = 0
  async function step(): Promise<void> {
    await setImmediate()
    steps += 1
  }
  const pressed = goFirst(step).then(() => goFirst(step))
  await other().ended
  expect(steps).toBe(2)
  await pressed
})

test('what takes long begins after the presses of its moment, also those that wait for the service, or a little later', async () => {
  const { goOn, ended } = press((held) => waitOutside(() => held))
  let done = 0
  const work = () => Promise.resolve((done += 1))
  const patient = afterPresses(work, 60_000)()
  await afterPresses(work, 1)()
  expect(done).toBe(1)
  goOn()
  await ended
  await patient
  expect(done).toBe(2)
})
