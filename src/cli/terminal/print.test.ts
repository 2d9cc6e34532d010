import { globSync, readFileSync } from 'node:fs'
import { expect, onTestFinished, test, vi } from 'vitest'
import { print, printError } from './print.ts'

test('text from outside cannot command the terminal', () => {
  const out = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  const error = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  onTestFinished(() => {
    out.mockRestore()
    error.mockRestore()
  })
  print('Acme\u001b[2J\n')
  printError('Acme\u202e\n')
  expect(out).toHaveBeenCalledExactlyOnceWith('Acme\\u001b[2J\n')
  expect(error).toHaveBeenCalledExactlyOnceWith('Acme\\u202e\n')
})

test('every command writes through it', () => {
  const sources = globSync('src/cli/**/*.ts', { exclude: ['**/*.test.ts', '**/terminal/print.ts'] })
  expect(sources.length).toBeGreaterThan(20)
  const direct = sources.filter((path) =>
    /std(?:out|err)\.write\(|console\./.test(readFileSync(path, 'utf8')),
  )
  // A prompt and its end, without any text from outside.
  expect(direct).toEqual(['src/cli/setup/password.ts'])
})
