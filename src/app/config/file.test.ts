import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'

const loader = new URL('./file.ts', import.meta.url).href

/** Loads a config in a process of its own: here Vite would load it, which knows no kinds of folders. */
async function load(files: Record<string, string>): Promise<unknown> {
  const folder = await mkdtemp(join(tmpdir(), 'paydirt-config-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  for (const [name, text] of Object.entries(files)) {
    await mkdir(join(folder, name, '..'), { recursive: true })
    await writeFile(join(folder, name), text)
  }
  const script = `import { loadConfigFile } from ${JSON.stringify(loader)}
    process.stdout.write(JSON.stringify(await loadConfigFile(${JSON.stringify(folder)})))`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script])
  return JSON.parse(stdout)
}

const config = `
  import { name } from './name.ts'
  export default { userAgent: name as string }`
const name = `export const name: string = 'acme'`

test.each([undefined, 'commonjs', 'module'])(
  'paydirt.config.ts works in a folder of type %s',
  async (type) => {
    const loaded = await load({
      'package.json': JSON.stringify({ type }),
      'paydirt.config.ts': config,
      'name.ts': name,
    })
    expect(loaded).toMatchObject({ userAgent: 'acme' })
  },
)

const withDefineConfig = `
  import { defineConfig, type FileConfig } from 'paydirt'
  const more: FileConfig = { userAgent: 'acme' }
  export default defineConfig(more)`

test('defineConfig is there in a folder where the package is not installed', async () => {
  expect(await load({ 'paydirt.config.ts': withDefineConfig })).toEqual({ userAgent: 'acme' })
})

test('another package that is called paydirt is not read', async () => {
  const loaded = await load({
    'package.json': '{"type":"commonjs"}',
    'paydirt.config.ts': withDefineConfig,
    'node_modules/paydirt/package.json': '{"main":"index.js"}',
    'node_modules/paydirt/index.js': `exports.defineConfig = () => ({ userAgent: 'not ours' })`,
  })
  expect(loaded).toEqual({ userAgent: 'acme' })
})

test('a CommonJS package that it uses stays one', async () => {
  const loaded = await load({
    'package.json': '{"type":"commonjs"}',
    'paydirt.config.ts': `import { name } from 'named'\nexport default { userAgent: name }`,
    'node_modules/named/package.json': '{"main":"index.js"}',
    'node_modules/named/index.js': `exports.name = 'acme'`,
  })
  expect(loaded).toMatchObject({ userAgent: 'acme' })
})
