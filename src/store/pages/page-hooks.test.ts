import fc from 'fast-check'
import {
  closeSync,
  fstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readSync,
  rmSync,
  statSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { testSeed } from '../../../test/support/seed.ts'
import { hookPages, type NodeFiles } from './page-hooks.ts'
import { pageBytes } from './file/page-map.ts'
import { createPagedFiles } from './paged-files.ts'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'paydirt-hooks-'))
  mkdirSync(join(root, 'base', '5'), { recursive: true })
  mkdirSync(join(root, 'pg_wal'))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const fromEnd = 2
const least = 4 * pageBytes

/** NODEFS as far as it is hooked, on real files. `asked` counts how often the system was asked for the length of one. */
function setStage() {
  let asked = 0
  let isFull = false
  const pathOf = (node: object) => (node as { path: string }).path
  const fdOf = (stream: object) => (stream as { fd: number }).fd
  const nodefs: NodeFiles = {
    realPath: pathOf,
    tryFSOperation: (work) => work(),
    node_ops: {
      getattr: (node) => statSync(pathOf(node)),
      setattr: (node, { size }) => void (size !== undefined && truncateSync(pathOf(node), size)),
      mknod(parent, name) {
        const path = join(pathOf(parent), name)
        writeFileSync(path, '')
        return nodeOf(path)
      },
      unlink: (parent, name) => unlinkSync(join(pathOf(parent), name)),
    },
    stream_ops: {
      getattr: (stream) => fstatSync(fdOf(stream)),
      setattr: (stream, { size }) => void (size !== undefined && truncateSync(pathOf(stream.node), size)),
      read: (stream, heap, ...rest) => readSync(fdOf(stream), heap, ...rest),
      write(stream, heap, offset, length, position) {
        if (!isFull) return writeSync(fdOf(stream), heap, offset, length, position)
        // As a disk that becomes full in the middle of a write.
        writeSync(fdOf(stream), heap, offset, Math.floor(length / 2), position)
        throw Object.assign(new Error('no space'), { code: 'ENOSPC' })
      },
      llseek(stream, offset) {
        asked += 1
        return fstatSync(fdOf(stream)).size + offset
      },
    },
  }
  const paged = createPagedFiles(root, { least })
  paged.begin()
  hookPages(nodefs, paged)
  const { node_ops: nodes, stream_ops: streams } = nodefs
  const folder = nodeOf(join(root, 'base', '5'))

  function make(name: string, parent = folder) {
    const node = nodes.mknod(parent, name, 0, 0)
    const stream = { node, flags: 0, position: 0, fd: openSync(pathOf(node), 'r+') }
    return {
      size: () => streams.llseek(stream, 0, fromEnd),
      write: (pages: number, at: number) =>
        streams.write(stream, new Int8Array(pages * pageBytes).fill(1), 0, pages * pageBytes, at * pageBytes),
      truncate: (pages: number) => streams.setattr(stream, { size: pages * pageBytes }),
      truncateByName: (pages: number) => nodes.setattr(node, { size: pages * pageBytes }),
      drop() {
        nodes.unlink(parent, name)
        closeSync(stream.fd)
      },
    }
  }
  return {
    make,
    asked: () => asked,
    fill: (full: boolean) => (isFull = full),
    log: nodeOf(join(root, 'pg_wal')),
  }
}

const nodeOf = (path: string) =>
  ({ path, mode: 0o100600 }) as unknown as ReturnType<NodeFiles['node_ops']['mknod']>

test('the length of a table is asked for once, and known after each write', () => {
  const { make, asked } = setStage()
  const file = make('16384')
  expect(file.size()).toBe(0)
  file.write(1, 0)
  file.write(1, 1)
  file.write(1, 0)
  expect(file.size()).toBe(2 * pageBytes)
  expect(asked()).toBe(1)
})

test('it is what the file has after each change, in pages or not', () => {
  const pages = fc.integer({ min: 0, max: 6 })
  const change = fc.oneof(
    fc.record({ kind: fc.constant('write' as const), pages: fc.integer({ min: 1, max: 3 }), at: pages }),
    fc.record({ kind: fc.constantFrom('truncate' as const, 'truncateByName' as const), pages }),
    fc.record({ kind: fc.constant('anew' as const) }),
  )
  const name = fc.constantFrom('16384', '16384.1', '16384_fsm', '1259')
  let made = 0
  fc.assert(
    fc.property(name, fc.array(change, { maxLength: 12 }), (given, changes) => {
      const { make } = setStage()
      // Files of one stage never meet those of another.
      const own = given.replace(/^\d+/, (number) => String(Number(number) + 10 * (made += 1)))
      let file = make(own)
      let size = 0
      for (const each of changes) {
        if (each.kind === 'write') {
          // A table grows without holes.
          const at = Math.min(each.at, size)
          file.write(each.pages, at)
          size = Math.max(size, at + each.pages)
        } else if (each.kind === 'anew') {
          file.drop()
          file = make(own)
          size = 0
        } else if (each.pages <= size) {
          file[each.kind](each.pages)
          size = each.pages
        }
        expect(file.size()).toBe(size * pageBytes)
      }
      file.drop()
    }),
    { seed: testSeed(), numRuns: 200 },
  )
})

test('after a write that failed in the middle, the system is asked', () => {
  const { make, asked, fill } = setStage()
  const file = make('16384')
  file.write(1, 0)
  expect(file.size()).toBe(pageBytes)
  fill(true)
  expect(() => file.write(2, 1)).toThrow('no space')
  expect(file.size()).toBe(2 * pageBytes)
  expect(asked()).toBe(2)
})

test('a file that is given its name by another, as those of the log, is always asked for', () => {
  const { make, asked, log } = setStage()
  const file = make('000000010000000000000001', log)
  file.write(1, 0)
  expect([file.size(), file.size()]).toEqual([pageBytes, pageBytes])
  expect(asked()).toBe(2)
})
