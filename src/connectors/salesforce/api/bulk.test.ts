import { parse } from 'csv-parse/sync'
import { expect, test } from 'vitest'
import { fitsBulk, toJobs } from './bulk.ts'
import type { Body } from './collections.ts'

const update = (id: string, body: Body) => ({ index: 0, id, body })
const rowsOf = (csv: string): string[][] => parse(csv)

test('every row has every column: a cell leaves, clears or sets', () => {
  const [job] = toJobs([update('1', { B: 'x' }), update('2', { A: null, C: 7 }), update('3', { A: true })])
  expect(rowsOf(job!.csv)).toEqual([
    ['Id', 'A', 'B', 'C'],
    ['1', '', 'x', ''],
    ['2', '#N/A', '', '7'],
    ['3', 'true', '', ''],
  ])
  expect(job!.updates).toHaveLength(3)
})

test('quotes, commas and line ends survive', () => {
  const text = 'a "quoted", long\r\nline\n'
  const [job] = toJobs([update('1', { A: text })])
  expect(rowsOf(job!.csv)).toEqual([
    ['Id', 'A'],
    ['1', text],
  ])
})

test('parts are whole rows under a header of their own, in order', () => {
  const updates = Array.from({ length: 10 }, (_, at) => update(`id${at}`, { A: 'x'.repeat(20) }))
  const jobs = toJobs(updates, { maxCharacters: 80 })
  expect(jobs.map((job) => job.updates.length)).toEqual([3, 3, 3, 1])
  expect(jobs.flatMap(({ csv }) => rowsOf(csv).slice(1)).map(([id]) => id)).toEqual(
    updates.map(({ id }) => id),
  )
  expect(jobs.every(({ csv }) => csv.startsWith('Id,A\n'))).toBe(true)
})

test('a text that would clear does not fit a job', () => {
  expect(fitsBulk({ A: '#N/A' })).toBe(false)
  expect(fitsBulk({ A: null, B: 'n/a' })).toBe(true)
})
