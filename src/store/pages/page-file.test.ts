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
import { fuzzCases, testSeed } from '../../../test/support/seed.ts'
import { createPageFile, openPageFile, type PageFile } from './page-file.ts'
import { pageBytes } from './page-map.ts'
import { put } from './put.ts'

let folder: string
let path: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'paydirt-pages-'))
  path = join(folder, 'pages')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function numbers(seed: number): (below: number) => number {
  let state = seed >>> 0 || 1
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

/** A page of words, of which some are random: a third to all of its size when it is compressed. */
function pageOf(random: (below: number) => number): Buffer {
  const page = Buffer.alloc(pageBytes, 'company.profile|profnet.com/company/')
  const noise = random(3) === 0 ? pageBytes : random(pageBytes)
  for (let at = 1; at < noise; at += 1) page[at] = random(256)
  page[0] = 1
  return page
}

function contents(file: PageFile): Buffer {
  const bytes = Buffer.alloc(file.size)
  expect(file.read(bytes, 0, file.size, 0)).toBe(file.size)
  return bytes
}

const everMs = Number.MAX_SAFE_INTEGER

test('reads what was written, whatever was compressed, cut off, written anew and opened again', async () => {
  const random = numbers(testSeed())
  let clock = 0
  const nowMs = () => (clock += 1)
  let file = createPageFile(path, nowMs)
  let model = Buffer.alloc(0)
  for (let step = 0; step < fuzzCases(500); step += 1) {
    const kind = random(20)
    const pages = model.length / pageBytes
    if (kind < 13) {
      const page = random(5) === 0 || pages === 0 ? pages : random(pages)
      const bytes = random(8) === 0 ? Buffer.alloc(pageBytes) : pageOf(random)
      if (page === pages) model = Buffer.concat([model, bytes])
      else bytes.copy(model, page * pageBytes)
      file.write(bytes, 0, pageBytes, page * pageBytes)
    } else if (kind < 16) await file.compress(random(2) ? everMs : clock - random(200), clock + random(60))
    else if (kind === 16) {
      // Postgres writes a page again while it is on its way.
      const compressing = file.compress(everMs, everMs)
      if (pages > 0) {
        const bytes = pageOf(random)
        bytes.copy(model)
        file.write(bytes, 0, pageBytes, 0)
      }
      await compressing
    } else if (kind === 17) file.shrink()
    else if (kind === 18) {
      file.close()
      file = openPageFile(path, nowMs)
    } else if (random(4) === 0) {
      const size = random(10) === 0 ? 0 : (pages - random(Math.min(pages, 5) + 1)) * pageBytes
      file.truncate(size)
      model = model.subarray(0, size)
    }
    expect(file.size).toBe(model.length)
    if (step % 10 === 0) expect(contents(file).equals(model)).toBe(true)
  }
  expect(contents(file).equals(model)).toBe(true)
  file.close()
})

test('a part of a page is read and written as a part of it', () => {
  const file = createPageFile(path, () => 0)
  file.write(Buffer.alloc(3 * pageBytes, 7), 0, 3 * pageBytes, 0)
  file.write(Buffer.from('over the edge'), 5, 8, pageBytes - 4)
  const bytes = Buffer.alloc(10)
  expect(file.read(bytes, 0, 10, pageBytes - 5)).toBe(10)
  expect(bytes.toString('latin1')).toBe('\x07the edge\x07')
  expect(file.read(bytes, 0, 10, 3 * pageBytes - 4)).toBe(4)
  file.close()
})

test('takes a fifth of the room for pages of one kind once it is compressed and written anew', async () => {
  const file = createPageFile(path, () => 1)
  for (let page = 0; page < 200; page += 1) {
    const rows = Array.from(
      { length: 100 },
      (_, row) => `company.profile|profnet.com/company/${page}-${row} `,
    )
    file.write(Buffer.alloc(pageBytes, rows.join('')), 0, pageBytes, page * pageBytes)
  }
  expect(await file.compress(everMs, everMs)).toBe(200)
  expect(statSync(path).size).toBeGreaterThan(200 * pageBytes)
  file.shrink()
  expect(statSync(path).size).toBeLessThan((200 * pageBytes) / 5)
  file.close()
})

test('after a kill between any two writes, each page is whole: the one of before or the new one', async () => {
  const random = numbers(testSeed() + 1)
  for (let round = 0; round < fuzzCases(40); round += 1) {
    let left = 20 + random(150)
    let isDead = false
    const file = createPageFile(
      path,
      () => 1,
      (fd, bytes, at) => {
        if (isDead || (left -= 1) < 0) {
          isDead = true
          throw new Error('killed')
        }
        put(fd, bytes, at)
      },
    )
    const model: Buffer[] = []
    let writing: { page: number; bytes: Buffer } | undefined
    try {
      for (;;) {
        const kind = random(10)
        if (kind < 7) {
          const page = random(3) === 0 ? model.length : random(model.length + 1)
          writing = { page, bytes: random(9) === 0 ? Buffer.alloc(pageBytes) : pageOf(random) }
          file.write(writing.bytes, 0, pageBytes, page * pageBytes)
          model[page] = writing.bytes
          writing = undefined
        } else if (kind < 9) await file.compress(everMs, everMs)
        else file.shrink()
      }
    } catch (error) {
      expect(String(error)).toMatch('killed')
    }
    file.close()
    const again = openPageFile(path, () => 1)
    const found = contents(again)
    for (const [page, bytes] of model.entries()) {
      const has = found.subarray(page * pageBytes, (page + 1) * pageBytes)
      const isOld = has.equals(bytes)
      expect(isOld || (writing?.page === page && has.equals(writing.bytes))).toBe(true)
    }
    // The next page has room of its own.
    const next = pageOf(random)
    again.write(next, 0, pageBytes, again.size)
    expect(contents(again).subarray(0, found.length).equals(found)).toBe(true)
    again.close()
  }
})

test('on a disk that is full now and then, what was written is there when the file is opened again', async () => {
  const random = numbers(testSeed() + 2)
  for (let round = 0; round < fuzzCases(40); round += 1) {
    let failsOf20 = 0
    const file = createPageFile(
      path,
      () => 1,
      (fd, bytes, at) => {
        if (random(20) < failsOf20) throw Object.assign(new Error('full'), { code: 'ENOSPC' })
        put(fd, bytes, at)
      },
    )
    const model: Buffer[] = []
    const unsure = new Map<number, Buffer>()
    for (let step = 0; step < 150; step += 1) {
      failsOf20 = random(8) === 0 ? 8 : 0
      const kind = random(10)
      try {
        if (kind < 7) {
          // Beyond the first chunk of the map as well.
          const page = random(3) === 0 ? 1_020 + random(10) : random(10)
          const bytes = random(9) === 0 ? Buffer.alloc(pageBytes) : pageOf(random)
          unsure.set(page, bytes)
          file.write(bytes, 0, pageBytes, page * pageBytes)
          model[page] = bytes
          unsure.delete(page)
        } else if (kind < 9) await file.compress(everMs, everMs)
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
        if (unsure.get(page)?.equals(has)) continue
        expect(has.equals(written), `${at ? 'opened again' : 'before'}: page ${page}`).toBe(true)
      }
    again.close()
  }
})

test('a write that failed once and was repeated is there when the file is opened again, whichever part had failed', () => {
  for (let failing = 1, hasFailed = true; hasFailed; failing += 1) {
    let puts = 0
    hasFailed = false
    const file = createPageFile(
      path,
      () => 1,
      (fd, bytes, at) => {
        // The first is the empty map.
        if ((puts += 1) - 1 === failing) {
          hasFailed = true
          throw Object.assign(new Error('full'), { code: 'ENOSPC' })
        }
        put(fd, bytes, at)
      },
    )
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
  /** What is not used may be anything. */
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
  // Where it stood the file has other bytes now.
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
