import { createHash } from 'node:crypto'

/** Returns a number in [0, 1) that depends only on the text. */
export function fraction(text: string): number {
  return createHash('sha256').update(text).digest().readUIntBE(0, 6) / 2 ** 48
}

export interface Dice {
  /** Returns a number in [0, 1). */
  roll(): number
  integer(min: number, max: number): number
  pick<T>(list: readonly T[]): T
  /** Returns true in this many of a hundred cases. */
  percent(share: number): boolean
}

/** Creates dice whose rolls depend only on the text: the same text gives the same series. */
export function createDice(text: string): Dice {
  // sfc32, seeded with 128 bits of a hash: cheap, and the series of similar texts are unrelated.
  const seed = createHash('sha256').update(text).digest()
  let [a, b, c, d] = [seed.readInt32LE(0), seed.readInt32LE(4), seed.readInt32LE(8), seed.readInt32LE(12)]

  function roll() {
    const sum = (((a + b) | 0) + d) | 0
    d = (d + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (((c << 21) | (c >>> 11)) + sum) | 0
    return (sum >>> 0) / 2 ** 32
  }

  return {
    roll,
    integer: (min, max) => min + Math.floor(roll() * (max - min + 1)),
    pick: (list) => list[Math.floor(roll() * list.length)]!,
    percent: (share) => roll() * 100 < share,
  }
}
