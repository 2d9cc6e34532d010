import { Redis } from 'ioredis'

/** Who in a worker sends a command to Redis. */
export type RedisCommands = Record<'queue' | 'pacer' | 'other', number>

/**
 * Counts each command that this process sends to Redis from now on, over all of its connections. The server's own statistics also
 * count what a script calls, and do not tell who sent it.
 */
export function countRedisCommands(): RedisCommands {
  const counts: RedisCommands = { queue: 0, pacer: 0, other: 0 }
  const prototype = Redis.prototype as unknown as { sendCommand: (...args: unknown[]) => unknown }
  const { sendCommand } = prototype
  prototype.sendCommand = function counting(this: unknown, ...args) {
    counts[senderOf(args[0] as { name: string; args: unknown[] })] += 1
    return sendCommand.apply(this, args)
  }
  return counts
}

function senderOf({ args }: { name: string; args: unknown[] }): keyof RedisCommands {
  const key = args.find((each) => typeof each === 'string' && each.includes(':'))
  if (key === undefined) return 'other'
  if (String(key).includes(':pacer:')) return 'pacer'
  return /:(lookup|lookup-block|lookup-claims|lookup-hot|write-back):/.test(`${String(key)}:`)
    ? 'queue'
    : 'other'
}
