import { describe, expect, test } from 'vitest'
import { createGate } from './gate.ts'

const given = (share: number) => ({ share, held: share, isTest: false })

describe('the gate while no limit is known', () => {
  function clock() {
    let nowMs = 1_000
    let alarms: { atMs: number; ring: () => void }[] = []
    const gate = createGate(
      'this',
      () => nowMs,
      (ms, ring) => alarms.push({ atMs: nowMs + ms, ring }),
    )
    const left: Record<string, number> = {}
    const depart = (id: string, lane: 'hot' | 'background' = 'background') => {
      gate.granted(id, lane)
      gate.depart(id, () => (left[id] = nowMs - 1_000))
    }
    const wait = (ms: number) => {
      for (const endMs = nowMs + ms; ;) {
        const next = alarms.toSorted((a, b) => a.atMs - b.atMs)[0]
        if (!next || next.atMs > endMs) return void (nowMs = endMs)
        alarms = alarms.filter((alarm) => alarm !== next)
        nowMs = Math.max(nowMs, next.atMs)
        next.ring()
      }
    }
    /** A process that does not get its turn rings its alarms late. */
    const stall = (ms: number) => {
      nowMs += ms
      wait(0)
    }
    return { gate, left, depart, wait, stall }
  }

  test('what became ready as a group leaves apart, and what comes evenly waits for nothing', () => {
    const { gate, left, depart, wait } = clock()
    gate.paced(50)
    for (const id of ['a', 'b', 'c']) depart(id)
    expect(left).toEqual({ a: 0 })
    wait(200)
    expect(left).toEqual({ a: 0, b: 50, c: 100 })
    depart('d')
    wait(50)
    depart('e')
    expect(left).toMatchObject({ d: 200, e: 250 })
  })

  test('a late timer is made up for, by no gap below 0.6 of the interval', () => {
    const { gate, left, depart, wait, stall } = clock()
    gate.paced(50)
    for (const id of ['a', 'b', 'c', 'd']) depart(id)
    stall(57.5)
    wait(10)
    stall(77.5)
    wait(100)
    expect(left).toEqual({ a: 0, b: 57.5, c: 145, d: 175 })
  })

  test('a press leaves at once, and the next of a group keeps away from it', () => {
    const { gate, left, depart, wait } = clock()
    gate.paced(40)
    depart('a')
    depart('b')
    wait(20)
    depart('press', 'hot')
    wait(100)
    expect(left).toEqual({ a: 0, press: 20, b: 60 })
  })

  test('nothing waits longer than 300 ms for that', () => {
    const { gate, left, depart, wait } = clock()
    gate.paced(10_000)
    for (const id of ['a', 'b', 'c']) depart(id)
    wait(299)
    expect(left).toEqual({ a: 0 })
    wait(1)
    expect(left).toEqual({ a: 0, b: 300, c: 300 })
  })

  test('a line that has become long is made shorter', () => {
    const { gate, left, depart, wait } = clock()
    gate.paced(50)
    for (const id of ['a', 'b', 'c', 'd', 'e']) depart(id)
    wait(250)
    expect(left).toEqual({ a: 0, b: 50, c: 100, d: 150, e: 197.5 })
  })

  test('what has its permit waits for the end of a pause, presses do not, and nothing longer than 700 ms', () => {
    const { gate, left, depart, wait } = clock()
    gate.paced(50)
    gate.pause(1_000 + 120)
    depart('a')
    depart('b')
    depart('press', 'hot')
    wait(110)
    expect(left).toEqual({ press: 0 })
    wait(100)
    expect(left).toEqual({ press: 0, a: 120, b: 170 })
    gate.pause(1_000 + 60_000)
    depart('c')
    wait(690)
    expect(left).not.toHaveProperty('c')
    wait(10)
    expect(left).toMatchObject({ c: 910 })
  })

  test('the interval of the trials in a pause says nothing of those that have their permits', () => {
    const { gate, left, depart, wait } = clock()
    gate.paced(30)
    depart('a')
    depart('b')
    gate.pause(1_000 + 500)
    gate.paced(500)
    depart('c')
    wait(499)
    expect(left).toEqual({ a: 0 })
    // The pace that was refused was too fast.
    wait(95)
    expect(left).toEqual({ a: 0, b: 500, c: 590 })
  })

  test('what follows a trial waits for the interval of its own permits, not for that of trials', () => {
    const { gate, left, depart, wait } = clock()
    gate.paced(1_000)
    depart('trial')
    wait(200)
    // It was served, and the pause ends a little later. The permit for its end is taken a little ahead.
    gate.pause(1_000 + 400)
    wait(190)
    gate.paced(50)
    wait(10)
    depart('first')
    depart('second')
    wait(40)
    gate.paced(50)
    wait(60)
    depart('third')
    wait(100)
    expect(left).toEqual({ trial: 0, first: 400, second: 450, third: 500 })
  })

  test('what stands ready when the pace becomes faster leaves at once, and the next in its intervals', () => {
    const { gate, left, depart, wait } = clock()
    gate.paced(200)
    for (const id of ['a', 'b', 'c', 'd']) depart(id)
    wait(60)
    gate.paced(50)
    wait(30)
    // A slower one is that of the permits to come.
    gate.paced(80)
    wait(120)
    expect(left).toEqual({ a: 0, b: 60, c: 110, d: 190 })
  })

  test('what was late at the longer interval stands no nearer to the next at the shorter one', () => {
    const { gate, left, depart, wait, stall } = clock()
    gate.paced(1_000)
    depart('a')
    wait(950)
    depart('b')
    depart('c')
    stall(90)
    gate.paced(50)
    wait(100)
    expect(left).toEqual({ a: 0, b: 1_040, c: 1_072.5 })
  })

  test('in a pause, a pace like that of trials, or too fine to be held apart, is not that of what stands ready', () => {
    for (const intervalMs of [100, 5]) {
      const { gate, left, depart, wait } = clock()
      gate.paced(200)
      for (const id of ['a', 'b', 'c']) depart(id)
      gate.landed('a', true)
      gate.pause(1_000 + 250)
      gate.paced(intervalMs)
      wait(190)
      expect(left).toEqual({ a: 0 })
      wait(200)
      expect(left).toMatchObject({ a: 0, b: 200 })
    }
  })

  test('a pace that becomes too fine to be held apart in a pause does not end it', () => {
    const { gate, left, depart, wait } = clock()
    gate.paced(9)
    for (const id of ['a', 'b', 'c']) depart(id)
    wait(1)
    gate.landed('a', true)
    gate.paced(7.9)
    wait(59)
    expect(left).toEqual({ a: 0 })
    wait(20)
    expect(left).toEqual({ a: 0, b: 61, c: 70 })
  })

  test('a pause that ends sooner than was said lets the next go at once', () => {
    const { gate, left, depart, wait } = clock()
    gate.paced(50)
    gate.pause(1_000 + 250)
    depart('a')
    depart('b')
    wait(30)
    gate.pause(0)
    wait(60)
    expect(left).toEqual({ a: 30, b: 80 })
  })

  test('where permits are further apart than 100 ms, or so close that nothing is held apart, there is no pause', () => {
    for (const intervalMs of [0, 150]) {
      const { gate, left, depart } = clock()
      gate.paced(intervalMs)
      gate.pause(1_000 + 200)
      depart('a')
      expect(left).toEqual({ a: 0 })
    }
  })

  test('a block also holds what need not be apart', () => {
    const { gate, left, depart, wait } = clock()
    gate.paced(0)
    gate.pause(1_000 + 250)
    gate.paced(250)
    for (const id of ['a', 'b', 'c']) depart(id)
    wait(300)
    expect(Object.values(left).map(Math.round)).toEqual([250, 274, 298])
  })

  test('a refusal stops what stands ready until its pause is told, and does not shorten one', () => {
    const { gate, left, depart, wait } = clock()
    gate.paced(20)
    for (const id of ['a', 'b', 'c']) depart(id)
    wait(1)
    gate.landed('a', true)
    wait(58)
    expect(left).toEqual({ a: 0 })
    gate.pause(1_000 + 200)
    depart('press', 'hot')
    gate.landed('press', true)
    wait(180)
    expect(left).toEqual({ a: 0, press: 59, b: 200, c: 219 })
  })

  test('a request that is given up meanwhile is not sent, and the next takes its turn', () => {
    const { gate, left, depart, wait } = clock()
    gate.paced(50)
    for (const id of ['a', 'b', 'c']) depart(id)
    gate.landed('b', false)
    wait(200)
    expect(left).toEqual({ a: 0, c: 50 })
  })

  test('permits at a fine interval, and those of slots, are not held apart', () => {
    const { gate, left, depart, wait } = clock()
    gate.paced(50)
    depart('a')
    depart('b')
    gate.told(given(3))
    expect(left).toEqual({ a: 0, b: 0 })
    gate.told(undefined)
    wait(100)
    gate.paced(0)
    depart('c')
    depart('d')
    expect(left).toMatchObject({ c: 100, d: 100 })
  })
})
