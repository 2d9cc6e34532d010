import { afterEach, expect, test, vi } from 'vitest'
import { bad, good, painted, sign } from './style.ts'

afterEach(() => vi.unstubAllEnvs())

function stream(isTTY: boolean): NodeJS.WriteStream {
  // Colours are asked of the stream by Node, as of a real one.
  return Object.assign(Object.create(process.stdout) as NodeJS.WriteStream, {
    isTTY,
    getColorDepth: (env = process.env) => (env['NO_COLOR'] ? 1 : 8),
  })
}

const text = `${good(sign('✓', 'ok'))}  ledger ${bad('3 lost')}\n`
const plain = 'ok  ledger 3 lost\n'

test('a terminal gets colours and signs, everything else words', () => {
  for (const name of ['NO_COLOR', 'FORCE_COLOR', 'NODE_DISABLE_COLORS']) vi.stubEnv(name, undefined)
  vi.stubEnv('TERM', 'xterm-256color')
  expect(painted(text, stream(true))).toBe('\u001b[32m✓\u001b[39m  ledger \u001b[31m3 lost\u001b[39m\n')
  expect(painted(text, stream(false))).toBe(plain)
  vi.stubEnv('NO_COLOR', '1')
  expect(painted(text, stream(true))).toBe('✓  ledger 3 lost\n')
})

test('FORCE_COLOR colours what is no terminal', () => {
  vi.stubEnv('NO_COLOR', undefined)
  vi.stubEnv('FORCE_COLOR', '1')
  expect(painted(text, stream(false))).toBe('\u001b[32mok\u001b[39m  ledger \u001b[31m3 lost\u001b[39m\n')
})

test('text from outside cannot be a mark', () => {
  const foreign = good('x').replace(/[0-9a-f]{16}/g, '0123456789abcdef')
  expect(foreign).not.toBe(good('x'))
  expect(painted(`${foreign}${good('')}`, stream(false))).toBe(foreign)
})
