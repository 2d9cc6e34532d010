import {
  constants,
  createDeflateRaw,
  createInflateRaw,
  deflateRawSync,
  inflateRawSync,
  type DeflateRaw,
  type InflateRaw,
} from 'node:zlib'

/** Compresses and unpacks short texts against one dictionary. */
export interface KeptZlib {
  /** The bytes are those of `deflateRawSync`. They are overwritten by the next call of any. */
  pack(text: string): Uint8Array
  /** Throws what `inflateRawSync` throws. */
  unpack(bytes: Uint8Array): string
}

/** More than the largest answer that is kept: a text that unpacks to more is none of ours. */
const mostBytes = 64 * 1024 * 1024
const level = 6

/** The part of a stream of `node:zlib` that does the work. It is none of Node’s public functions. */
interface Handle {
  reset(): void
  writeSync(
    flush: number,
    input: Uint8Array,
    inputAt: number,
    inputLength: number,
    output: Uint8Array,
    outputAt: number,
    outputLength: number,
  ): void
}

/** The Node of which the handle is known. A call that it does not expect would end the process. */
const knownNode = /^24\./

/** Large enough for what a lookup brings; what does not fit takes the usual way. */
const output = Buffer.allocUnsafe(64 * 1024)

/**
 * `deflateRawSync` makes a stream and 270 KB of tables for each value, and a lookup packs three values and unpacks three: half of their
 * time, and most of what unpacking takes. Here a stream is made once for a dictionary and set back for each value.
 *
 * The public functions do what is unusual: another Node, a value that is too large, and damaged bytes, which then have the usual
 * error.
 */
export function createKeptZlib(
  dictionary: Uint8Array,
  { node = process.versions.node }: { node?: string } = {},
): KeptZlib {
  const isKnown = knownNode.test(node)
  const deflate = isKnown ? keep(() => createDeflateRaw({ level, dictionary })) : undefined
  const inflate = isKnown ? keep(() => createInflateRaw({ dictionary })) : undefined
  return {
    pack: (text) => deflate?.(Buffer.from(text)) ?? deflateRawSync(text, { level, dictionary }),
    unpack(bytes) {
      const unpacked = inflate?.(bytes) ?? inflateRawSync(bytes, { dictionary, maxOutputLength: mostBytes })
      return unpacked.toString()
    },
  }
}

/** Returns what sends bytes through one stream: in `output`, or undefined where that did not go through as a whole. */
function keep(make: () => DeflateRaw | InflateRaw): (input: Uint8Array) => Buffer | undefined {
  let kept: { handle: Handle; left: Uint32Array } | undefined
  let hasFailed = false

  function begin() {
    // One that is never used costs nothing.
    const { _handle: handle, _writeState: left } = make() as unknown as {
      _handle: Handle
      _writeState: Uint32Array
    }
    Object.assign(handle, { onerror: () => (hasFailed = true) })
    return { handle, left }
  }

  return (input) => {
    kept ??= begin()
    const { handle, left } = kept
    hasFailed = false
    handle.reset()
    handle.writeSync(constants.Z_FINISH, input, 0, input.length, output, 0, output.length)
    const [ofOutput = 0, ofInput = 0] = left
    if (!hasFailed && ofOutput > 0 && ofInput === 0) return output.subarray(0, output.length - ofOutput)
    // The rest of a value that did not go through must not get into the next one.
    kept = undefined
    return undefined
  }
}
