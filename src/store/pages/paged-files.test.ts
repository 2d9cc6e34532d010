import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { pageBytes } from './page-map.ts'
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
  expect(statSync(table).size).toBe(0)
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
  expect(statSync(table).size).toBe(0)
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
  files.forget(table)
  expect(folder()).toEqual([])
  expect(files.of(table)).toBeUndefined()
  expect(existsSync(table)).toBe(true)
  files.close()
})
