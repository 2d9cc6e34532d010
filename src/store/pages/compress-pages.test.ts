import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createLedgerPages } from './compress-pages.ts'
import { pageBytes } from './file/page-map.ts'
import { createPagedFiles } from './paged-files.ts'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'paydirt-compress-'))
  mkdirSync(join(root, 'base', '5'), { recursive: true })
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

/** Files in which each page has just been written. */
function fill(names: readonly string[], pages: number, nowMs: () => number) {
  const paged = createPagedFiles(root, { least: pageBytes, nowMs })
  paged.begin()
  const files = names.map((name) => {
    const path = join(root, 'base', '5', name)
    const bytes = Buffer.alloc(pages * pageBytes, 'row')
    writeFileSync(path, bytes)
    const file = paged.grown(path, bytes.length)
    if (!file) throw new Error('the file has not moved into pages')
    file.write(bytes, 0, bytes.length, 0)
    return file
  })
  return { paged, files }
}

test('pages that rest are compressed, and it is told when some have waited for it too long', async () => {
  // Each look at the clock takes a millisecond, so that a stretch is over after some pages.
  let clock = 0
  const nowMs = () => (clock += 1)
  const { paged, files } = fill(['16384', '16385'], 50, nowMs)
  const pages = createLedgerPages(paged, { nowMs })
  const resting = () => files.filter(({ restingSinceMs }) => restingSinceMs !== undefined).length

  clock = 60_000
  expect(await pages.compress()).toBe(false)
  expect(resting()).toBe(2)

  clock = 70_000
  expect(await pages.compress()).toBe(false)
  clock = 80_000
  expect(await pages.compress()).toBe(true)
  let turns = 1
  for (; await pages.compress(); turns += 1) expect(turns).toBeLessThan(50)
  expect(turns).toBeGreaterThan(5)
  expect(resting()).toBe(0)
  paged.close()
})

test('where many pages wait, a short rest is enough, until few wait', async () => {
  let clock = 0
  const nowMs = () => (clock += 0.001)
  // No file has more of them than a thousand or so.
  const names = Array.from({ length: 20 }, (_, index) => String(16_384 + index))
  const { paged, files } = fill(names, 850, nowMs)
  const waiting = () => files.reduce((sum, file) => sum + file.waiting, 0)
  const pages = createLedgerPages(paged, { nowMs })
  clock = 4_000
  expect(await pages.compress()).toBe(false)
  expect(waiting()).toBe(17_000)

  clock = 10_000
  for (let turns = 1; await pages.compress(); turns += 1) expect(turns).toBeLessThan(50)
  expect(waiting()).toBeLessThanOrEqual(16_384)
  expect(waiting()).toBeGreaterThan(6_000)
  paged.close()
})
