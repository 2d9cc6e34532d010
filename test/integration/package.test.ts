import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
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
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
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
    expect(compile(app, resolution, { noEmit: true })).toBe('')
  })

  describe('by the library', () => {
    let sandbox: Sandbox
    beforeAll(async () => void (sandbox = await startSandbox()))
    afterAll(() => sandbox.stop())

    test.each(['nodenext', 'bundler'])(
      'a program that is compiled under %s enriches 100 rows',
      async (kind) => {
        const folder = join(app, kind)
        mkdirSync(folder)
        writeFileSync(join(folder, 'leads.csv'), hundredRows(kind))
        writeFileSync(join(folder, 'program.ts'), program)
        compile(folder, kind, { noEmit: false })
        const walletKey = generatePrivateKey()
        await sandbox.fund(privateKeyToAccount(walletKey).address, 20_000_000n)
        // Not awaited in this process's stead: the sandbox answers from here.
        const child = spawn(process.execPath, ['program.js'], {
          cwd: folder,
          env: {
            PATH: process.env['PATH'],
            PAYDIRT_SERVICE_URL: sandbox.serviceUrl,
            PAYDIRT_LOGO_URL: sandbox.logoUrl,
            PAYDIRT_RPC_URL: sandbox.rpcUrl,
            PAYDIRT_WALLET_KEY: walletKey,
          },
        })
        const said: Buffer[] = []
        child.stdout.on('data', (chunk: Buffer) => said.push(chunk))
        child.stderr.on('data', (chunk: Buffer) => said.push(chunk))
        const [status] = await once(child, 'close')
        const text = Buffer.concat(said).toString()
        expect({ status, text }).toEqual({
          status: 0,
          text: '100 planned\nfinished: 100 records, 100 paid, 1.000000 USD\nno_such_run fix_settings\n',
        })
        expect(readFileSync(join(folder, 'out.csv'), 'utf8').trim().split('\n')).toHaveLength(101)
        expect(await sandbox.transfersFrom(privateKeyToAccount(walletKey).address)).toHaveLength(100)
      },
    )
  })

  function paydirt(...args: string[]) {
    return run(process.execPath, [join(app, 'node_modules/paydirt/bin/paydirt.mjs'), ...args], app)
  }

  function compile(folder: string, resolution: string, options: object): string {
    const compilerOptions = {
      module: resolution === 'nodenext' ? 'nodenext' : 'esnext',
      moduleResolution: resolution,
      strict: true,
      target: 'es2024',
      types: [],
      ...options,
    }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['program.ts'] }))
    const tsc = join(root, 'node_modules/typescript/bin/tsc')
    return succeeds(process.execPath, [tsc, '-p', folder], folder)
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

const program = `import { createPaydirt, recoveryOf, ConfigError, type PaydirtEvent } from 'paydirt'

await using paydirt = createPaydirt({ config: { pacing: { startPerSecond: 100 } } })
const plan = await paydirt.plan({ file: 'leads.csv', object: 'company' })
console.log(plan.records + ' planned')
const seen: PaydirtEvent[] = []
const { end, summary } = await paydirt.enrich(
  { file: 'leads.csv', object: 'company', out: 'out.csv' },
  { signal: AbortSignal.timeout(150_000), onEvent: (event) => seen.push(event) },
)
if (seen.at(-1)?.type !== 'ended') throw new Error('no end was told')
console.log(end + ': ' + summary.records + ' records, ' + summary.lookups.paid + ' paid, ' + summary.spend.settled + ' USD')
try {
  await paydirt.run('r0')
} catch (error) {
  if (error instanceof ConfigError) console.log(error.code, recoveryOf(error))
}
`

function hundredRows(name: string): string {
  const rows = Array.from({ length: 100 }, (_, row) => `https://www.profnet.example/company/${name}-${row}`)
  return `${['profnet url', ...rows].join('\n')}\n`
}

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
