import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { afterEach, beforeEach } from 'vitest'
import { afterPowerCut, change, fileWith, settle, type DiskFile } from './disk-file.fixture.ts'

const folder = '/a-disk-of-the-tests/'
/** The system gives no such number. */
const firstFd = 1_000_000

type Point = 'put' | 'flush' | 'cut'

/** Is told of what is done to the file, and may let it fail. */
interface Watch {
  passed?: (point: Point, at: number) => void
  fails?: (point: Point) => boolean
  /** All that was written up to this time is on the disk. */
  flushed?: (until: number) => void
  /** Any of it may be lost for good. */
  dropped?: (until: number) => void
}

export interface Disk {
  readonly path: string
  /** The number of changes. */
  readonly time: number
  watch: Watch
  /** A flush that fails counts so many of a hundred sectors as written that are not, as Linux does. At 0 the next one writes all. */
  drops: number
  /** Has `look` find the file as a power cut may leave it now. */
  cutPower(look: () => void): void
}

/**
 * Puts a disk in memory under those functions of `node:fs` that files of pages use, for each test of the file that calls this: after
 * the test they are as before, and with all other files they always are.
 */
export function useDisk(random: (below: number) => number): Disk {
  const path = `${folder}pages`
  const disk = { path, time: 0, watch: {} as Watch, drops: 0, cutPower }
  const files = new Map<string, DiskFile>()
  const open = new Map<number, DiskFile>()
  let nextFd = firstFd

  function cutPower(look: () => void): void {
    const { watch } = disk
    const file = files.get(path)!
    disk.watch = {}
    files.set(path, afterPowerCut(file, random))
    try {
      look()
    } finally {
      files.set(path, file)
      disk.watch = watch
    }
  }

  const fileOf = (fd: number) => open.get(fd) ?? fail('EBADF')
  const watchOf = (file: DiskFile) => (file === files.get(path) ? disk.watch : {})

  /** The watch comes after the change: a power cut finds it. */
  function pass(
    fd: number,
    point: Point,
    at: number,
    bytes: Buffer,
    lengthOf: (file: DiskFile) => number,
  ): void {
    const file = fileOf(fd)
    const watch = watchOf(file)
    if (watch.fails?.(point)) fail('ENOSPC')
    disk.time += 1
    change(file, { time: disk.time, at, bytes, length: lengthOf(file) })
    watch.passed?.(point, at)
  }

  function flush(file: DiskFile, until: number): void {
    const watch = watchOf(file)
    const fails = watch.fails?.('flush') ?? false
    if (!fails || disk.drops > 0)
      settle(file, until, (versions) => (fails && random(100) < disk.drops ? undefined : versions.at(-1)))
    if (!fails) watch.flushed?.(until)
    else if (disk.drops > 0) watch.dropped?.(until)
    watch.passed?.('flush', 0)
    if (fails) fail('EIO')
  }

  useFunctions({
    openSync(name: string, flags: number) {
      if (flags & fs.constants.O_CREAT) files.set(name, fileWith(Buffer.alloc(0)))
      open.set(nextFd, files.get(name) ?? fail('ENOENT'))
      return nextFd++
    },
    closeSync: (fd: number) => open.delete(fd) || fail('EBADF'),
    rmSync: (name: string) => files.delete(name),
    renameSync(name: string, to: string) {
      files.set(to, files.get(name)!)
      files.delete(name)
    },
    fstatSync: (fd: number) => ({ size: fileOf(fd).bytes.length }),
    readSync: (fd: number, into: Uint8Array, offset: number, length: number, at: number) =>
      fileOf(fd)
        .bytes.subarray(at, at + length)
        .copy(into, offset),
    writeSync(fd: number, from: Uint8Array, offset: number, length: number, at: number) {
      const bytes = Buffer.from(from.buffer, from.byteOffset + offset, length)
      pass(fd, 'put', at, bytes, (file) => Math.max(file.bytes.length, at + length))
      return length
    },
    ftruncateSync(fd: number, length: number) {
      const gone = Buffer.alloc(Math.max(0, fileOf(fd).bytes.length - length))
      pass(fd, 'cut', length, gone, () => length)
    },
    fdatasyncSync: (fd: number) => flush(fileOf(fd), disk.time),
    fdatasync(fd: number, done: (error: unknown) => void) {
      const until = disk.time
      const file = fileOf(fd)
      setImmediate(() => {
        try {
          flush(file, until)
          done(null)
        } catch (error) {
          done(error)
        }
      })
    },
  })
  return disk
}

function fail(code: string): never {
  throw Object.assign(new Error(code), { code })
}

/** Has the functions of `node:fs` do this with our files and numbers, during each test. */
function useFunctions(ours: Record<string, (...args: never[]) => unknown>): void {
  const functions = fs as unknown as Record<string, (...args: unknown[]) => unknown>
  const real = Object.fromEntries(Object.keys(ours).map((name) => [name, functions[name]!]))
  const isOurs = (of: unknown) => (typeof of === 'number' ? of >= firstFd : String(of).startsWith(folder))
  beforeEach(() => {
    for (const [name, ourOne] of Object.entries(ours))
      functions[name] = (...args) => (isOurs(args[0]) ? ourOne(...(args as never[])) : real[name]!(...args))
    syncBuiltinESMExports()
  })
  afterEach(() => {
    Object.assign(functions, real)
    syncBuiltinESMExports()
  })
}
