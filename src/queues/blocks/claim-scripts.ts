/**
 * The Redis side of claims. One hash has a field for each lookup that is in a block: the digest of its key, and as value `w` (waits) or
 * `b` (a worker has begun it) before the id of the block. A claim whose block does not exist is stale and holds nothing.
 *
 * Beside the hash the scripts read BullMQ's own keys of both queues: whether a job exists, who has its lock, and the data of a block.
 * All of them begin with the same prefix, and so are in one slot of a cluster. Answers are texts with a sign for each lookup.
 */

/** ARGV: keys of blocks, keys of single jobs, id of the blocks, their size (0: claim nothing), and the digests. `1` for each that is free. */
export const addScript = `
local blocks, singles, base, size = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local living, signs, taken = {}, {}, 0
for i = 5, #ARGV do
  local claim, free = redis.call('HGET', KEYS[1], ARGV[i]), true
  if claim then
    local id = string.sub(claim, 2)
    if living[id] == nil then living[id] = redis.call('EXISTS', blocks .. id) == 1 end
    free = not living[id]
  end
  if free and redis.call('EXISTS', singles .. ARGV[i]) == 1 then free = false end
  if free and size > 0 then
    redis.call('HSET', KEYS[1], ARGV[i], 'w' .. base .. '-' .. math.floor(taken / size))
    taken = taken + 1
  end
  signs[#signs + 1] = free and '1' or '0'
end
return table.concat(signs)
`

/**
 * ARGV: keys of blocks, keys of single jobs, and for each block its id, the token of its lock, the number of lookups that have ended and
 * of those to begin, and their digests. For each to begin `1`, `0` when it is no longer in the block, `-` when the block is lost.
 *
 * A lookup that has a job of its own is left to that job: its process was killed between the two.
 */
export const stepScript = `
local blocks, singles, signs = ARGV[1], ARGV[2], {}
local i = 3
while i <= #ARGV do
  local id, token, ended, begin = ARGV[i], ARGV[i + 1], tonumber(ARGV[i + 2]), tonumber(ARGV[i + 3])
  i = i + 4
  for _ = 1, ended do
    local claim = redis.call('HGET', KEYS[1], ARGV[i])
    if claim and string.sub(claim, 2) == id then redis.call('HDEL', KEYS[1], ARGV[i]) end
    i = i + 1
  end
  local held = begin > 0 and redis.call('GET', blocks .. id .. ':lock') == token
  for _ = 1, begin do
    local claim = held and redis.call('HGET', KEYS[1], ARGV[i])
    if not held then
      signs[#signs + 1] = '-'
    elseif not claim or string.sub(claim, 2) ~= id then
      signs[#signs + 1] = '0'
    elseif redis.call('EXISTS', singles .. ARGV[i]) == 1 then
      redis.call('HDEL', KEYS[1], ARGV[i])
      signs[#signs + 1] = '0'
    else
      redis.call('HSET', KEYS[1], ARGV[i], 'b' .. id)
      signs[#signs + 1] = '1'
    end
    i = i + 1
  end
end
return table.concat(signs)
`

/**
 * ARGV: keys of blocks, keys of single jobs, `1` to take out (otherwise only looks), the tokens of the caller's own locks, and for each lookup its digest and its key as the
 * block's data has it. Two signs for each: `0` not in a block, `1` waits (and is taken out), `h` held by a worker; then `1` when it has
 * a job of its own.
 *
 * A lookup that was begun is held as long as somebody else has the lock of its block: whoever has it itself knows what it has begun. What is taken out leaves no text in the block's data.
 */
export const takeScript = `
local blocks, singles, takes, own, signs = ARGV[1], ARGV[2], ARGV[3] == '1', ARGV[4], {}
for i = 5, #ARGV, 2 do
  local claim, sign = redis.call('HGET', KEYS[1], ARGV[i]), '0'
  if claim then
    local job = blocks .. string.sub(claim, 2)
    local data = redis.call('HGET', job, 'data')
    if data then
      sign = '1'
      local lock = string.sub(claim, 1, 1) == 'b' and redis.call('GET', job .. ':lock')
      if lock and not string.find(own, lock, 1, true) then sign = 'h' end
    end
    if takes and sign ~= 'h' then redis.call('HDEL', KEYS[1], ARGV[i]) end
    if takes and sign == '1' then
      local first, last = string.find(data, ARGV[i + 1], 1, true)
      if first then
        redis.call('HSET', job, 'data', string.sub(data, 1, first - 1) .. '""' .. string.sub(data, last + 1))
      end
    end
  end
  signs[#signs + 1] = sign .. redis.call('EXISTS', singles .. ARGV[i])
end
return table.concat(signs)
`

/** ARGV: keys of blocks, seconds after which a stale claim is removed. Returns how many lookups wait, and how many were begun. */
export const countScript = `
local blocks, keepsSeconds = ARGV[1], tonumber(ARGV[2])
local now = tonumber(redis.call('TIME')[1])
local claims, living, waiting, begun = redis.call('HGETALL', KEYS[1]), {}, 0, 0
for i = 1, #claims, 2 do
  local id = string.sub(claims[i + 1], 2)
  if living[id] == nil then living[id] = redis.call('EXISTS', blocks .. id) == 1 end
  if not living[id] then
    local made = tonumber(string.match(id, '^b(%d+)-')) or 0
    if now - made > keepsSeconds then redis.call('HDEL', KEYS[1], claims[i]) end
  elseif string.sub(claims[i + 1], 1, 1) == 'b' then
    begun = begun + 1
  else
    waiting = waiting + 1
  end
end
return {waiting, begun}
`
