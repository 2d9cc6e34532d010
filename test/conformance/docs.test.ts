import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

const manifest = JSON.parse(read('package.json')) as {
  dependencies: Record<string, string>
  devDependencies: Record<string, string>
  scripts: Record<string, string>
}

describe('docs/dependencies.md', () => {
  test.each([
    ['At run time', manifest.dependencies],
    ['For development', manifest.devDependencies],
  ])(
    'names under "%s" each dependency of package.json with a reason, and no other',
    (heading, dependencies) => {
      const section = read('docs/dependencies.md')
        .split(/^## /m)
        .find((it) => it.startsWith(heading))
      const rows = [...section!.matchAll(/^\| `([^`]+)` *\| (.+) \|$/gm)]
      expect(rows.map(([, name]) => name).sort()).toEqual(Object.keys(dependencies).sort())
      for (const [, name, reason] of rows)
        expect(reason!.trim().length, `reason for ${name}`).toBeGreaterThan(10)
    },
  )
})

describe('package.json', () => {
  test('has exact versions only', () => {
    const all = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies })
    expect(all.filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual([])
  })

  test('agrees with the lock file, which holds the packages of every platform', () => {
    const lock = JSON.parse(read('package-lock.json'))
    expect(lock.packages[''].dependencies).toEqual(manifest.dependencies)
    expect(lock.packages[''].devDependencies).toEqual(manifest.devDependencies)
    const check = spawnSync(process.execPath, ['scripts/complete-lock.mjs', '--check'], {
      cwd: root,
      encoding: 'utf8',
    })
    expect(check.stderr, 'mend it with `node scripts/complete-lock.mjs`').toBe('')
    expect(check.status).toBe(0)
  })

  test('decides about every install script', () => {
    const lock = JSON.parse(read('package-lock.json')) as {
      packages: Record<string, { hasInstallScript?: true }>
    }
    const withScript = Object.entries(lock.packages)
      .filter(([path, entry]) => path && entry.hasInstallScript)
      .map(([path]) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length))
    const decided = Object.keys(JSON.parse(read('package.json')).allowScripts)
    expect(withScript.filter((name) => !decided.includes(name))).toEqual([])
  })

  test('pins the Node that the image is built on', () => {
    expect(read('Dockerfile')).toContain(`FROM node:${manifest.devDependencies['node']}-slim`)
  })
})

describe('the guides', () => {
  const guides = ['README.md', 'CONTRIBUTING.md', 'AGENTS.md', 'docs/dependencies.md'].filter((it) =>
    existsSync(join(root, it)),
  )

  test.each(guides)('%s names only scripts that package.json has', (guide) => {
    const named = [...read(guide).matchAll(/npm (?:run ([\w:-]+)|(test)\b)/g)].map(
      ([, run, plain]) => run ?? plain!,
    )
    expect(named.filter((name) => !(name in manifest.scripts))).toEqual([])
  })

  test.each(guides)('%s links only to files that are there', (guide) => {
    const links = [...read(guide).matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, target]) => target!)
    const from = join(root, guide, '..')
    expect(links.filter((target) => !existsSync(join(from, target)))).toEqual([])
  })
})
