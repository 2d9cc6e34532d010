import { spawnSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { environmentVariables } from '../../src/app/config/environment.ts'
import { createProgram } from '../../src/cli/program.ts'

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

describe('docs/decisions', () => {
  test('are numbered without gaps, dated, and listed in the index in that order', () => {
    const paths = globSync('docs/decisions/*.md', { cwd: root }).sort()
    for (const [at, path] of paths.entries()) {
      expect(path).toMatch(new RegExp(`/${String(at + 1).padStart(4, '0')}-`))
      expect(read(path)).toMatch(new RegExp(`^# ${at + 1}\\. .+\n\nDate: \\d{4}-\\d\\d-\\d\\d\\.`))
    }
    const listed = [...read('docs/README.md').matchAll(/\((decisions\/[^)]+)\)/g)].map(
      ([, path]) => `docs/${path}`,
    )
    expect(listed).toEqual(paths)
  })
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
    expect(read('Dockerfile')).toContain(`NODE_IMAGE=node:${manifest.devDependencies['node']}-slim\n`)
  })
})

/** The variables that the HubSpot app is built with, from its profile. */
const hubspotProfileVariables = Object.keys(
  (JSON.parse(read('crm/hubspot/src/hsprofile.production.json')) as { variables: object }).variables,
)

const pages = globSync(['*.md', 'docs/**/*.md', 'deploy/*.md', 'crm/*/*.md', 'samples/*.md'], {
  cwd: root,
}).sort()

test('every page is read', () => {
  expect(pages.length).toBeGreaterThan(15)
})

describe.each(pages)('%s', (page) => {
  const text = read(page)
  /** Code spans and code blocks, without their fences. */
  const spans = [...text.matchAll(/```[a-z]*\n([\s\S]*?)```|`([^`\n]+)`/g)].map(
    ([, block, span]) => block ?? span!,
  )

  test('links only to files that are there', () => {
    const links = [...text.matchAll(/\]\((?!https?:|#|mailto:)([^)#]+)/g)].map(([, target]) => target!)
    expect(links.filter((target) => !existsSync(join(root, page, '..', target)))).toEqual([])
  })

  test('has no semicolon in a Mermaid diagram, where it ends a statement', () => {
    const diagrams = [...text.matchAll(/```mermaid\n([\s\S]*?)```/g)].map(([, diagram]) => diagram!)
    expect(diagrams.filter((diagram) => diagram.includes(';'))).toEqual([])
  })

  test('names only paths that are there', () => {
    const paths = spans.filter((span) =>
      /^(?:src|test|docs|scripts|bench|crm|bin|samples|\.ci)\/[\w./*-]*$/.test(span),
    )
    const isThere = (path: string) =>
      [root, join(root, page, '..')].some((cwd) => globSync(path, { cwd }).length > 0)
    expect(paths.filter((path) => !isThere(path))).toEqual([])
  })

  test('names only scripts that package.json has', () => {
    const named = [...text.matchAll(/npm (?:run ([\w:-]+)|(test)\b)/g)].map(([, run, plain]) => run ?? plain!)
    expect(named.filter((name) => !(name in manifest.scripts))).toEqual([])
  })

  test('names only commands and options that the command line has', () => {
    const calls = spans.flatMap((span) =>
      [...span.matchAll(/(?:^|\n|npx )paydirt ([a-z].*)/g)].map(([, call]) => call!),
    )
    expect(calls.flatMap(unknownIn)).toEqual([])
  })

  test('names only variables that are read', () => {
    const named = [...text.matchAll(/`((?:PAYDIRT|HUBSPOT|SALESFORCE)_[A-Z_]*[A-Z])`/g)].map(
      ([, name]) => name!,
    )
    const known = [
      ...environmentVariables,
      ...(page.startsWith('crm/hubspot/') ? hubspotProfileVariables : []),
    ]
    expect(named.filter((name) => !known.includes(name))).toEqual([])
  })
})

/** Returns the first word or option of a call that commander does not know. */
function unknownIn(call: string): string[] {
  const words = call.replace(/\s+#.*$/, '').split(/\s+/)
  let command: Command | undefined = createProgram().commands.find((it) => it.name() === words[0])
  if (!command) return [`paydirt ${words[0]}`]
  for (const word of words.slice(1))
    command = command.commands.find((it) => word.split(/\\?\|/).includes(it.name())) ?? command
  const options = words.filter((word) => /^\[?--?[a-z]/.test(word)).map((word) => word.replace(/[^\w-]/g, ''))
  const known = [...command.options.flatMap(({ long, short }) => [long, short]), '--help', '--version']
  return options.filter((option) => !known.includes(option)).map((option) => `paydirt ${words[0]} ${option}`)
}

describe('docs/commands.md', () => {
  test('lists every command', () => {
    const listed = [...read('docs/commands.md').matchAll(/^\| `paydirt ([a-z]+)/gm)].map(([, name]) => name)
    expect(listed.sort()).toEqual(
      createProgram()
        .commands.map((it) => it.name())
        .sort(),
    )
  })
})
