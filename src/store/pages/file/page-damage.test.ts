import {
  closeSync,
  fstatSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { fuzzCases, testSeed } from '../../../../test/support/seed.ts'
import { contents, everMs, numbers, pageOf } from './page-file.fixture.ts'
import { createPageFile, openPageFile } from './page-file.ts'
import { pageBytes } from './page-map.ts'
import { put } from './put.ts'

let folder: string
let path: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'paydirt-pages-'))
  path = join(folder, 'pages')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

test('on a disk that is full now and then, what was written is there when the file is opened again', async () => {
  const random = numbers(testSeed() + 2)
  for (let round = 0; round < fuzzCases(40); round += 1) {
    let failsOf20 = 0
    const file = createPageFile(path, () => 1, {
      most: random(2) === 0 ? 3 : 1_000,
      put: (fd, bytes, at) => {
        if (random(20) < failsOf20) throw Object.assign(new Error('full'), { code: 'ENOSPC' })
        put(fd, bytes, at)
      },
    })
    const model: Buffer[] = []
    /** A page that could not be written has one of these. Behind the file's end it may have been, and shows once the file grows. */
    const unsure = new Map<number, { bytes: Buffer; isBehind: boolean }[]>()
    for (let step = 0; step < 150; step += 1) {
      failsOf20 = random(8) === 0 ? 8 : 0
      const kind = random(10)
      try {
        if (kind < 7) {
          // Beyond the first chunk of the map as well.
          const page = random(3) === 0 ? 1_020 + random(10) : random(10)
          const bytes = random(9) === 0 ? Buffer.alloc(pageBytes) : pageOf(random)
          const behind = unsure.get(page)?.filter(({ isBehind }) => isBehind) ?? []
          unsure.set(page, [...behind, { bytes, isBehind: page * pageBytes >= file.size }])
          file.write(bytes, 0, pageBytes, page * pageBytes)
          model[page] = bytes
          unsure.delete(page)
        } else if (kind < 9) await (random(2) ? file.compress(everMs, everMs) : file.tighten(everMs))
        else file.shrink()
      } catch (error) {
        expect(error).toMatchObject({ code: 'ENOSPC' })
      }
    }
    const known = contents(file)
    file.close()
    const again = openPageFile(path, () => 1)
    const found = contents(again)
    for (const [at, whole] of [known, found].entries())
      for (const page of new Set([...model.keys(), ...unsure.keys()])) {
        const has = whole.subarray(page * pageBytes, (page + 1) * pageBytes)
        const written = model[page] ?? (whole.length > page * pageBytes ? Buffer.alloc(pageBytes) : has)
        if (unsure.get(page)?.some(({ bytes }) => bytes.equals(has))) continue
        expect(has.equals(written), `${at ? 'opened again' : 'before'}: page ${page}`).toBe(true)
      }
    again.close()
  }
})

test('a write that failed once and was repeated is there when the file is opened again, whichever part had failed', () => {
  for (let failing = 2, hasFailed = true; hasFailed; failing += 1) {
    let puts = 0
    hasFailed = false
    const file = createPageFile(path, () => 1, {
      put: (fd, bytes, at) => {
        // The first two are the empty map, when it is made and when it is opened.
        if ((puts += 1) - 1 === failing) {
          hasFailed = true
          throw Object.assign(new Error('full'), { code: 'ENOSPC' })
        }
        put(fd, bytes, at)
      },
    })
    const numbersOfPages = [0, 1, 1_030]
    for (const number of numbersOfPages) {
      const write = () => file.write(Buffer.alloc(pageBytes, number + 1), 0, pageBytes, number * pageBytes)
      try {
        write()
      } catch {
        write()
      }
    }
    file.close()
    const again = openPageFile(path, () => 1)
    expect(again.size, `put ${failing}`).toBe(1_031 * pageBytes)
    const found = contents(again)
    for (const number of numbersOfPages)
      expect(found.subarray(number * pageBytes, (number + 1) * pageBytes)).toEqual(
        Buffer.alloc(pageBytes, number + 1),
      )
    again.close()
  }
})

