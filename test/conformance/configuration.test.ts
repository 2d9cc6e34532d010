import { execFile } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { format, resolveConfig as prettierConfig } from 'prettier'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { listSettings, type Setting } from '../../scripts/configuration/list-settings.ts'
import { writeParts } from '../../scripts/configuration/reference.ts'
import { resolveConfig } from '../../src/app/config/config.ts'
import { describeIssues } from '../../src/app/config/describe-issues.ts'
import { readEnvironment, variableGroups } from '../../src/app/config/environment.ts'
import { fileSchema } from '../../src/app/config/file.ts'
import { ruleOf } from '../../src/app/config/policies.ts'
import { hubspotMapping } from '../../src/connectors/hubspot/mapping.ts'
import { hashPassword } from '../../src/http/desk/access/password.ts'

const root = join(import.meta.dirname, '../..')
const page = join(root, 'docs/configuration.md')

const variables = Object.values(variableGroups).flatMap((group) => listSettings(z.object(group)))
const keys = listSettings(fileSchema)
const byPath = (settings: readonly Setting[]) => settings.map((each): [string, Setting] => [each.path, each])

describe('docs/configuration.md', () => {
  test('is what the schemas say (`node scripts/run.mjs configuration` writes it)', async () => {
    const text = readFileSync(page, 'utf8')
    const options = { ...(await prettierConfig(page)), filepath: page }
    expect(await format(writeParts(text), options)).toBe(text)
  })

  test('lists everything that can be set', () => {
    expect(variables.length).toBeGreaterThan(40)
    expect(keys.length).toBeGreaterThan(80)
    const paths = [...variables, ...keys].map(({ path }) => path)
    expect(paths.filter((path, at) => paths.indexOf(path) !== at)).toEqual([])
  })
})

/** Those that are applied later, by the connector when it is opened or by what uses them: there is nothing yet to compare. */
const appliedLater = /^(HUBSPOT_|OTEL_|connectors\.|policies\.default|pacing\.startPerSecond)/

describe.each(byPath([...variables, ...keys]))('%s', (_path, { note, schema }) => {
  test('says what it means', () => {
    expect(
      note?.means.length ?? 0,
      'a note beside its schema: setting(schema, { means, … })',
    ).toBeGreaterThan(5)
  })

  test('has an example that it accepts, and a default that it accepts', () => {
    expect(note?.example === undefined).toBe(note?.isSecret === true)
    for (const value of [note?.example, note?.default]) {
      if (value === undefined) continue
      expect(schema.safeParse(value).error?.issues ?? []).toEqual([])
    }
  })
})

describe('the default in the reference is the one in force:', () => {
  const plain = JSON.stringify(resolved({}, {}))
  const withDefault = ({ path, note }: Setting) => note?.default !== undefined && !appliedLater.test(path)

  test.each(byPath(variables.filter(withDefault)))('%s', (name, { note }) => {
    expect(JSON.stringify(resolved({ [name]: String(note?.default) }, {}))).toBe(plain)
  })

  const ofFile = keys.filter((setting) => withDefault(setting) && !/[A-Z]{4}|\[\]/.test(setting.path))
  test.each(byPath(ofFile))('%s', (path, { note }) => {
    expect(JSON.stringify(resolved({}, nested(path, note?.default)))).toBe(plain)
  })

  test('policies.default', () => {
    const note = keys.find(({ path }) => path === 'policies.default')?.note
    expect(ruleOf({}, 'hubspot', 'industry')).toBe(note?.default)
  })

  test('and what is compared would show a change', () => {
    expect(JSON.stringify(resolved({}, { budgets: { runUsd: '49' } }))).not.toBe(plain)
  })
})

describe('a misspelt key is refused with the right one:', () => {
  test.each(byPath(keys))('%s', (path) => {
    const misspelt = path.replace(/[^.[\]]+$/, (key) => `${key.slice(0, 1)}${key}`)
    const result = fileSchema.safeParse(nested(misspelt, 'x'))
    const said = describeIssues(fileSchema, result.error?.issues ?? [])
    // A key alone may leave others of its object missing, which is said too.
    expect(said).toContain(`${filled(misspelt)} is not a setting; did you mean`)
    const [right = ''] = path.split('.').slice(-1)
    expect(said.split('; ').find((part) => part.includes('did you mean'))).toMatch(
      new RegExp(`\\b${right}\\b`),
    )
  })
})

describe('the examples of config files in the documentation', () => {
  // Declarations of the library are no settings, and its programs have a test of their own.
  const pages = globSync(['README.md', 'docs/*.md'], { cwd: root }).filter((path) => path !== 'docs/api.md')
  const blocks = pages
    .flatMap((path) =>
      [...readFileSync(join(root, path), 'utf8').matchAll(/```ts\n([\s\S]*?)```/g)].map(
        ([, code = ''], at): [string, string] => [`${path} ${at + 1}`, code],
      ),
    )
    .filter(([, code]) => !code.includes('createPaydirt'))

  test('are accepted, each as a file in an empty folder', async () => {
    expect(blocks.length).toBeGreaterThanOrEqual(6)
    const folder = await mkdtemp(join(tmpdir(), 'paydirt-examples-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const hash = await hashPassword('correct horse battery')
    for (const [at, [, code]] of blocks.entries()) {
      await mkdir(join(folder, String(at)))
      await writeFile(
        join(folder, String(at), 'paydirt.config.ts'),
        asFile(code.replace(/'scrypt:[^']*…'/, `'${hash}'`)),
      )
    }
    // In a process of its own, because Vite would load the files here. One for all: to start costs more than to load.
    const script = `
      import { loadConfigFile } from ${JSON.stringify(new URL('../../src/app/config/file.ts', import.meta.url).href)}
      import { resolveConfig } from ${JSON.stringify(new URL('../../src/app/config/config.ts', import.meta.url).href)}
      const refused = []
      for (let at = 0; at < ${blocks.length}; at += 1) {
        try {
          resolveConfig({}, await loadConfigFile(${JSON.stringify(folder)} + '/' + at))
        } catch (error) { refused.push([at, error.message]) }
      }
      process.stdout.write(JSON.stringify(refused))`
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script])
    const refused = (JSON.parse(stdout) as [number, string][]).map(([at, message]) => [
      blocks[at]?.[0],
      message,
    ])
    expect(refused).toEqual([])
  })
})

function resolved(env: Record<string, string>, file: object) {
  const config = resolveConfig(readEnvironment(env), fileSchema.parse(file))
  return JSON.parse(
    JSON.stringify(config, (_key, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value)),
  ) as unknown
}

/** Returns a config in which the setting at a path has this value, with names in place of NAME, OBJECT and FIELD. */
function nested(path: string, value: unknown): object {
  return filled(path)
    .split('.')
    .reduceRight<unknown>((inner, key) => (/^\d+$/.test(key) ? [inner] : { [key]: inner }), value) as object
}

function filled(path: string): string {
  const [entity] = Object.keys(path.includes('salesforce') ? { Account: 0 } : hubspotMapping.entities)
  return path
    .replace('NAME', 'any')
    .replace('OBJECT', entity ?? '')
    .replace('FIELD', 'employees')
    .replace('[]', '.0')
}

/** A block is a file, a file without its import, or some keys of one. */
function asFile(code: string): string {
  if (code.includes('import ')) return code
  const importing = `import { defineConfig } from 'paydirt'\n`
  return code.includes('export default') ? importing + code : `export default {\n${code}\n}\n`
}
