import { expect } from 'vitest'
import type { PageFile } from './page-file-type.ts'
import { pageBytes } from './page-map.ts'

/** A time after every page was written: all of them are compressed. */
export const everMs = Number.MAX_SAFE_INTEGER

export function numbers(seed: number): (below: number) => number {
  let state = seed >>> 0 || 1
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

/** A page of words, of which some are random: a third to all of its size when it is compressed. */
export function pageOf(random: (below: number) => number): Buffer {
  const page = Buffer.alloc(pageBytes, 'company.profile|profnet.com/company/')
  const noise = random(3) === 0 ? pageBytes : random(pageBytes)
  for (let at = 1; at < noise; at += 1) page[at] = random(256)
  page[0] = 1
  return page
}

export function contents(file: PageFile): Buffer {
  const bytes = Buffer.alloc(file.size)
  expect(file.read(bytes, 0, file.size, 0)).toBe(file.size)
  return bytes
}