test('a file that was cut off at the second try has zeros there when it grows again, whichever part had failed', () => {
  // The number of pages, and a part of the map for each of the three that go.
  for (let failing = 0; failing < 4; failing += 1) {
    let puts = -Infinity
    const file = createPageFile(path, () => 1, {
      put: (fd, bytes, at) => {
        if ((puts += 1) - 1 === failing) throw Object.assign(new Error('full'), { code: 'ENOSPC' })
        put(fd, bytes, at)
      },
    })
    const page = Buffer.alloc(pageBytes, 1)
    for (let number = 0; number < 5; number += 1) file.write(page, 0, pageBytes, number * pageBytes)
    puts = 0
    expect(() => file.truncate(2 * pageBytes)).toThrow('full')
    file.truncate(2 * pageBytes)
    file.write(page, 0, pageBytes, 4 * pageBytes)
    const expected = Buffer.concat([page, page, Buffer.alloc(2 * pageBytes), page])
    expect(contents(file).equals(expected), `put ${failing}`).toBe(true)
    file.close()
    const again = openPageFile(path, () => 1)
    expect(contents(again).equals(expected), `put ${failing}`).toBe(true)
    again.close()
  }
})

test('a flipped bit in a compressed page, in its header or its map, and a file that was cut off, are found', async () => {
  const random = numbers(testSeed() + 3)
  const file = createPageFile(path, () => 1)
  for (let page = 0; page < 20; page += 1)
    file.write(Buffer.alloc(pageBytes, `row of page ${page} `), 0, pageBytes, page * pageBytes)
  await file.compress(everMs, everMs)
  file.shrink()
  const expected = contents(file)
  file.close()
  const good = readFileSync(path)
  const unreadable = expect.objectContaining({ code: 'EIO' })
  /** Bytes that nobody uses may be anything. */
  const read = () => {
    const again = openPageFile(path, () => 1)
    try {
      const bytes = Buffer.alloc(expected.length)
      expect(again.read(bytes, 0, bytes.length, 0)).toBe(bytes.length)
      expect(bytes.equals(expected)).toBe(true)
    } finally {
      again.close()
    }
  }
  read()
  const flip = (at: number) => {
    const bad = Buffer.from(good)
    bad[at] = (bad[at] ?? 0) ^ (1 << random(8))
    writeFileSync(path, bad)
  }
  // The magic, the number of pages and the place of the first chunk.
  for (let at = 0; at < 16; at += 1) {
    flip(at)
    expect(read).toThrow(unreadable)
  }
  const chunk = good.readUInt32LE(512) * 512
  for (let page = 0; page < 20; page += 1) {
    const at = chunk + page * 4
    flip(at + random(4))
    expect(read).toThrow(unreadable)
    const entry = good.readUInt32LE(at)
    const start = (entry >>> 5) * 512
    flip(start + random(6 + good.readUInt16LE(start)))
    expect(read).toThrow(unreadable)
  }
  // Two pages have changed their places.
  const swapped = Buffer.from(good)
  good.copy(swapped, chunk, chunk + 4, chunk + 8)
  good.copy(swapped, chunk + 4, chunk, chunk + 4)
  writeFileSync(path, swapped)
  expect(read).toThrow(unreadable)
  for (let size = 0; size < good.length; size += 512) {
    writeFileSync(path, good.subarray(0, size))
    expect(read).toThrow(unreadable)
  }
})

test('one page that cannot be read stays so, and keeps no other from being compressed', async () => {
  let file = createPageFile(path, () => 1)
  const page = Buffer.alloc(pageBytes, 1)
  for (let number = 0; number < 3; number += 1) file.write(page, 0, pageBytes, number * pageBytes)
  file.close()
  truncateSync(path, statSync(path).size - pageBytes)
  file = openPageFile(path, () => 1)
  const unreadable = { code: 'EIO' }
  await expect(file.compress(everMs, everMs)).rejects.toMatchObject(unreadable)
  await file.compress(everMs, everMs)
  expect(file.restingSinceMs).toBeUndefined()
  // The file has other bytes now where it stood.
  const read = () => file.read(Buffer.alloc(pageBytes), 0, pageBytes, 2 * pageBytes)
  expect(read).toThrow(expect.objectContaining(unreadable))
  file.write(page, 0, pageBytes, 2 * pageBytes)
  expect(read()).toBe(pageBytes)
  file.close()
})

test('a closed file writes nothing, for the system gives its number to another', () => {
  const file = createPageFile(path, () => 1)
  file.close()
  const other = openSync(join(folder, 'other'), 'w+')
  const page = Buffer.alloc(pageBytes, 1)
  const closed = expect.objectContaining({ code: 'EBADF' })
  expect(() => file.write(page, 0, pageBytes, 0)).toThrow(closed)
  expect(() => file.truncate(0)).toThrow(closed)
  expect(() => file.read(page, 0, pageBytes, 0)).toThrow(closed)
  file.close()
  expect(fstatSync(other).size).toBe(0)
  closeSync(other)
})
