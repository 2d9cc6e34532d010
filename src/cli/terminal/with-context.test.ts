import { expect, test } from 'vitest'
import type { LogLevel } from '../../app/config/observing/log.ts'
import { levelFor, stopOrEnd } from './with-context.ts'

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

test('a Ctrl-C that a starter passes on to a program that has it already is one, and a second one ends the program', () => {
  const done: string[] = []
  let ms = 0
  const onSignal = stopOrEnd({ stop: () => done.push('stop'), end: () => done.push('end') }, () => ms)
  onSignal()
  ms = 400
  onSignal()
  expect(done).toEqual(['stop'])
  ms = 600
  onSignal()
  expect(done).toEqual(['stop', 'end'])
})
