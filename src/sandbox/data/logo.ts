import { crc32, deflateSync } from 'node:zlib'
import { createDice, fraction } from '../random.ts'

const SIDE = 32

export interface Logo {
  png: Buffer
  placeholder: boolean
}

/** Returns the domain of a logo's path: without protocol, `www.`, path and port, in lower case. */
export function logoDomain(path: string): string {
  return decode(path)
    .replace(/^[a-z][a-z0-9+.-]*:\/+/i, '')
    .replace(/^www\./i, '')
    .split(/[/?#:]/)[0]!
    .toLowerCase()
}

/**
 * Returns a small PNG that depends on the domain. Returns the placeholder for a text that is not a domain, for
 * everything under `.invalid`, and for about 15 in 100 of the other domains.
 */
export function logoFor(domain: string): Logo {
  const unknown =
    !/^[^.\s]+(\.[^.\s]+)+$/.test(domain) || domain.endsWith('.invalid') || fraction(`logo ${domain}`) < 0.15
  return unknown ? { png: placeholder, placeholder: true } : { png: drawn(domain), placeholder: false }
}

/** Draws a field of four by eight mirrored tiles in one colour on a transparent ground. */
function drawn(domain: string) {
  const dice = createDice(`logo ${domain}`)
  const colour = [dice.integer(20, 200), dice.integer(20, 200), dice.integer(20, 200), 255]
  const tiles = Array.from({ length: 8 }, () => Array.from({ length: 4 }, () => dice.percent(50)))
  tiles[0]![0] = true
  return encodePng((x, y) => {
    const column = Math.floor(x / 4)
    return tiles[Math.floor(y / 4)]![column < 4 ? column : 7 - column] ? colour : [0, 0, 0, 0]
  })
}

const placeholder = encodePng((x, y) =>
  ((x >> 3) + (y >> 3)) % 2 === 0 ? [224, 224, 224, 255] : [240, 240, 240, 255],
)

function encodePng(pixel: (x: number, y: number) => number[]) {
  const rows = Buffer.alloc(SIDE * (1 + SIDE * 4))
  for (let y = 0; y < SIDE; y++) {
    for (let x = 0; x < SIDE; x++) rows.set(pixel(x, y), y * (1 + SIDE * 4) + 1 + x * 4)
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(SIDE, 0)
  header.writeUInt32BE(SIDE, 4)
  header.set([8, 6, 0, 0, 0], 8)
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', deflateSync(rows)), chunk('IEND')])
}

function chunk(type: string, data = Buffer.alloc(0)) {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const framed = Buffer.alloc(body.length + 8)
  framed.writeUInt32BE(data.length, 0)
  framed.set(body, 4)
  framed.writeUInt32BE(crc32(body), body.length + 4)
  return framed
}

function decode(text: string) {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
