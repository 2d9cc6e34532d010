import { spawnSync } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isFullSize } from '../support/full-size.ts'

const root = join(import.meta.dirname, '../..')
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

/** A build and an installation take most of a minute; the short size has test/conformance/release.test.ts alone. */
describe.skipIf(!isFullSize)('the tarball in an empty folder', () => {
  const folder = mkdtempSync(join(tmpdir(), 'paydirt-package-'))
  const app = join(folder, 'app')
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  beforeAll(() => {
    mkdirSync(app)
    writeFileSync(join(app, 'package.json'), '{"private":true,"type":"module"}\n')
    succeeds('npm', ['pack', '--pack-destination', folder, '--loglevel=error'], root)
    const tarball = join(folder, `paydirt-${manifest.version}.tgz`)
    const options = ['--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts', '--fetch-retries=0']
    const installed = run('npm', ['install', ...options, tarball], app)
    if (installed.status !== 0) linkDependencies(tarball)
  })

  test('has JavaScript and declarations, and neither sources, tests nor scripts', () => {
    const names = readdirSync(join(app, 'node_modules/paydirt'), { recursive: true }).map(String)
    const ours = names.filter((name) => !name.startsWith('node_modules'))
    expect(ours).toContain('dist/library/index.d.ts')
    expect(
      ours.filter((name) => /^(src|test|scripts|docs|bench|crm)\b|(?<!\.d)\.ts$|\.test\./.test(name)),
    ).toEqual([])
  })

  test('runs --version, --help and a plan', () => {
    expect(paydirt('--version').stdout).toBe(`${manifest.version}\n`)
    expect(paydirt('--help').stdout).toContain('Usage: paydirt')
    const head = readFileSync(join(root, 'samples/companies.csv'), 'utf8').split('\n').slice(0, 11)
    writeFileSync(join(app, 'ten.csv'), head.join('\n'))
    writeFileSync(
      join(app, 'paydirt.config.ts'),
      `import { defineConfig } from 'paydirt'\nexport default defineConfig({})\n`,
    )
    const planned = paydirt('csv', 'ten.csv', '--object', 'company', '--plan')
    expect(planned.stdout + planned.stderr).toContain('company.profile  0.010000')
    expect(planned.stderr).not.toContain('Warning')
  })

  test.each(['nodenext', 'bundler'])('is typed under %s', (resolution) => {
    writeFileSync(
      join(app, 'program.ts'),
      `import { defineConfig, type FileConfig } from 'paydirt'
const config: FileConfig = defineConfig({ pacing: { startPerSecond: 5 } })
// @ts-expect-error: no such setting
defineConfig({ pacing: { startPerCentury: 5 } })
export { config }
`,
    )
    const module = resolution === 'nodenext' ? 'nodenext' : 'esnext'
    const options = {
      module,
      moduleResolution: resolution,
      strict: true,
      noEmit: true,
      target: 'es2024',
      types: [],
    }
    writeFileSync(
      join(app, 'tsconfig.json'),
      JSON.stringify({ compilerOptions: options, files: ['program.ts'] }),
    )
    const tsc = join(root, 'node_modules/typescript/bin/tsc')
    expect(succeeds(process.execPath, [tsc, '-p', app], app)).toBe('')
  })

  function paydirt(...args: string[]) {
    return run(process.execPath, [join(app, 'node_modules/paydirt/bin/paydirt.mjs'), ...args], app)
  }

  /** Without a registry: the package beside the dependencies of this checkout. */
  function linkDependencies(tarball: string): void {
    const modules = join(app, 'node_modules')
    rmSync(modules, { recursive: true, force: true })
    mkdirSync(join(modules, 'paydirt'), { recursive: true })
    succeeds('tar', ['xzf', tarball, '--strip-components=1', '-C', join(modules, 'paydirt')], app)
    for (const name of Object.keys(manifest.dependencies)) {
      mkdirSync(dirname(join(modules, name)), { recursive: true })
      symlinkSync(join(root, 'node_modules', name), join(modules, name))
    }
  }
})

function succeeds(command: string, args: string[], cwd: string): string {
  const { status, stdout, stderr } = run(command, args, cwd)
  expect(status, `${command} ${args.join(' ')}\n${stdout}${stderr}`).toBe(0)
  return stdout
}

function run(command: string, args: string[], cwd: string) {
  const { PATH, HOME, TMPDIR } = process.env
  return spawnSync(command, args, {
    cwd,
    encoding: 'utf8',
    env: { PATH, HOME, TMPDIR, npm_config_cache: process.env['npm_config_cache'] },
  })
}
