/** The logs of one range of blocks are the longest answer; nodes send ten thousand at most, of some 700 bytes each. */
const maxBytes = 32 * 1024 * 1024

/** Fetches like `fetch`, and fails while it reads a body that is longer than any honest answer of a chain's node. */
export const boundedFetch: typeof fetch = async (input, init) => {
  const response = await fetch(input, init)
  if (!response.body) return response
  let size = 0
  const counted = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        size += chunk.length
        if (size > maxBytes) controller.error(new Error(`the answer is larger than ${maxBytes} bytes`))
        else controller.enqueue(chunk)
      },
    }),
  )
  const { status, statusText, headers } = response
  return new Response(counted, { status, statusText, headers })
}
