/**
 * The Redis side. `take` mirrors `takeTokens` line by line (checked by token.test.ts) on the clock of Redis. `commit`
 * stores the learner's new state after a batch of reports, by compare-and-set on a version, and leaves the fields of
 * `take` alone.
 *
 * One hash per pacer: `pace` (JSON, written by the learner), `learner` (JSON, opaque here), `version`, and the meter's
 * `last`, `hotUntil`, `hotClaim`, `used` (JSON), and, while a limit on requests under way is known, `leases` (JSON) and `test`. Numbers go through '%.17g': Lua's default of 14 digits would cut an
 * epoch time to milliseconds.
 */
import { leaseLua } from './flight/lease-script.ts'
import { blockMs, mostLate } from './token.ts'

export const takeScript = `
local now = tonumber(ARGV[8])
if not now then
  local t = redis.call('TIME')
  now = tonumber(t[1]) * 1000 + tonumber(t[2]) / 1000
end
local f = redis.call('HMGET', KEYS[1], 'pace', 'version', 'last', 'hotUntil', 'hotClaim', 'used', 'leases', 'test')
if not f[1] then
  redis.call('HSET', KEYS[1], 'pace', ARGV[6], 'learner', ARGV[7], 'version', '0')
  f[1] = ARGV[6]
  f[2] = '0'
end
local pace = cjson.decode(f[1])
local last, hotUntil, hotClaim = tonumber(f[3] or '0'), tonumber(f[4] or '0'), tonumber(f[5] or '0')
local used = cjson.decode(f[6] or '{}')
local hot, background = tonumber(ARGV[1]), tonumber(ARGV[2])
local horizon, slack, share, presence = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[9])
last = math.min(last, now + math.max(${blockMs}, horizon))
hotUntil = math.min(hotUntil, now + presence)
local late = math.min(slack, ${mostLate} * pace.intervalMs)
local notBefore = pace.notBeforeMs - math.max(0, pace.setAtMs - now)
local function num(n) return string.format('%.17g', n) end
local function keyOf(w, index) return num(w.lengthMs) .. ':' .. num(w.anchorMs) .. ':' .. num(index) end

local function nextSlot(lane)
  local spacing = pace.intervalMs
  if lane == 'background' and hotUntil > now then spacing = spacing / (1 - share) end
  local due = last + spacing
  local busy = due > now - slack and spacing == pace.intervalMs
  local latest = now - late
  if pace.beginsAnew and due < latest then latest = now end
  local at = math.max(due, latest, notBefore)
  if lane == 'background' and hotClaim > now then at = math.max(at, hotClaim) end
  local places
  for round = 1, 8 do
    places = {}
    local openAt = at
    for i, w in ipairs(pace.windows) do
      local index = math.floor((at - w.anchorMs) / w.lengthMs)
      local permitted = w.limit
      if index == w.capIndex then permitted = w.cap end
      local ordinal = (used[keyOf(w, index)] or 0) + 1
      if ordinal > permitted then openAt = math.max(openAt, w.anchorMs + (index + 1) * w.lengthMs) end
      places[i] = { w = w, index = index, ordinal = ordinal }
    end
    if openAt == at then break end
    at = openAt
  end
  return at, busy, places
end

local grants = {}
local function spend(lane, at, busy, places)
  used = {}
  local g = { lane, num(at), busy and 1 or 0, num(pace.epoch) }
  for i, p in ipairs(places) do
    used[keyOf(p.w, p.index)] = p.ordinal
    g[#g + 1] = num(p.w.anchorMs)
    g[#g + 1] = num(p.w.lengthMs)
    g[#g + 1] = num(p.index)
    g[#g + 1] = num(p.ordinal)
  end
  last = at
  grants[#grants + 1] = g
end

local wantedHot = hot
if hot > 0 then hotUntil = now + presence end
while hot > 0 do
  local at, busy, places = nextSlot('hot')
  if at > now + horizon then break end
  spend('hot', at, busy, places)
  hot = hot - 1
end
if hot > 0 then
  hotClaim = nextSlot('hot') + slack
elseif wantedHot > 0 then
  hotClaim = 0
end
hotClaim = math.min(hotClaim, nextSlot('hot') + slack)
while background > 0 do
  local at, busy, places = nextSlot('background')
  if at > now + horizon then break end
  spend('background', at, busy, places)
  background = background - 1
end
${leaseLua}redis.call('HSET', KEYS[1], 'last', num(last), 'hotUntil', num(hotUntil), 'hotClaim', num(hotClaim), 'used', cjson.encode(used))
local learner = ''
if ARGV[14] and ARGV[14] ~= f[2] then learner = redis.call('HGET', KEYS[1], 'learner') end
return { num(now), f[2], num(nextSlot('hot') - now), num(nextSlot('background') - now), num(pace.intervalMs), grants, slots, learner }
`

/** Returns the version, the learner and the time: in one script, because on a cluster each node has a clock of its own. */
export const readScript = `
local t = redis.call('TIME')
local f = redis.call('HMGET', KEYS[1], 'version', 'learner')
return { f[1], f[2], string.format('%.17g', tonumber(t[1]) * 1000 + tonumber(t[2]) / 1000) }
`

/**
 * ARGV: expected version, pace JSON, learner JSON. Returns {1, version, now}, or on a lost race {0, version, now, learner}, so
 * that the loser can go on from there without another command.
 */
export const commitScript = `
local t = redis.call('TIME')
local now = string.format('%.17g', tonumber(t[1]) * 1000 + tonumber(t[2]) / 1000)
local f = redis.call('HGET', KEYS[1], 'version')
local version = f or ''
if version ~= ARGV[1] then return { 0, version, now, redis.call('HGET', KEYS[1], 'learner') } end
local following = tostring((tonumber(version) or 0) + 1)
redis.call('HSET', KEYS[1], 'pace', ARGV[2], 'learner', ARGV[3], 'version', following)
return { 1, following, now }
`
