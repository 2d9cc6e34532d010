import { expect, test } from 'vitest'
import { sized } from '../../../../test/support/full-size.ts'
import { fuzzCases, testSeed } from '../../../../test/support/seed.ts'
import { useDisk } from './disk.fixture.ts'
import { createFlushedPages, tried, type FlushedPages } from './flushed-pages.fixture.ts'
import { everMs, numbers, pageOf } from './page-file.fixture.ts'
import { pageBytes, sectorBytes } from './page-map.ts'

let random = numbers(testSeed())
const of = <T>(all: readonly T[]): T => all[random(all.length)]!
const disk = useDisk((below) => random(below))
/** The header says there where the second chunk of the map is. */
const secondChunkAt = sectorBytes + 4

const row = (text: string) => Buffer.alloc(pageBytes, `${text} `)

async function compressAll({ file }: FlushedPages, turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await file.compress(everMs, everMs)
}

function cutAtEach(pages: FlushedPages, ...points: string[]): void {
  disk.watch.passed = (point) => {
    for (let cuts = points.includes(point) ? 5 : 0; cuts > 0; cuts -= 1) pages.cutPower(point)
  }
}

test('after a power cut at any moment the file opens, and has each page that was flushed since Postgres wrote it', async () => {
  for (let round = 0; round < fuzzCases(sized(250, 35)); round += 1) {
    const seed = testSeed() + round
    random = numbers(seed)
    expect(await play(), `seed ${seed}`).toEqual([])
  }
})

type Step = (pages: FlushedPages, at: { somePage: () => number; untilMs: number }) => unknown

const write: Step = (pages, { somePage }) => {
  const first = somePage()
  const end = first + 1 + (random(3) ? 0 : random(8))
  for (let page = first; page < end; page += 1) pages.write(page, random(8) ? pageOf(random) : undefined)
}

/** Postgres writes and flushes while the disk is waited for. */
const meanwhile =
  (work: (...args: Parameters<Step>) => Promise<unknown>): Step =>
  async (pages, at) => {
    const done = work(pages, at)
    for (let turns = random(4); turns > 0; turns -= 1)
      await tried(() => of([write, write, flush, reopen])(pages, at))
    await done
  }

const flush: Step = ({ file }) => file.flush()
const reopen: Step = (pages) => pages.reopen()
const compress = ({ file }: FlushedPages, { untilMs }: { untilMs: number }) => file.compress(everMs, untilMs)
const tighten = ({ file }: FlushedPages, { untilMs }: { untilMs: number }) => file.tighten(untilMs)
const truncate: Step = (pages) => pages.truncate(random(5) ? pages.count - random(pages.count / 3) : 0)

const steps: Step[] = [
  ({ file }) => file.shrink(),
  ...Array.from({ length: 4 }, () => write),
  ...Array.from({ length: 3 }, () => tighten),
  ...Array.from({ length: 3 }, () => flush),
  compress,
  compress,
  meanwhile(compress),
  meanwhile(tighten),
  truncate,
  reopen,
]

test('a file that is emptied after a flush that failed keeps no room for the map of before', async () => {
  const pages = createFlushedPages(disk)
  for (let page = 0; page < 40; page += 1) pages.write(page, row('before'))
  await compressAll(pages, 1)
  disk.watch.fails = (point) => point === 'flush'
  await expect(compressAll(pages, 1)).rejects.toMatchObject({ code: 'EIO' })
  delete disk.watch.fails
  pages.truncate(0)
  for (let page = 0; page < 200; page += 1) pages.write(page, row('after'))
  pages.truncate(20)
  await compressAll(pages, 2)
  for (let turns = 0; turns < 10; turns += 1) await pages.file.tighten(everMs)
  expect(pages.file.shrink()).toBeLessThan(10 * pageBytes)
  pages.reopen()
  pages.look()
  expect(pages.faults).toEqual([])
})

test('room that was left before a file was opened again is not used before the map is on the disk', async () => {
  const pages = createFlushedPages(disk)
  for (let page = 0; page < 10; page += 1) pages.write(page, row(`rests ${page}`))
  pages.file.flush()
  await compressAll(pages, 1)
  pages.reopen()
  cutAtEach(pages, 'put', 'flush')
  for (let page = 10; page < 30; page += 1) pages.write(page, row('new'))
  expect(pages.faults).toEqual([])
})

test('a new chunk of the map is on the disk before the file says where it is', () => {
  const pages = createFlushedPages(disk)
  pages.write(0, row('rests'))
  pages.file.flush()
  cutAtEach(pages, 'put', 'flush')
  pages.write(1_024, row('in the next chunk'))
  expect(pages.faults).toEqual([])
})

test('the place of a chunk that a failed flush has lost is on the disk before that of before is used', async () => {
  const pages = createFlushedPages(disk)
  const first = Array.from({ length: 100 }, (_, page) => page)
  const second = Array.from({ length: 10 }, (_, page) => 1_024 + page)
  for (const page of [...first, ...second]) pages.write(page, row(`rests ${page}`))
  await compressAll(pages, 2)
  pages.file.flush()
  let isMoved = false
  disk.drops = 100
  disk.watch.passed = (point, at) => (isMoved ||= point === 'put' && at === secondChunkAt)
  disk.watch.fails = (point) => point === 'flush' && isMoved
  await expect(pages.file.tighten(everMs)).rejects.toMatchObject({ code: 'EIO' })
  delete disk.watch.fails
  cutAtEach(pages, 'flush', 'cut')
  for (let turns = 0; turns < 4; turns += 1) await pages.file.tighten(everMs)
  for (const page of first) pages.write(page, row('again'))
  await compressAll(pages, 2)
  expect(pages.faults).toEqual([])
})

/** Returns what was found wrong. */
async function play(): Promise<string[]> {
  let clock = 0
  const nowMs = () => (clock += 0.01)
  const pages = createFlushedPages(disk, { nowMs, most: random(2) ? 3 : 30 })
  // Some have pages of two or three chunks of the map.
  const parts = [0, 1_010, 2_040].slice(0, random(3) ? 1 : 2 + random(2))
  const somePage = () => parts[random(parts.length)]! + random(28)
  for (let page = 0; page < 30; page += 1) pages.write(somePage(), pageOf(random))
  const fails = { put: random(3) ? 0 : 20, flush: random(2) ? 0 : 200, cut: random(3) ? 0 : 100 }
  disk.drops = of([0, 0, 70, 100])
  disk.watch.fails = (point) => random(1_000) < fails[point]
  const often = { put: 40, flush: 2, cut: 1 }
  disk.watch.passed = (point) => {
    if (random(often[point]) === 0) pages.cutPower(point)
  }
  for (let step = 0; step < 40 && pages.faults.length === 0; step += 1) {
    const untilMs = random(2) ? everMs : clock + random(10) / 10
    await tried(() => of(steps)(pages, { somePage, untilMs }))
  }
  pages.look()
  pages.file.close()
  return pages.faults
}
