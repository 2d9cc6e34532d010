import { mkdtempSync, rmSync, statSync } from 'node:fs'
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

test.each([3, 1_000])(
  'reads what was written, whatever was compressed, cut off, written anew and opened again, with %i pages whole',
  async (most) => {
    const random = numbers(testSeed())
    let clock = 0
    const nowMs = () => (clock += 1)
    let file = createPageFile(path, nowMs, { most })
    let model = Buffer.alloc(0)
    for (let step = 0; step < fuzzCases(500); step += 1) {
      const kind = random(22)
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
      else if (kind >= 20) {
        // Postgres writes or cuts off a page while it moves, and takes the room of others.
        const tightening = file.tighten(random(2) ? everMs : clock + random(10))
        for (let writes = random(3); writes > 0 && pages > 0; writes -= 1) {
          const page = random(pages)
          const bytes = pageOf(random)
          bytes.copy(model, page * pageBytes)
          file.write(bytes, 0, pageBytes, page * pageBytes)
        }
        await tightening
      } else if (kind === 18) {
        file.close()
        file = openPageFile(path, nowMs, { most })
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
  },
)

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

test('free room within a large file is filled with pages of its end, which is cut off', async () => {
  const random = numbers(testSeed())
  let clock = 0
  const nowMs = () => (clock += 0.01)
  const file = createPageFile(path, nowMs)
  const pages = 6_000
  const write = (page: number) => {
    const bytes = Buffer.alloc(pageBytes, `row of ${page} `)
    const noise = random(pageBytes)
    for (let at = 0; at < noise; at += 1) bytes[at] = random(256)
    file.write(bytes, 0, pageBytes, page * pageBytes)
  }
  for (let page = 0; page < pages; page += 1) write(page)
  await file.compress(everMs, everMs)
  for (let round = 0; round < 3; round += 1) {
    for (let page = 0; page < pages; page += 3) write(random(pages))
    await file.compress(everMs, everMs)
  }
  const expected = contents(file)
  const before = statSync(path).size
  expect(file.loose).toBeGreaterThan(before / 4)
  for (let turns = 0; file.loose > 0; turns += 1) {
    const pagesMoved = await file.tighten(clock + 5)
    expect(pagesMoved).toBeLessThan(600)
    expect(turns).toBeLessThan(200)
  }
  const tightened = statSync(path).size
  expect(contents(file).equals(expected)).toBe(true)
  file.close()
  const again = openPageFile(path, nowMs)
  expect(contents(again).equals(expected)).toBe(true)
  // Without any free room.
  again.shrink()

  expect(tightened).toBeLessThan(1.15 * statSync(path).size)
  again.close()
})

test('a page that is compressed stays so where many are whole, and the room of before is used again', async () => {
  const file = createPageFile(path, () => 1, { most: 10 })
  const write = (page: number, text: string) =>
    file.write(Buffer.alloc(pageBytes, text), 0, pageBytes, page * pageBytes)
  for (let page = 0; page < 200; page += 1) write(page, 'before')
  await file.compress(everMs, everMs)
  for (let round = 0; round < 5; round += 1) {
    // As a vacuum does it: each page once, and no turn to compress any in between.
    for (let page = 0; page < 200; page += 1) write(page, `round ${round}`)
    expect(file.waiting).toBe(10)
    await file.compress(everMs, everMs)
    await file.compress(everMs, everMs)
  }
  expect(
    contents(file)
      .subarray(pageBytes, pageBytes + 14)
      .toString(),
  ).toBe('round 4round 4')
  // 200 pages were whole at first, which is the room that the file keeps. What was compressed stands beside it, two rounds of it.
  expect(statSync(path).size).toBeLessThan(240 * pageBytes)
  file.close()
})

test('a statement that writes many pages uses the room of before, without a turn to compress any in between', async () => {
  const random = numbers(testSeed())
  const file = createPageFile(path, () => 1, { most: 10 })
  const pages = 2_500
  function write(): Buffer[] {
    return Array.from({ length: pages }, (_, page) => {
      const bytes = Buffer.alloc(pageBytes, 'row')
      for (let at = 0; at < pageBytes / 2; at += 1) bytes[at] = random(256)
      file.write(bytes, 0, pageBytes, page * pageBytes)
      return bytes
    })
  }
  write()
  await file.compress(everMs, everMs)
  await file.compress(everMs, everMs)
  let last: Buffer[] = []
  for (let round = 0; round < 4; round += 1) last = write()
  expect(contents(file).equals(Buffer.concat(last))).toBe(true)
  // A round takes half of that, compressed.
  expect(statSync(path).size).toBeLessThan(1.6 * pages * pageBytes)
  file.close()
  const again = openPageFile(path, () => 1)
  expect(contents(again).equals(Buffer.concat(last))).toBe(true)
  again.close()
})

test('after a kill between any two writes, each page is whole: the one of before or the new one', async () => {
  const random = numbers(testSeed() + 1)
  for (let round = 0; round < fuzzCases(40); round += 1) {
    let left = 20 + random(150)
    let isDead = false
    const file = createPageFile(path, () => 1, {
      most: random(2) === 0 ? 3 : 1_000,
      put: (fd, bytes, at) => {
        if (isDead || (left -= 1) < 0) {
          isDead = true
          throw new Error('killed')
        }
        put(fd, bytes, at)
      },
    })
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
        } else if (kind < 9) await (random(2) ? file.compress(everMs, everMs) : file.tighten(everMs))
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
