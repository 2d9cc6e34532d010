import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { InputError } from '../../domain/errors.ts'

/** More than this is no request: the largest is a list of some hundred ids. */
const mostBytes = 1024 * 1024

/** Reads the request of a call: JSON itself, `@FILE`, or `-` for standard input. Throws InputError with the place. */
export async function readBody(given: string): Promise<Record<string, unknown>> {
  const [name, whole] = await sourceOf(given)
  // Editors of Windows put a mark before the text that is no part of it.
  const source = whole.replace(/^\uFEFF/, '')
  if (Buffer.byteLength(source) > mostBytes) throw new InputError('bad_body', `${name} has more than 1 MB`)
  let parsed: unknown
  try {
    parsed = JSON.parse(source)
  } catch {
    throw new InputError('bad_body', `${name} is not JSON: ${placeOf(source)}`)
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    throw new InputError('bad_body', `${name} is no JSON object: it begins with { and ends with }`)
  return parsed as Record<string, unknown>
}

async function sourceOf(given: string): Promise<[name: string, source: string]> {
  if (given === '-') return ['standard input', await text(process.stdin)]
  if (!given.startsWith('@')) return ['--json', given]
  const path = given.slice(1)
  if (path === '') throw new InputError('bad_body', '--json @ names no file: write --json @FILE')
  try {
    return [path, await readFile(path, 'utf8')]
  } catch (error) {
    throw new InputError(
      'bad_body',
      `${path} cannot be read: ${(error as NodeJS.ErrnoException).code ?? 'error'}`,
    )
  }
}

/** Returns the place of the first character that is wrong. The parser's own message quotes the text, which may name people. */
function placeOf(source: string): string {
  let [readable, wrong] = [0, source.length + 1]
  // Every beginning of a text that is right so far ends too early, and no longer one is right again.
  while (wrong - readable > 1) {
    const middle = Math.floor((readable + wrong) / 2)
    if (isRightSoFar(source.slice(0, middle))) readable = middle
    else wrong = middle
  }
  if (wrong > source.length) return 'it ends too early'
  const lines = source.slice(0, readable).split('\n')
  return `line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1}`
}

/** True where the parser meets nothing wrong before the end. Its message has a position, unless it names the wrong character. */
function isRightSoFar(beginning: string): boolean {
  try {
    JSON.parse(beginning)
    return true
  } catch (error) {
    const { message } = error as Error
    const position = /position (\d+)/.exec(message)?.[1]
    return message.startsWith('Unexpected end') || Number(position) >= beginning.length
  }
}
