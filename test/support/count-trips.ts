import { AsyncLocalStorage } from 'node:async_hooks'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { Server } from 'node:http'
import { Redis } from 'ioredis'
import pg from 'pg'
import { goesFirst } from '../../src/store/database/go-first.ts'

/** The steps of a press run in its request, or in the jobs that it leads to. */
type Chain = 'request' | 'jobs'

interface Trips {
  /** Round trips to Postgres, one after the other. */
  postgres: number
  redis: number
}

interface Line extends Trips {
  underWay: number
  held: (() => void)[]
  /** Changes with each statement, command and answer. */
  activity: number
}

/** The turns of the event loop within which a step that has its answer sends the next statement. */
const quietTurns = 20
/** Answered from memory for half a second: whether it is asked depends on the clock. */
const notCounted = /^\s*select 1 from suppressions/
/** The use of a CRM account's day is reported with every twentieth call, and the pacer asks again while no token is due. */
const nowAndThen = /^\S+ 1 \S+(:day|:pacer:\S+) /

/**
 * Counts the round trips of a press that follow each other, from now on. Each statement of a press is sent to Postgres, and its
 * answer is held until all that the same chain has asked by then are answered and nothing further is asked. Then all are handed on at once:
 * that is one trip. So the count is that of an infinitely slow network, whatever this machine does besides.
 */
export function countTrips(checkpoints: {
  /** By the path of a request that leaves this process. */
  requests: Record<string, RegExp>
  /** By the key of a command to Redis. */
  commands: Record<string, RegExp>
}) {
  const inRequest = new AsyncLocalStorage<true>()
  const lines: Record<Chain, Line> = { request: emptyLine(), jobs: emptyLine() }
  let reached: Record<string, Trips> = {}
  const chain = (): Chain => (inRequest.getStore() ? 'request' : 'jobs')
  const note = (named: Record<string, RegExp>, text: string) => {
    const { postgres, redis } = lines[chain()]
    for (const [name, pattern] of Object.entries(named))
      if (pattern.test(text)) reached[name] ??= { postgres, redis }
  }

  const onRequest = (message: unknown) =>
    note(checkpoints.requests, String((message as { request: { path: string } }).request.path))
  subscribe('undici:request:create', onRequest)
  const restores = [
    () => unsubscribe('undici:request:create', onRequest),
    patched(
      Server.prototype,
      'emit',
      (emit) =>
        function (this: Server, ...args: unknown[]) {
          return args[0] === 'request'
            ? inRequest.run(true, () => emit.apply(this, args))
            : emit.apply(this, args)
        },
    ),
    patched(
      pg.Client.prototype,
      'query',
      (query) =>
        function (this: pg.Client, ...args: unknown[]) {
          const answer = query.apply(this, args)
          if (!goesFirst() || !(answer instanceof Promise) || notCounted.test(String(args[0]))) return answer
          return held(lines[chain()], answer)
        },
    ),
    patched(
      Redis.prototype,
      'sendCommand',
      (send) =>
        function (this: Redis, ...args: unknown[]) {
          const keys = (args[0] as { args: unknown[] }).args.slice(0, 4).map(String).join(' ')
          const answer = send.apply(this, args)
          if (!goesFirst() || nowAndThen.test(keys)) return answer
          note(checkpoints.commands, keys)
          const line = lines[chain()]
          line.redis += 1
          void follow(line, Promise.resolve(answer))
          return answer
        },
    ),
  ]

  return {
    /** Does work and returns the trips up to each checkpoint, of the chain that came to it. */
    async of(work: () => Promise<unknown>): Promise<Record<string, Trips>> {
      reached = {}
      Object.assign(lines.request, emptyLine())
      Object.assign(lines.jobs, emptyLine())
      await work()
      return reached
    },
    stop: () => restores.forEach((restore) => restore()),
  }
}

function emptyLine(): Line {
  return { postgres: 0, redis: 0, underWay: 0, held: [], activity: 0 }
}

async function held<T>(line: Line, answer: Promise<T>): Promise<T> {
  const handedOn = new Promise<void>((resolve) => line.held.push(resolve))
  await follow(line, answer)
  await handedOn
  return answer
}

async function follow(line: Line, answer: Promise<unknown>): Promise<void> {
  line.underWay += 1
  line.activity += 1
  await answer.catch(() => {})
  line.underWay -= 1
  line.activity += 1
  void handOnWhenQuiet(line)
}

async function handOnWhenQuiet(line: Line): Promise<void> {
  const { activity } = line
  for (let turn = 0; turn < quietTurns; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  if (line.activity !== activity || line.underWay > 0 || line.held.length === 0) return
  line.postgres += 1
  line.activity += 1
  for (const handOn of line.held.splice(0)) handOn()
}

type Method = (...args: never[]) => unknown

/** Replaces a method, and returns how to put it back. */
function patched(
  owner: object,
  name: string,
  wrap: (method: (this: unknown, ...args: unknown[]) => unknown) => Method,
) {
  const methods = owner as Record<string, Method>
  const before = methods[name] as Method
  methods[name] = wrap(before as never)
  return () => void (methods[name] = before)
}
