/**
 * Returns a number in [0, 1) that depends only on the numbers. Much cheaper than a hash of text, since a day of the
 * world takes some hundred thousand.
 */
export function chance(index: number, salt: number, turn = 0, step = 0): number {
  let mixed = Math.imul(index ^ 0x9e3779b9, 0x85ebca6b)
  for (const part of [salt, turn, step]) {
    mixed = Math.imul(mixed ^ (mixed >>> 15) ^ part, 0xc2b2ae35)
    mixed = (mixed ^ (mixed >>> 13)) + 0x165667b1
  }
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x27d4eb2f)
  return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32
}

/** Returns an element of the list by a number in [0, 1). */
export function at<T>(list: readonly T[], fraction: number): T {
  return list[Math.floor(fraction * list.length)]!
}
