import { chmod, rename, rm } from 'node:fs/promises'
import { createServer, type Server, type Socket } from 'node:net'
import { once } from 'node:events'
import { serialize } from 'node:v8'
import { z } from 'zod'
import { ConfigError, describeUnexpected, InputError, PaydirtError } from '../../domain/errors.ts'
import { version } from '../config/version.ts'
import type { Context } from '../context/context.ts'
import { requestOf } from './read-request.ts'
import { draftPath, socketPath } from './socket-path.ts'
import { moduleLog } from '../context/log.ts'

/** The first line that whoever connects gets: who holds the ledger. */
export const greetingSchema = z.object({
  version: z.string(),
  pid: z.int(),
  /** The address of its desk, where it serves one. */
  desk: z.string().optional(),
})
export type Greeting = z.output<typeof greetingSchema>

const requestSchema = z.strictObject({ query: z.string(), input: z.unknown() })

/** The answer to a query, in the form of `v8.serialize`, which keeps times and amounts what they are. */
export type Answer =
  { result: unknown } | { error: { kind: 'config' | 'input' | 'other'; code: string; message: string } }

const graceMs = 5_000

/**
 * Answers queries of other commands while this process holds an embedded ledger, which no second process can open. It listens
 * on a socket in the data directory that its owner alone can use (mode 0600, in a directory of mode 0700). Where no socket
 * can be made, the process works without.
 *
 * Each end leaves this behind; only the holder of the data directory's lock makes or removes a socket:
 *
 * - killed: a socket on which nobody listens. A caller is refused, opens the ledger itself, and puts its own socket there.
 * - killed between making a socket and putting it in its place: `queries.sock.new`, which the next holder removes.
 * - killed while it answers: the answer is cut off, and the caller asks again as if nobody had listened.
 * - ending: the socket goes first, answers that were begun are finished, then the ledger is closed. A caller that comes in
 *   between waits for the ledger.
 * - of a version without sockets: there is none, and the error of the lock says who holds the ledger.
 */
export async function serveQueries(context: Context): Promise<{ stop(): Promise<void> }> {
  const path = context.database.kind === 'pglite' ? socketPath(context.config.dataDir) : undefined
  if (path === undefined) return { async stop() {} }
  const open = new Set<Socket>()
  const active = new Set<Promise<void>>()
  const server = createServer((socket) => {
    open.add(socket)
    // A caller that goes away is no failure of the holder.
    socket.on('error', () => {})
    socket.on('close', () => open.delete(socket))
    greet(context, socket)
    void requestOf(socket).then((line) => {
      if (line === undefined) return void socket.destroy()
      const answering = answer(context, socket, line).finally(() => active.delete(answering))
      active.add(answering)
    })
  })
  try {
    await listen(server, path)
  } catch (error) {
    moduleLog(context.log, 'store').debug(
      { problem: describeUnexpected(error) },
      'no socket for the queries of other commands',
    )
    return { async stop() {} }
  }
  server.unref()
  return {
    async stop() {
      await rm(path, { force: true })
      server.close()
      const grace = new Promise<void>((resolve) => setTimeout(resolve, graceMs).unref())
      await Promise.race([Promise.all(active), grace])
      for (const socket of open) socket.destroy()
    },
  }
}

/** Makes the socket aside and moves it into its place, so that nobody meets it before its rights are withdrawn. */
async function listen(server: Server, path: string): Promise<void> {
  const draft = draftPath(path)
  await rm(draft, { force: true })
  const listening = once(server, 'listening')
  server.listen(draft)
  await listening
  try {
    await chmod(draft, 0o600)
    await rename(draft, path)
  } catch (error) {
    server.close()
    throw error
  }
}

function greet(context: Context, socket: Socket): void {
  const greeting: Greeting = { version, pid: process.pid, desk: context.holder.desk }
  socket.write(`${JSON.stringify(greeting)}\n`)
}

async function answer(context: Context, socket: Socket, line: string): Promise<void> {
  socket.end(serialize(await answerTo(context, line)))
  if (!socket.closed) await once(socket, 'close').catch(() => {})
}

async function answerTo(context: Context, line: string): Promise<Answer> {
  try {
    const request = requestSchema.parse(JSON.parse(line))
    // Loaded for the first query: most commands are never asked.
    const { queries } = await import('./queries.ts')
    const query = Object.entries(queries).find(([name]) => name === request.query)?.[1]
    if (!query) throw new InputError('no_such_query', `there is no query ${request.query}`)
    const run = query.run as (context: Context, input: unknown) => Promise<unknown>
    return { result: await run(context, query.input.parse(request.input)) }
  } catch (error) {
    if (error instanceof PaydirtError)
      return { error: { kind: kindOf(error), code: error.code, message: error.message } }
    moduleLog(context.log, 'store').warn(
      { problem: describeUnexpected(error) },
      'a query of another command failed',
    )
    return { error: { kind: 'other', code: 'query_failed', message: describeUnexpected(error) } }
  }
}

function kindOf(error: PaydirtError): 'config' | 'input' | 'other' {
  if (error instanceof ConfigError) return 'config'
  return error instanceof InputError ? 'input' : 'other'
}
