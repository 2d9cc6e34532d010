import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { findTestBreaches } from './test-rules.ts'

const root = join(import.meta.dirname, '../..')
/** Holds the planted breaches. */
const ownPath = 'test/conformance/test-files.test.ts'

test('the files of the tests break none of their rules', () => {
  const paths = globSync(['test/**/*.ts', 'src/**/*.{test,fixture}.ts'], { cwd: root }).filter(
    (path) => path !== ownPath,
  )
  expect(paths.length).toBeGreaterThan(300)
  const sources = new Map(paths.map((path) => [path, readFileSync(join(root, path), 'utf8')]))
  expect(findTestBreaches(sources)).toEqual([])
})

describe('a planted breach is found:', () => {
  test.each([
    [
      'a long test file without a reason',
      { 'test/integration/a.test.ts': 'x()\n'.repeat(301) },
      'test/integration/a.test.ts has more than 300 lines and gives no reason in its first line',
    ],
    [
      'a fixture with a hook of its own',
      { 'test/integration/a.fixture.ts': 'let desk\nbeforeEach(() => {})' },
      'test/integration/a.fixture.ts registers hooks or tests outside a function',
    ],
    [
      'a module replaced before all tests',
      { 'src/pay/a.test.ts': `vi.mock('./a.ts', () => ({ b }))` },
      'src/pay/a.test.ts replaces a module: pass the dependency in',
    ],
    [
      'a module replaced within a test',
      { 'src/pay/a.fixture.ts': `async function useB() {\n  await vi\n    .doMock('./b.ts')\n}` },
      'src/pay/a.fixture.ts replaces a module: pass the dependency in',
    ],
  ])('%s', (_, files, breach) => {
    expect(findTestBreaches(new Map(Object.entries(files)))).toEqual([breach])
  })

  test('and none where there is none', () => {
    const files = {
      'test/integration/a.test.ts': `// One file because its table is one.\n${'x()\n'.repeat(400)}`,
      'test/integration/a.fixture.ts': 'function useDesk() {\n  beforeEach(() => {})\n}',
      'src/pay/a.test.ts': `// vi.mock('./a.ts') would last too long\nvi.mocked(b)`,
    }
    expect(findTestBreaches(new Map(Object.entries(files)))).toEqual([])
  })
})
