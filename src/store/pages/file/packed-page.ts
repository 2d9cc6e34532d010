import { zstdCompressSync, zstdDecompressSync, constants as zlib, crc32 } from 'node:zlib'
import { pageBytes, sectorBytes } from './page-map.ts'
import { unreadable } from './put.ts'

const compression = { params: { [zlib.ZSTD_c_compressionLevel]: 1 } }
/** Its length, and a checksum. */
const headBytes = 6

/**
 * A compressed page, in whole sectors. Its checksum begins with the number of the page, so that damage is found before it is
 * unpacked, and so is a map that takes the page of another for it.
 */
export function packPage(page: Uint8Array, number: number): Buffer {
  const packed = zstdCompressSync(page, compression)
  const bytes = Buffer.alloc(Math.ceil((headBytes + packed.length) / sectorBytes) * sectorBytes)
  bytes.writeUInt16LE(packed.length)
  bytes.writeUInt32LE(crc32(packed, number), 2)
  packed.copy(bytes, headBytes)
  return bytes
}

/** Throws where these are not the bytes of this page. */
export function unpackPage(bytes: Buffer, number: number): Buffer {
  const packed = bytes.subarray(headBytes, headBytes + bytes.readUInt16LE())
  if (crc32(packed, number) !== bytes.readUInt32LE(2)) throw damagedPage()
  try {
    const page = zstdDecompressSync(packed, { maxOutputLength: pageBytes })
    if (page.length === pageBytes) return page
  } catch {
    // An error without a number of the C library would be taken for a success there.
  }
  throw damagedPage()
}

export function damagedPage(): Error {
  return unreadable('a page of the embedded ledger cannot be read from its file')
}
