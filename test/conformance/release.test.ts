import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { isAllowed, productionLicences } from '../../scripts/licences.mjs'
import { nextVersion, released } from '../../scripts/release.mjs'

const root = join(import.meta.dirname, '../..')

test('every package of an installation is under an allowed licence', () => {
  const all = productionLicences()
  expect(all.length).toBeGreaterThan(100)
  expect(all.filter(({ licence }) => !isAllowed(licence))).toEqual([])
})

test.each([
  ['MIT', true],
  ['(MIT OR GPL-3.0)', true],
  ['(MIT AND GPL-3.0)', false],
  ['(Apache-2.0 AND MIT)', true],
  ['GPL-3.0-only', false],
  ['unknown', false],
])('%s is allowed: %s', (expression, allowed) => {
  expect(isAllowed(expression)).toBe(allowed)
})

test('a release raises one part of the version', () => {
  expect(['major', 'minor', 'patch'].map((part) => nextVersion('1.2.3', part))).toEqual([
    '2.0.0',
    '1.3.0',
    '1.2.4',
  ])
  expect(() => nextVersion('1.2.3', 'huge')).toThrow('usage')
})

test('a release puts what is unreleased under its version, and needs something there', () => {
  const log = '# Changelog\n\n## [Unreleased]\n\n### Added\n\n- A thing.\n\n## [0.1.0] - 2026-01-01\n'
  const after = released(log, '0.2.0', '2026-12-01')
  expect(after).toContain('## [Unreleased]\n\n## [0.2.0] - 2026-12-01\n\n### Added\n\n- A thing.')
  expect(() => released(after, '0.3.0', '2026-12-02')).toThrow('nothing under [Unreleased]')
})

test('the starter of an installed package says which Node it needs', () => {
  const starter = readFileSync(join(root, 'bin/paydirt.mjs'), 'utf8')
  // A static import of the checkout's starter would fail where scripts/ is not there.
  expect(starter).not.toMatch(/^import .*scripts/m)
  const { engines, dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const oldest = engines.node.replace('>=', '')
  for (const name of Object.keys(dependencies)) {
    const theirs = JSON.parse(readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8')).engines
      ?.node
    const floor = /^>= ?(\d[\d.]*)$/.exec(theirs ?? '')?.[1]
    if (floor) expect(compare(oldest, floor), `${name} wants ${theirs}`).toBeGreaterThanOrEqual(0)
  }
})

test('what the package reads or starts beside a module is on one line, where the build finds it', () => {
  const files = globSync('src/**/*.ts', { cwd: root }).filter((file) => !/\.(test|fixture)\.ts$/.test(file))
  const lines = files.flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8')
    return [...text.matchAll(/new URL\(\s*\n|import\.meta\.(?!url\b|dirname\b)\w+/g)].map(
      ([found]) => `${file}: ${found}`,
    )
  })
  expect(lines).toEqual([])
})

test('git ignores what a build and a release leave', () => {
  const ignored = execFileSync('git', ['check-ignore', 'dist/x', 'release/x'], {
    cwd: root,
    encoding: 'utf8',
  })
  expect(ignored).toBe('dist/x\nrelease/x\n')
})

function compare(left: string, right: string): number {
  const [a, b] = [left, right].map((text) => text.split('.').map(Number))
  for (const at of [0, 1, 2]) {
    const difference = (a![at] ?? 0) - (b![at] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}
