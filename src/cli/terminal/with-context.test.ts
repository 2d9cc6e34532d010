import { expect, test } from 'vitest'
import type { LogLevel } from '../../app/config/observing/log.ts'
import { levelFor } from './with-context.ts'

test.each<[LogLevel, boolean, boolean, LogLevel]>([
  ['warn', true, true, 'error'],
  ['warn', true, false, 'warn'],
  ['warn', false, true, 'warn'],
  ['info', true, true, 'info'],
  ['silent', true, true, 'silent'],
])(
  'the level %s of a command that says its warnings (%s), on a terminal (%s), is %s',
  (level, saysItself, isTerminal, expected) => {
    expect(levelFor(level, { saysItself, isTerminal })).toBe(expected)
  },
)
