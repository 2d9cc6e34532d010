/**
 * `leaseSlots` as a part of the take script: reads `pace.flight`, the fields `leases` and `test` in `f[7]` and `f[8]`, and what is
 * asked in ARGV 10 to 13. Sets `slots`, which the script returns.
 */
import { leaseMs, turnMs } from './leases.ts'

export const leaseLua = `
local slots = {}
if pace.flight then
  local limit, test, testTaken = pace.flight.limit, pace.flight.test, tonumber(f[8] or '0')
  local process, underWay, want = ARGV[10], tonumber(ARGV[11]), tonumber(ARGV[12])
  local at = math.floor(now)
  local leases, names, others, before = {}, {}, 0, 0
  for name, lease in pairs(cjson.decode(f[7] or '{}')) do
    if lease.untilMs > at then
      if name == process then
        before = lease.slots
      else
        lease.untilMs = math.min(lease.untilMs, at + ${leaseMs})
        leases[name] = lease
        names[#names + 1] = name
        others = others + lease.slots
      end
    end
  end
  local mine = { slots = before, want = want, hot = ARGV[13] == '1', untilMs = at + ${leaseMs} }
  leases[process] = mine
  names[#names + 1] = process
  table.sort(names)

  local function placeAmong(those)
    local first = math.floor(at / ${turnMs}) % #those
    local place = 0
    for _, hot in ipairs({ true, false }) do
      for i = 0, #those - 1 do
        local name = those[(first + i) % #those + 1]
        if leases[name].hot == hot then
          if name == process then return place end
          place = place + 1
        end
      end
    end
  end

  local function fairShare()
    local left = limit
    while true do
      local each = math.floor(left / #names)
      local rest, given = {}, 0
      for _, name in ipairs(names) do
        if leases[name].want <= each then
          if name == process then return want end
          given = given + leases[name].want
        else
          rest[#rest + 1] = name
        end
      end
      if #rest == #names then
        if placeAmong(names) < left % #names then return each + 1 end
        return each
      end
      left = left - given
      names = rest
    end
  end

  local share = math.max(0, math.min(fairShare(), limit - others))
  mine.slots = math.max(underWay, share)
  local isTest = test > testTaken and want > share and share > 0 and others + share >= limit
  if want == 0 and mine.slots == 0 then leases[process] = nil end
  if isTest then testTaken = test end
  redis.call('HSET', KEYS[1], 'leases', cjson.encode(leases), 'test', tostring(testTaken))
  slots = { isTest and share + 1 or share, mine.slots, isTest and 1 or 0 }
end
`
