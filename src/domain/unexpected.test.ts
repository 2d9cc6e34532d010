import { expect, test } from 'vitest'
import { ConfigError, describeUnexpected } from './errors.ts'

test.each<[unknown, RegExp]>([
  [new TypeError('about Jane Doe'), /^TypeError at unexpected\.test\.ts:\d+$/],
  [Object.assign(new Error('about Jane Doe'), { code: '22P05' }), /^Error \(22P05\) at unexpected/],
  [Object.assign(new Error('x'), { code: 'a\nb'.repeat(20) }), /^Error at unexpected/],
  [Object.assign(new Error('x'), { stack: undefined }), /^Error$/],
  ['Jane Doe', /^a thrown string$/],
  [undefined, /^a thrown undefined$/],
  [new ConfigError('missing', 'set it'), /^missing: set it$/],
])('an error that no code expected is told by its class, code and place (%#)', (error, line) => {
  expect(describeUnexpected(error)).toMatch(line)
})
