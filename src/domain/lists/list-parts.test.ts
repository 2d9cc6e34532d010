import { expect, test } from 'vitest'
import {
  countedRows,
  movedOf,
  newPart,
  nextPage,
  pagesLeft,
  reachableOf,
  withPage,
  type ListPart,
  type TakenPage,
} from './list-parts.ts'

const bounds = { pageSize: 25, lastPage: undefined, limit: undefined }

/** Takes pages in until the list ends, and returns the number of them with the parts. */
function fetch(
  names: readonly string[],
  pageOf: (part: number, page: number) => Partial<TakenPage>,
  limits: { lastPage?: number; limit?: number } = {},
): { asked: string[]; parts: ListPart[] } {
  const all = { ...bounds, ...limits }
  let parts = names.map(newPart)
  const asked: string[] = []
  for (let next = nextPage(parts, all); next && asked.length < 100; next = nextPage(parts, all)) {
    const { part, page } = next
    asked.push(`${part}.${page}`)
    const taken = { total: null, rows: 25, repeated: 0, overlap: 0, ...pageOf(part, page) }
    parts = parts.with(part, withPage(parts[part]!, taken, all))
  }
  return { asked, parts }
}

/** A page of a list that does not change. */
const still = (total: number, page: number, size = 25) => ({
  total,
  rows: Math.max(0, Math.min(size, total - (page - 1) * size)),
})

test.each([
  ['no row', 0, {}, 1],
  ['one row', 1, {}, 1],
  ['a full page', 25, {}, 1],
  ['a row more', 26, {}, 2],
  ['four full pages', 100, {}, 4],
  ['a limit', 100, { limit: 60 }, 3],
  ['a limit of whole pages', 100, { limit: 50 }, 2],
  ['fewer pages than rows', 100, { lastPage: 2 }, 2],
])('%s takes no page too many', (_, total, limits, pages) => {
  const { asked, parts } = fetch(['all'], (_part, page) => still(total, page), limits)
  expect(asked).toHaveLength(pages)
  if (!('limit' in limits)) expect(movedOf(parts[0]!, { ...bounds, ...limits })).toBe(0)
})

test('the first page of each part goes before the second of any', () => {
  const { asked } = fetch(['a', 'b'], (part, page) => still(part === 0 ? 60 : 30, page))
  expect(asked).toEqual(['0.1', '1.1', '0.2', '0.3', '1.2'])
})

test('a list that shrinks is asked for no page more, and one that grows for those that came', () => {
  expect(fetch(['all'], (_, page) => still(page === 1 ? 60 : 45, page)).asked).toHaveLength(2)
  expect(fetch(['all'], (_, page) => still(page === 1 ? 50 : 60, page)).asked).toHaveLength(3)
})

test('without a total the first page that is not full is the last', () => {
  const { asked, parts } = fetch(['all'], (_, page) => ({ rows: page < 3 ? 25 : 4 }))
  expect([asked.length, reachableOf(parts[0]!, bounds), movedOf(parts[0]!, bounds)]).toEqual([3, null, 0])
})

test('pages that are smaller than asked for are all had', () => {
  const { asked, parts } = fetch(['all'], (_, page) => still(35, page, 10))
  expect([asked.length, countedRows(parts)]).toEqual([4, 35])
})

test('rows that came twice are missing elsewhere, and those of other parts are not', () => {
  const { parts } = fetch(['a', 'b'], (part, page) => ({
    ...still(60, page),
    repeated: part === 0 && page === 2 ? 3 : 0,
    overlap: part === 1 && page === 1 ? 5 : 0,
  }))
  expect(parts.map((part) => movedOf(part, bounds))).toEqual([3, 0])
  expect(countedRows(parts)).toBe(115)
})

test('a part that was cut reaches no further than its last page', () => {
  const [part] = fetch(['all'], (_, page) => still(100, page), { limit: 50 }).parts
  const cut: ListPart = { ...part!, isEnded: true, cut: { page: 3, code: '41676' } }
  expect([reachableOf(cut, bounds), pagesLeft(cut, bounds), movedOf(cut, bounds)]).toEqual([50, 0, 0])
  expect(pagesLeft(part!, bounds)).toBe(2)
})
