import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { pageBytes } from './file/page-map.ts'
import { createPagedFiles } from './paged-files.ts'

let root: string
let table: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'paydirt-paged-'))
  mkdirSync(join(root, 'base', '5'), { recursive: true })
  table = join(root, 'base', '5', '16384')
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

/** A page with the place of its last change in the log, as Postgres has it. */
function page(high: number, low: number, text: string): Buffer {
  const bytes = Buffer.alloc(pageBytes, text)
  bytes.writeUInt32LE(high, 0)
  bytes.writeUInt32LE(low, 4)
  return bytes
}

const folder = () => readdirSync(join(root, 'paydirt_pages'))
const least = 2 * pageBytes

function moved(...pages: Buffer[]) {
  const files = createPagedFiles(root, { least })
  files.begin()
  const bytes = Buffer.concat(pages)
  writeFileSync(table, bytes)
  expect(files.grown(table, bytes.length)?.size).toBe(bytes.length)
  return files
}

function pagesNow(files: ReturnType<typeof createPagedFiles>): Buffer {
  const file = files.of(table)
  const bytes = Buffer.alloc(file?.size ?? 0)
  file?.read(bytes, 0, bytes.length, 0)
  return bytes
}

test('a large file of ours moves into pages, and no other', () => {
  const files = createPagedFiles(root, { least })
  writeFileSync(table, Buffer.alloc(least, 1))
  expect(files.grown(table, least)).toBeUndefined()
  files.begin()
  expect(files.grown(table, least - 1)).toBeUndefined()
  for (const name of ['16383', '16384_fsm', '16384_vm', 't3_16384'])
    expect(files.mayHave(join(root, 'base', '5', name))).toBe(false)
  expect(files.mayHave(join(root, 'pg_wal', '000000010000000000000001'))).toBe(false)
  expect(files.mayHave(`${table}.1`)).toBe(true)
  expect(files.grown(table, least)?.size).toBe(least)
  expect(statSync(table).size).toBeLessThan(pageBytes)
  expect(folder()).toEqual(['5-16384'])
  files.close()
})

test('what a killed process or an older program left in the file is taken in as far as it is newer', () => {
  const pages = [page(1, 50, 'one'), page(1, 60, 'two'), page(2, 1, 'three')]
  moved(...pages).close()
  const newer = page(2, 7, 'replayed')
  const added = page(2, 8, 'added')
  writeFileSync(
    table,
    Buffer.concat([pages[0]!, newer, page(1, 99, 'older'), Buffer.alloc(pageBytes), added]),
  )
  const files = createPagedFiles(root, { least })
  const expected = Buffer.concat([pages[0]!, newer, pages[2]!, Buffer.alloc(pageBytes), added])
  expect(pagesNow(files).equals(expected)).toBe(true)
  expect(statSync(table).size).toBeLessThan(pageBytes)
  files.close()
  const again = createPagedFiles(root, { least })
  expect(pagesNow(again).equals(expected)).toBe(true)
  again.close()
})

test('pages without a file, and drafts, are removed at the start; a new file of that name has none of them', () => {
  moved(page(1, 1, 'one'), page(1, 2, 'two')).close()
  writeFileSync(join(root, 'paydirt_pages', '5-16384.new'), 'half')
  rmSync(table)
  createPagedFiles(root, { least }).close()
  expect(folder()).toEqual([])
  const files = moved(page(1, 1, 'one'), page(1, 2, 'two'))
  writeFileSync(table, '')
  files.forget(table)
  expect(folder()).toEqual([])
  expect(files.of(table)).toBeUndefined()
  expect(existsSync(table)).toBe(true)
  files.close()
})

test('a file whose pages are missing is unreadable, and not empty', () => {
  moved(page(1, 1, 'one'), page(1, 2, 'two')).close()
  rmSync(join(root, 'paydirt_pages'), { recursive: true })
  const files = createPagedFiles(root, { least })
  expect(() => files.of(table)).toThrow(expect.objectContaining({ code: 'EIO' }))
  files.close()
})

test('pages stay where the folder of their files is missing', () => {
  moved(page(1, 1, 'one'), page(1, 2, 'two')).close()
  renameSync(join(root, 'base'), join(root, 'not yet copied'))
  createPagedFiles(root, { least }).close()
  expect(folder()).toEqual(['5-16384'])
})

test('a file that cannot move stays where it is, and what was written is in it', () => {
  let nowMs = 0
  const files = createPagedFiles(root, { least, nowMs: () => nowMs })
  files.begin()
  const bytes = Buffer.concat([page(1, 1, 'one'), page(1, 2, 'two')])
  writeFileSync(table, bytes)
  // Something that is no folder stands where the pages would be.
  writeFileSync(join(root, 'paydirt_pages'), '')
  expect(files.grown(table, bytes.length)).toBeUndefined()
  expect(readFileSync(table).equals(bytes)).toBe(true)
  rmSync(join(root, 'paydirt_pages'))
  expect(files.grown(table, bytes.length)).toBeUndefined()
  nowMs = 60_000
  expect(files.grown(table, bytes.length)?.size).toBe(bytes.length)
  expect(pagesNow(files).equals(bytes)).toBe(true)
  files.close()
})

test('pages that cannot be taken in are not read without them', () => {
  moved(page(1, 1, 'one'), page(1, 2, 'two')).close()
  const newer = page(1, 9, 'newer')
  writeFileSync(table, newer)
  const pages = join(root, 'paydirt_pages', '5-16384')
  const whole = readFileSync(pages)
  truncateSync(pages, 1024)
  const files = createPagedFiles(root, { least })
  for (let time = 0; time < 2; time += 1)
    expect(() => files.of(table)).toThrow(expect.objectContaining({ code: 'EIO' }))
  expect(readFileSync(table).equals(newer)).toBe(true)
  writeFileSync(pages, whole)
  expect(pagesNow(files).subarray(0, pageBytes).equals(newer)).toBe(true)
  files.close()
})
