// A server with hidden limits, one per path, counted by the sandbox's own limiter. It counts admitted and refused
// requests.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import { breathing, evenlySpaced, inFlight, neighbour, withPenalty } from '../src/queues/pacer/shapes.ts'
import { fixedWindow, outboundDelay, type HiddenLimit } from '../src/queues/pacer/simulation.ts'
import { companyAnswer } from '../src/sandbox/data/company.ts'
import { createDice } from '../src/sandbox/random.ts'
import type { RateLimit } from '../src/sandbox/faults/faults.ts'
import { createRateLimiter, type RateLimiter } from '../src/sandbox/faults/rate-limiter.ts'
import { readOrder, serveParent } from './child.ts'

export type Rule = Omit<RateLimit, 'countRefused'> & { countRefused?: boolean; shape?: Shape }

/** A limit that is no count of a window; `limit` is then what an oracle is served in `windowMs`, for the share of use. */
export type Shape =
  | { kind: 'spaced'; perSecond: number; burst: number }
  | { kind: 'penalty'; perSecond: number; penaltyMs: number }
  | { kind: 'at-once'; most: number; serviceMs: number }
  | { kind: 'breathing'; high: number; low: number; periodMs: number }
  | { kind: 'library'; perSecond: number; blockMs: number }
  | { kind: 'neighbour'; perSecond: number; most: number; turnMs: number }

/** The requests that arrived while one rule was in force, window by window from its first request on. */
export interface Phase {
  rules: Rule[]
  windows: { admitted: number; refused: number }[]
  /** Elapsed share of the last window, 0 to 1. */
  lastShare: number
  /** The requests that would have been served in each window, as far as the limit allows. */
  limits: number[]
  /** Arrival times in milliseconds from the first request on; kept only where the limit asks for even spacing. */
  arrivalsMs: number[]
}

/** As the simulation's, or one that answers a little later. */
type Hidden = ((atMs: number) => boolean | Promise<boolean>) & Pick<HiddenLimit, 'left'>

interface Book {
  rules: Rule[]
  limiters: RateLimiter[]
  hidden: Hidden | undefined
  /** The limit in requests a second at a time from the first request on, where it changes. */
  perSecondAt: ((atMs: number) => number) | undefined
  startMs: number
  windows: { admitted: number; refused: number }[]
  arrivalsMs: number[]
}

const { jitter } = readOrder<{ jitter: boolean }>()
const books = new Map<string, Book[]>()
const dice = createDice('limit server')
const random = () => dice.roll()

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    // Below the name of a limit is the service's own path: then the answer is one of the service.
    const [id = '', ...servicePath] = (request.url ?? '').slice(1).split('/')
    const book = books.get(id)?.at(-1)
    const body = servicePath.length > 0 ? serviceAnswer(Buffer.concat(chunks).toString()) : '{}'
    // The network delay, as in the simulation: the loopback has none.
    setTimeout(
      async () => {
        const status = book && !(await admit(book, performance.now())) ? 429 : 200
        setTimeout(
          () => {
            if (status === 200) book?.hidden?.left?.()
            if (status === 200) response.writeHead(200, { 'content-type': 'application/json' }).end(body)
            else
              response.writeHead(status).end('{"error":"Rate limit exceeded; retry after the window resets"}')
          },
          status === 429 ? 0 : serviceMs(book),
        )
      },
      jitter && !book?.hidden ? outboundDelay(random) : 0,
    )
  })
})
server.keepAliveTimeout = 120_000
server.listen(0, '127.0.0.1', () => {
  serveParent({
    url: () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    rule: ({ id, rules }: { id: string; rules: Rule[] }) => {
      const limiters = rules.map(() => createRateLimiter())
      const shape = rules[0]?.shape
      const perSecondAt = shape && changing(shape)
      const hidden = shape && hiddenLimit(shape, perSecondAt)
      const book = { rules, limiters, hidden, perSecondAt, startMs: 0, windows: [], arrivalsMs: [] }
      books.set(id, [...(books.get(id) ?? []), book])
    },
    phases: (id: string) => (books.get(id) ?? []).map(phaseOf),
  })
})

function serviceAnswer(body: string): string {
  const { profnet_url: profile } = JSON.parse(body || '{}') as { profnet_url?: string }
  return JSON.stringify(profile === undefined ? {} : companyAnswer(profile))
}

/** Shorter windows come first: a request that they refuse does not count for the longer ones. */
async function admit(book: Book, nowMs: number): Promise<boolean> {
  book.startMs ||= nowMs
  const place = Math.floor((nowMs - book.startMs) / countedMs(book))
  while (book.windows.length <= place) book.windows.push({ admitted: 0, refused: 0 })
  const window = book.windows[place] as { admitted: number; refused: number }
  if (book.rules[0]?.shape?.kind === 'spaced') book.arrivalsMs.push(nowMs - book.startMs)
  const isIn = book.hidden
    ? await book.hidden(nowMs - book.startMs)
    : book.rules.every((rule, index) =>
        (book.limiters[index] as RateLimiter).admit({ countRefused: false, ...rule }, nowMs),
      )
  if (isIn) window.admitted += 1
  else window.refused += 1
  return isIn
}

function changing(shape: Shape): ((atMs: number) => number) | undefined {
  if (shape.kind === 'breathing') return breathing(shape.high, shape.low, shape.periodMs)
  return shape.kind === 'neighbour' ? neighbour(random, shape) : undefined
}

function hiddenLimit(shape: Shape, perSecondAt?: (atMs: number) => number): Hidden {
  const counted = (limitAt: (atMs: number) => number) => fixedWindow({ limitAt, windowMs: 1_000 }, random)
  switch (shape.kind) {
    case 'spaced':
      return evenlySpaced(shape.perSecond, shape.burst)
    case 'penalty':
      return withPenalty(
        counted(() => shape.perSecond),
        shape.penaltyMs,
      )
    case 'at-once':
      return inFlight(shape.most)
    case 'library':
      return ofLibrary(shape)
    case 'breathing':
    case 'neighbour':
      return counted(perSecondAt as (atMs: number) => number)
  }
}

/** Windows that begin with their first request; the first refusal blocks. Neither is written by us. */
function ofLibrary({ perSecond, blockMs }: { perSecond: number; blockMs: number }): Hidden {
  const limiter = new RateLimiterMemory({ points: perSecond, duration: 1, blockDuration: blockMs / 1_000 })
  return () =>
    limiter.consume('client').then(
      () => true,
      () => false,
    )
}

function serviceMs(book: Book | undefined): number {
  const shape = book?.rules[0]?.shape
  return shape?.kind === 'at-once' ? shape.serviceMs : 40 + random() * 440
}

function countedMs({ rules }: Book): number {
  return Math.max(...rules.map(({ windowMs }) => windowMs))
}

function phaseOf(book: Book): Phase {
  const { rules, windows, arrivalsMs, perSecondAt } = book
  const lengthMs = countedMs(book)
  const share = (performance.now() - book.startMs) / lengthMs
  const most = Math.min(...rules.map(({ limit, windowMs }) => (limit * lengthMs) / windowMs))
  const limits = windows.map(
    (_, at) => (perSecondAt?.(at * lengthMs) ?? most / (lengthMs / 1_000)) * (lengthMs / 1_000),
  )
  return { rules, windows, arrivalsMs, limits, lastShare: share - Math.floor(share) }
}
