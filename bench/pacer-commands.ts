import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { createPacer } from '../src/queues/pacer/pacer.ts'
import { seeded } from '../src/queues/pacer/simulation.ts'
import { missingServers, startRedis } from '../test/faults/servers.ts'
import type { BenchOptions } from './options.ts'
import { printTable, round } from './table.ts'

/** Commands that a pacer sends, by what they are for. */
type Commands = Record<'takes' | 'commits' | 'reads', number>

interface Shape {
  /** The service serves so many a second. Infinity: whoever asks is served, and the callers are the bottleneck. */
  limit: number
  processes: number
  /** Requests that may be under way or waiting, in all. */
  callers: number
  latencyMs: number
}

const shapes: Shape[] = [10, 200, 500, 1_000, Infinity].flatMap((limit) =>
  [1, 4].map((processes) => ({ limit, processes, callers: 256, latencyMs: limit === Infinity ? 300 : 100 })),
)

/**
 * Counts the Redis commands that the pacer costs for each lookup, at paces from 10 to 1,000 a second, in one process and in four.
 * Each process is a pacer with a connection of its own; the service is a count in this process. `--only 1000,Infinity` narrows it.
 */
export async function pacerCommands(options: BenchOptions): Promise<object[]> {
  const missing = missingServers()
  if (missing !== undefined) {
    process.stderr.write(`skipped: ${missing}\n`)
    return []
  }
  const server = await startRedis()
  const rows: object[] = []
  try {
    const { only } = options
    const wanted = shapes.filter(({ limit }) => only.length === 0 || only.includes(String(limit)))
    for (const shape of wanted) rows.push(await measure(server.url, shape, options.quick))
  } finally {
    await server.stop()
  }
  printTable('pacer-commands: Redis commands for each lookup (goal at 1,000/s: below 0.2)', rows)
  return rows
}

async function measure(url: string, shape: Shape, quick: boolean): Promise<object> {
  const { limit, processes, callers, latencyMs } = shape
  const random = seeded(1)
  const commands: Commands = { takes: 0, commits: 0, reads: 0 }
  const admits = fixedSecond(limit)
  let lookups = 0
  let refused = 0
  let isOver = false
  const clients = Array.from({ length: processes }, () => new Redis(url))
  const initialPerSecond = Math.min(1_000, limit)
  const pacers = clients.map((redis) => {
    const pacer = createPacer(redis, { prefix: 'bench', name: `${limit}-${processes}`, initialPerSecond })
    countScripts(redis, commands)
    return pacer
  })
  const caller = async (pacer: (typeof pacers)[number]) => {
    while (!isOver) {
      const token = await pacer.take({ lane: 'background', maxWaitMs: 30_000 })
      if (!token.granted) {
        await sleep(Math.min(1_000, token.retryInMs))
        continue
      }
      await pacer.depart(token.grantId)
      const isServed = admits()
      if (isServed) await sleep(latencyMs * (0.5 + random()))
      lookups += 1
      if (!isServed) refused += 1
      await pacer.report({ grantId: token.grantId, kind: isServed ? 'ok' : 'limited' })
    }
  }
  const running = Array.from({ length: callers }, (_, i) => caller(pacers[i % processes]!))
  // Blocks begin when the pace has not risen for five seconds.
  await sleep(quick ? 100 : 7_000)
  const before = { ...commands, lookups, refused, atMs: performance.now() }
  await sleep(quick ? 200 : 10_000)
  const done = lookups - before.lookups
  const each = (what: keyof Commands) => round((commands[what] - before[what]) / done, 3)
  const row = {
    limit: String(limit),
    processes,
    'a second': round((1_000 * done) / (performance.now() - before.atMs), 0),
    'refused, %': round((100 * (refused - before.refused)) / done, 2),
    takes: each('takes'),
    commits: each('commits'),
    reads: each('reads'),
    sum: round(each('takes') + each('commits') + each('reads'), 3),
  }
  isOver = true
  for (const pacer of pacers) await pacer.close()
  await Promise.all(running)
  for (const client of clients) client.disconnect()
  return row
}

function countScripts(redis: Redis, commands: Commands): void {
  const scripts = redis as unknown as Record<string, (...args: unknown[]) => unknown>
  const names = {
    paydirtTakeTokens: 'takes',
    paydirtCommitPace: 'commits',
    paydirtReadPace: 'reads',
  } as const
  for (const [name, what] of Object.entries(names)) {
    const send = scripts[name]!.bind(redis)
    scripts[name] = (...args) => {
      commands[what] += 1
      return send(...args)
    }
  }
}

function fixedSecond(limit: number): () => boolean {
  let second = 0
  let used = 0
  return () => {
    const now = Math.floor(performance.now() / 1_000)
    if (now !== second) used = 0
    second = now
    used += 1
    return used <= limit
  }
}
