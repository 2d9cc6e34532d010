import type { ResponseHead } from '../../src/domain/payment.ts'

/** Random choices from a seed, the same in each run. */
export interface Dice {
  /** A whole number from 0 to `sides` - 1. */
  roll(sides: number): number
  pick<T>(values: readonly T[]): T
}

/** mulberry32: small, and good enough to choose what to break. */
export function createDice(seed: number): Dice {
  let state = seed >>> 0
  function roll(sides: number): number {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * sides)
  }
  return { roll, pick: (values) => values[roll(values.length)]! }
}

const nastyTexts = [
  '',
  '0',
  '-1',
  '9999',
  '10000',
  '10001',
  '1e4',
  'eip155:1',
  'base',
  'permit2',
  'upfront',
  '0x00000000000000000000000000000000DeaDBeef',
  'a\u0000b',
  '\ud800',
  '\u202e',
  '__proto__',
  '💥'.repeat(30),
  'x'.repeat(20_000),
]
const nastyNumbers = [0, -0, -1, 1, 0.5, 299, 300, 3_600, 3_601, 2 ** 53, -5, 1e30, 10_000]
const nastyValues = [...nastyTexts, ...nastyNumbers, null, true, false, [], {}, [[]], { a: 1 }]
/** JSON that `JSON.stringify` never writes. */
const rawJson = [
  '1e400',
  '-1e400',
  '9'.repeat(400),
  `${'['.repeat(200)}${']'.repeat(200)}`,
  `${'['.repeat(60_000)}${']'.repeat(60_000)}`,
  '{"__proto__":{"amount":"1"}}',
  '"\\ud800"',
  '"\\u0000"',
  '"1","amount":"99999999"',
]

type Place = [Record<string, unknown>, string]

function places(value: object): Place[] {
  return Object.entries(value).flatMap(([name, each]) => [
    [value as Record<string, unknown>, name] as Place,
    ...(typeof each === 'object' && each !== null ? places(each as object) : []),
  ])
}

/** Returns a JSON text with up to three of its places changed, dropped or added. */
function changedJson(text: string, dice: Dice): string {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return scarred(text, dice)
  }
  if (typeof value !== 'object' || value === null) return scarred(text, dice)
  const raws: string[] = []
  for (let edits = 1 + dice.roll(3); edits > 0; edits -= 1) {
    const all = places(value)
    if (all.length === 0) break
    const [parent, name] = dice.pick(all)
    const how = dice.roll(5)
    if (how === 0) delete parent[name]
    else if (how === 1) parent[`x${dice.roll(9)}`] = dice.pick(nastyValues)
    else if (how === 2) parent[name] = `@@${raws.push(dice.pick(rawJson)) - 1}@@`
    else parent[name] = dice.pick(nastyValues)
  }
  return JSON.stringify(value).replace(/"@@(\d)@@"/g, (_, at: string) => raws[Number(at)]!)
}

/** Returns a text with some characters cut out or put in. */
function scarred(text: string, dice: Dice): string {
  const at = dice.roll(text.length + 1)
  const put = dice.pick(['', '"', '}', '\u0000', '=', 'ÿ', ' ', '\\'])
  return text.slice(0, at) + put + text.slice(at + dice.roll(12))
}

const fromBase64 = (text: string) => Buffer.from(text, 'base64').toString('utf8')
const toBase64 = (text: string) => Buffer.from(text).toString('base64')

/** Returns the 402 of an official server with its challenge changed, moved, scarred or blown up. */
export function mutatedChallenge(head: ResponseHead, dice: Dice): ResponseHead {
  const text = fromBase64(head.headers['payment-required'] ?? '')
  const { 'payment-required': _, ...others } = head.headers
  switch (dice.roll(9)) {
    case 0:
      return { ...head, headers: others, body: changedJson(text, dice) }
    case 1:
      return { ...head, headers: { ...others, 'payment-required': scarred(toBase64(text), dice) } }
    case 2:
      return {
        ...head,
        headers: others,
        body: dice.pick(['', '{}', '[]', 'null', '<html>', `"${'x'.repeat(80_000)}"`]),
      }
    case 3: {
      const status = dice.pick([200, 201, 204, 301, 400, 402, 403, 404, 409, 500])
      return { ...head, status }
    }
    case 4:
      return { ...head, body: `<html>${'x'.repeat(dice.roll(100_000))}` }
    default:
      return { ...head, headers: { ...others, 'payment-required': toBase64(changedJson(text, dice)) } }
  }
}

const costs = ['1e30', '-5', '1e400', '"NaN"', '"1e30"', '0', '1', '100001', 'null', '{}', '0.0000001']
const bodies = [
  '',
  'null',
  '[]',
  '{}',
  '{"data":null}',
  '{"data":[]}',
  '{"data":{}}',
  '{"data":{"company_name":"a\\u0000b","profnet_name":"\\ud800"}}',
  `{"data":{"company_name":"A","deep":${'['.repeat(50_000)}${']'.repeat(50_000)}}}`,
  '{"data":{"company_name":"A","founded_year":1e400,"__proto__":{"x":1}}}',
  `{"data":{"company_name":"A"},"metadata":{"ignored_fields":[${'"x",'.repeat(500)}"y\\u0000"]}}`,
]

/** A mutated answer: a response, or a connection that ended without one. */
export type Mutated = ResponseHead | 'lost'

/**
 * Returns an answer of an official server with its status, receipt or body changed. It never claims a payment that the
 * server did not make: no ledger can know better before it compares with the chain.
 */
export function mutatedAnswer(head: ResponseHead, dice: Dice): Mutated {
  switch (dice.roll(10)) {
    case 0:
      return 'lost'
    case 1:
      return { ...head, status: dice.pick([200, 201, 202, 203, 204, 206, 299]) }
    case 2:
      return { ...head, status: dice.pick([301, 400, 402, 403, 404, 408, 409, 416, 418, 500, 502, 503]) }
    case 3: {
      const { 'payment-response': _, ...headers } = head.headers
      return { ...head, headers }
    }
    case 4: {
      const proof = head.headers['payment-response']
      return proof === undefined
        ? head
        : { ...head, headers: { ...head.headers, 'payment-response': scarred(proof, dice) } }
    }
    case 5: {
      const profile = `{"credit":1,"total_credit_cost":${dice.pick(costs)}}`
      const data = dice.pick(['null', '{"company_name":"A"}', `{"company_name":"A","profile":${profile}}`])
      return { ...head, body: `{"data":${data},"metadata":{"profile":${profile}}}` }
    }
    case 6:
      return { ...head, body: dice.pick(bodies) }
    case 7:
      return { ...head, body: scarred(head.body, dice) }
    case 8:
      return { ...head, body: head.body.slice(0, dice.roll(head.body.length)), cutAfterBytes: 2_097_152 }
    default:
      return { ...head, body: changedJson(head.body, dice) }
  }
}
