import { expect, test } from 'vitest'
import { noSightings, sight, type Judged } from './sightings.ts'

const start = 1_800_000_000_000

function judgedOf(answers: readonly (readonly [sentMs: number, atMs: number, isServed: boolean])[]) {
  let sightings = noSightings
  const all: Judged[] = []
  for (const [sentMs, atMs, isServed] of answers) {
    const next = sight(sightings, { sentMs: start + sentMs, atMs: start + atMs, isServed })
    sightings = next.sightings
    all.push(...next.judged)
  }
  return all
}

test('a refusal that a process heard of late was beside everything that it heard of as late', () => {
  const usual = Array.from({ length: 60 }, (_, n) => [10 * n, 10 * n + 45, true] as const)
  // The process stands still for 230 ms, and hears of the refusal first.
  const six = Array.from({ length: 6 }, (_, n) => [1_000 + n, 1_241, true] as const)
  const after = Array.from({ length: 60 }, (_, n) => [1_300 + 10 * n, 1_345 + 10 * n, true] as const)
  const judged = judgedOf([...usual, [1_010, 1_240, false], ...six, ...after])
  expect(judged.filter(({ isServed }) => !isServed).map(({ others }) => others)).toEqual([6])
})

test('a refused request may have come after those that left with it', () => {
  const usual = Array.from({ length: 60 }, (_, n) => [10 * n, 10 * n + 45, true] as const)
  // As when the first ones wait for their connections, and the server has the last ones before.
  const burst = Array.from({ length: 10 }, (_, n) => [1_000 + n / 10, n < 5 ? 1_005 : 1_050, n >= 5] as const)
  const later = Array.from({ length: 60 }, (_, n) => [1_001.5 + 10 * n, 1_051.5 + 10 * n, true] as const)
  const judged = judgedOf([...usual, ...burst, ...later])
  expect(judged.filter(({ isServed }) => !isServed).map(({ others }) => others)).toEqual([5, 5, 5, 5, 5])
  const ofBurst = judged.filter(({ sentMs, isServed }) => isServed && sentMs - start >= 1_000)
  expect(ofBurst.slice(0, 5).map(({ others }) => others)).toEqual([0, 1, 2, 3, 4])
})
