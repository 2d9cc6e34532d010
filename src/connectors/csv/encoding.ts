import { isUtf8 } from 'node:buffer'
import { ConfigError } from '../../domain/errors.ts'

/** The encoding of a file. Without a byte order mark and without being told, a file is read as UTF-8, and refused where it is not. */
export interface TextForm {
  /** By its name in the Encoding Standard: `utf-8`, `utf-16le`, `windows-1252`. */
  encoding: string
  bomLength: number
  /** True where the user named the encoding. */
  isTold: boolean
}

const marks: readonly { encoding: string; bytes: readonly number[] }[] = [
  { encoding: 'utf-8', bytes: [0xef, 0xbb, 0xbf] },
  { encoding: 'utf-16le', bytes: [0xff, 0xfe] },
  { encoding: 'utf-16be', bytes: [0xfe, 0xff] },
]
const eitherUtf16 = 'utf-16'
/** Spellings that users write and the Encoding Standard does not have. */
const otherSpellings: readonly [RegExp, string][] = [
  [/^utf_?(8|16)(.*)$/, 'utf-$1$2'],
  [/^utf-16-?(le|be)$/, 'utf-16$1'],
  [/^(?:win|windows|cp)[-_ ]?(125\d)$/, 'windows-$1'],
  [/^latin[-_ ](\d)$/, 'latin$1'],
]

/**
 * Returns the standard's name of the encoding that a user names; `utf-16` stands for both byte orders. Throws ConfigError
 * for a name that no decoder knows.
 */
export function encodingNamed(name: string): string {
  const plain = name.trim().toLowerCase()
  const spelt = otherSpellings.reduce((text, [from, to]) => text.replace(from, to), plain)
  if (spelt === eitherUtf16) return eitherUtf16
  try {
    const { encoding } = new TextDecoder(spelt)
    // Decoders of the standard that stand for "no text at all".
    if (encoding !== 'replacement' && encoding !== 'x-user-defined') return encoding
  } catch {
    // Named below, as every other name that is none.
  }
  throw new ConfigError(
    'unknown_encoding',
    `--encoding ${JSON.stringify(name)} is not known; usual ones are utf-8, windows-1252 (Western Europe), windows-1250 (Central Europe), windows-1251 (Cyrillic), utf-16, shift_jis, gb18030`,
  )
}

/**
 * Returns the form of a file by its first bytes and what the user said. Throws ConfigError where its byte order mark says
 * otherwise, or where it plainly is UTF-8 and is said to be UTF-16: names that are read wrongly would be looked up and paid.
 */
export function formOf(path: string, head: Buffer, told: string | undefined): TextForm {
  const mark = marks.find(({ bytes }) => bytes.every((byte, index) => head[index] === byte))
  const isTold = told !== undefined
  if (mark) {
    const agrees =
      !isTold ||
      told === mark.encoding ||
      (told === eitherUtf16 && (mark.encoding === 'utf-16le' || mark.encoding === 'utf-16be'))
    if (!agrees)
      throw new ConfigError(
        'wrong_encoding',
        `${path}: its byte order mark says ${mark.encoding}, and --encoding says ${told}; leave out --encoding`,
      )
    return { encoding: mark.encoding, bomLength: mark.bytes.length, isTold }
  }
  if (!isTold) return { encoding: 'utf-8', bomLength: 0, isTold }
  if (!told.startsWith(eitherUtf16)) return { encoding: told, bomLength: 0, isTold }
  // The separators alone bring zero bytes into UTF-16.
  if (head.length > 0 && !head.includes(0))
    throw new ConfigError(
      'wrong_encoding',
      `${path}: it is not ${told}, because it has no zero bytes; leave out --encoding`,
    )
  return { encoding: told === eitherUtf16 ? (utf16Order(head) ?? 'utf-16le') : told, bomLength: 0, isTold }
}

/** Returns a warning where a file is valid UTF-8 and the user said that it is something else. */
export function garbledWarning(head: Buffer, { encoding, isTold }: TextForm): string | undefined {
  if (!isTold || encoding.startsWith('utf-')) return undefined
  if (!head.some((byte) => byte >= 0x80) || !isUtf8(wholeCharacters(head))) return undefined
  return `it looks like UTF-8, and --encoding says ${encoding}: letters with accents will be wrong unless that is so`
}

/** Returns the byte order that the zero bytes of Latin letters and separators show, or undefined where they show none. */
export function utf16Order(head: Buffer): 'utf-16le' | 'utf-16be' | undefined {
  const zeros = [0, 0]
  for (let at = head.indexOf(0); at !== -1; at = head.indexOf(0, at + 1)) zeros[at % 2]! += 1
  const [even = 0, odd = 0] = zeros
  if (odd > 4 * even) return 'utf-16le'
  return even > 4 * odd ? 'utf-16be' : undefined
}

/** Bytes without a letter in Windows-1252. */
const unassigned = new Set([0x81, 0x8d, 0x8f, 0x90, 0x9d])

/**
 * Returns whether bytes that are not UTF-8 may be Windows-1252: letters with accents between plain ones, where other
 * scripts have runs of high bytes.
 */
export function looksWestern(bytes: Buffer): boolean {
  let high = 0
  let runs = 0
  let before = false
  for (const byte of bytes) {
    if (unassigned.has(byte)) return false
    const isHigh = byte >= 0x80
    if (isHigh) high += 1
    if (isHigh && !before) runs += 1
    before = isHigh
  }
  return runs > 0 && high < 2 * runs && high * 3 < bytes.length
}

/** Returns the bytes without a character that the end of the sample cuts. */
function wholeCharacters(bytes: Buffer): Buffer {
  for (let back = 1; back <= Math.min(4, bytes.length); back++)
    if (((bytes[bytes.length - back] as number) & 0xc0) !== 0x80)
      return (bytes[bytes.length - back] as number) >= 0xc0 ? bytes.subarray(0, bytes.length - back) : bytes
  return bytes
}
