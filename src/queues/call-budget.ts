import { randomUUID } from 'node:crypto'
import type { RedisClient } from './redis-client.ts'
import type { CallBudget, CallLimit } from '../domain/ports/call-budget.ts'

// Every limit has three keys: the calls of its window (a sorted set by time) or of its day (a counter), and the time
// until which it is closed. All limits are checked before any of them is charged, so that a refused call costs nothing.
const takeScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for i = 1, #KEYS, 2 do
  local at = (i - 1) / 2 * 3
  local kind, limit, span = ARGV[2 + at], tonumber(ARGV[3 + at]), tonumber(ARGV[4 + at])
  local closed = redis.call('PTTL', KEYS[i + 1])
  if closed > 0 then return {closed, (i + 1) / 2} end
  if kind == 'until' then
    local used = tonumber(redis.call('GET', KEYS[i]) or '0')
    if used >= limit then
      local left = redis.call('PTTL', KEYS[i])
      return {math.max(1, left), (i + 1) / 2}
    end
  else
    redis.call('ZREMRANGEBYSCORE', KEYS[i], '-inf', now - span)
    local used = redis.call('ZCARD', KEYS[i])
    if used >= limit then
      local oldest = redis.call('ZRANGE', KEYS[i], used - limit, used - limit, 'WITHSCORES')
      return {math.max(1, tonumber(oldest[2]) + span - now), (i + 1) / 2}
    end
  end
end
for i = 1, #KEYS, 2 do
  local at = (i - 1) / 2 * 3
  local kind, span = ARGV[2 + at], tonumber(ARGV[4 + at])
  if kind == 'until' then
    if redis.call('INCR', KEYS[i]) == 1 then redis.call('PEXPIREAT', KEYS[i], math.max(span, now + 1000)) end
  else
    redis.call('ZADD', KEYS[i], now, ARGV[1])
    redis.call('PEXPIRE', KEYS[i], span)
  end
end
return {0, 0}
`
const closeScript = `
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[1]) then redis.call('SET', KEYS[1], '1', 'PX', ARGV[1]) end
return 1
`
const learnScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if tonumber(ARGV[2]) <= now then return 0 end
if tonumber(redis.call('GET', KEYS[1]) or '0') < tonumber(ARGV[1]) then
  redis.call('SET', KEYS[1], ARGV[1])
  redis.call('PEXPIREAT', KEYS[1], ARGV[2])
end
return 1
`

interface Scripted {
  paydirtTakeCall(keys: number, ...args: (string | number)[]): Promise<[waitMs: number, index: number]>
  paydirtCloseLimit(key: string, forMs: number): Promise<number>
  paydirtLearnUsed(key: string, used: number, endsAtMs: number): Promise<number>
}

/**
 * The call budget of an account, shared by every process on one Redis. It uses the clock of Redis, so the clocks of the
 * processes need not agree.
 */
export function createCallBudget(redis: RedisClient, prefix: string): CallBudget {
  redis.defineCommand('paydirtTakeCall', { lua: takeScript })
  redis.defineCommand('paydirtCloseLimit', { numberOfKeys: 1, lua: closeScript })
  redis.defineCommand('paydirtLearnUsed', { numberOfKeys: 1, lua: learnScript })
  const scripted = redis as unknown as Scripted
  // All limits of an account share one hash slot, so that a script may access them all on a cluster.
  const key = (account: string, limit: string): string => `${prefix}:calls:{${account}}:${limit}`

  return {
    async take(account, limits) {
      if (limits.length === 0) return { waitMs: 0 }
      const keys = limits.flatMap(({ name }) => [key(account, name), `${key(account, name)}:closed`])
      const [waitMs, index] = await scripted.paydirtTakeCall(
        keys.length,
        ...keys,
        randomUUID(),
        ...limits.flatMap(limitArguments),
      )
      const limit = limits[index - 1]?.name
      return limit === undefined ? { waitMs } : { waitMs, limit }
    },
    async close(account, limit, forMs) {
      await scripted.paydirtCloseLimit(`${key(account, limit)}:closed`, Math.max(1, Math.ceil(forMs)))
    },
    async learn(account, limit, used, endsAtMs) {
      await scripted.paydirtLearnUsed(key(account, limit), used, Math.ceil(endsAtMs))
    },
  }
}

function limitArguments(limit: CallLimit): (string | number)[] {
  return 'endsAtMs' in limit
    ? ['until', limit.limit, Math.ceil(limit.endsAtMs)]
    : ['rolling', limit.limit, limit.windowMs]
}
