import { createConnection } from 'node:net'
import { deserialize } from 'node:v8'
import { ConfigError, FatalError, InputError, type PaydirtError } from '../../domain/errors.ts'
import { version } from '../config/version.ts'
import { greetingSchema, type Answer, type Greeting } from './serve-queries.ts'
import { socketPath } from './socket-path.ts'

/** A process that works greets within milliseconds. One that is suspended does not. */
const greetingWithinMs = 3_000

export type Asked =
  | { kind: 'answered'; result: unknown }
  /** No process listens: it begins, it ends, it was killed, or its version has no socket. */
  | { kind: 'away' }
  /** It listens and says nothing, as while it is suspended. */
  | { kind: 'silent' }
  | { kind: 'other_version'; version: string }

/** Returns who holds an embedded ledger; undefined where nobody says so. */
export async function greetHolder(dataDir: string): Promise<Greeting | undefined> {
  const heard = await hear(dataDir, undefined)
  return heard.greeting
}

/**
 * Asks the holder of an embedded ledger. Throws the error that the query ended with. Both sides have to be of one version:
 * the answer is the data of a program and no published format.
 */
export async function askHolder(dataDir: string, query: string, input: unknown): Promise<Asked> {
  const { greeting, isSilent, rest } = await hear(dataDir, { query, input })
  if (!greeting) return { kind: isSilent ? 'silent' : 'away' }
  if (greeting.version !== version) return { kind: 'other_version', version: greeting.version }
  const answer = answerIn(rest)
  if (answer === undefined) return { kind: 'away' }
  if ('error' in answer) throw errorOf(answer.error)
  return { kind: 'answered', result: answer.result }
}

interface Heard {
  greeting: Greeting | undefined
  isSilent: boolean
  /** The bytes behind the greeting. */
  rest: Buffer
}

/** Connects, reads the greeting, and sends a request where there is one to send to this version. Never throws. */
function hear(dataDir: string, request: { query: string; input: unknown } | undefined): Promise<Heard> {
  const path = socketPath(dataDir)
  const nothing = Buffer.alloc(0)
  if (path === undefined) return Promise.resolve({ greeting: undefined, isSilent: false, rest: nothing })
  return new Promise((resolve) => {
    const socket = createConnection(path)
    let greeting: Greeting | undefined
    let parts: Buffer[] = []
    const timer = setTimeout(() => end(true), greetingWithinMs)
    function end(isSilent: boolean): void {
      clearTimeout(timer)
      socket.destroy()
      resolve({ greeting, isSilent, rest: Buffer.concat(parts) })
    }
    socket.on('error', () => end(false))
    socket.on('close', () => end(false))
    socket.on('data', (part: Buffer) => {
      parts.push(part)
      if (greeting || !part.includes(10)) return
      clearTimeout(timer)
      const text = Buffer.concat(parts)
      const lineEnd = text.indexOf(10)
      greeting = greetingIn(text.subarray(0, lineEnd))
      parts = [text.subarray(lineEnd + 1)]
      if (!greeting || !request || greeting.version !== version) return end(false)
      socket.write(`${JSON.stringify(request)}\n`)
    })
  })
}

function greetingIn(line: Buffer): Greeting | undefined {
  try {
    return greetingSchema.parse(JSON.parse(line.toString()))
  } catch {
    return undefined
  }
}

/** Returns undefined for an answer that was cut off. */
function answerIn(bytes: Buffer): Answer | undefined {
  try {
    return deserialize(bytes) as Answer
  } catch {
    return undefined
  }
}

function errorOf({ kind, code, message }: Extract<Answer, { error: unknown }>['error']): PaydirtError {
  if (kind === 'config') return new ConfigError(code, message)
  return kind === 'input' ? new InputError(code, message) : new FatalError(code, message)
}
