import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { InputError } from '../../domain/errors.ts'

/** More than this is no request: the largest is a list of some hundred ids. */
const mostBytes = 1024 * 1024

/** Reads the request of a call: JSON itself, `@FILE`, or `-` for standard input. Throws InputError with the place. */
export async function readBody(given: string): Promise<Record<string, unknown>> {
  const [name, source] = await sourceOf(given)
  if (Buffer.byteLength(source) > mostBytes) throw new InputError('bad_body', `${name} has more than 1 MB`)
  let parsed: unknown
  try {
    parsed = JSON.parse(source)
  } catch (error) {
    throw new InputError('bad_body', `${name} is not JSON: ${placeOf(error)}`)
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    throw new InputError('bad_body', `${name} is no JSON object: it begins with { and ends with }`)
  return parsed as Record<string, unknown>
}

async function sourceOf(given: string): Promise<[name: string, source: string]> {
  if (given === '-') return ['standard input', await text(process.stdin)]
  if (!given.startsWith('@')) return ['--json', given]
  const path = given.slice(1)
  try {
    return [path, await readFile(path, 'utf8')]
  } catch (error) {
    throw new InputError(
      'bad_body',
      `${path} cannot be read: ${(error as NodeJS.ErrnoException).code ?? 'error'}`,
    )
  }
}

/** Returns where the JSON ends to be readable. The parser's message quotes the text, which may name people. */
function placeOf(error: unknown): string {
  const place = /at position \d+( \(line \d+ column \d+\))?/.exec((error as Error).message)?.[0]
  return place ?? 'it ends too early'
}
