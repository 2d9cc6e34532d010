import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'

const manifest = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
  devDependencies: Record<string, string>
}
const name = '@foundry-rs/anvil'
const version = manifest.devDependencies[name]

/**
 * Returns the path of anvil's binary. A checkout has it among its development dependencies. An installed package does
 * not: only the demo needs it, so it is fetched once into the user's cache when a sandbox starts.
 */
export async function anvilBinary(): Promise<string> {
  const installed = binaryFrom(import.meta.url)
  if (installed !== undefined) return installed
  const folder = cacheFolder()
  const kept = binaryFrom(join(folder, 'package.json'))
  if (kept !== undefined) return kept
  await fetchAnvil(folder)
  const fetched = binaryFrom(join(folder, 'package.json'))
  if (fetched === undefined)
    throw new Error(`the sandbox's chain needs ${platformPackage()}, which npm did not install`)
  return fetched
}

/** Installs into a folder of its own and renames it: a start that was killed leaves nothing that looks complete. */
async function fetchAnvil(folder: string): Promise<void> {
  process.stderr.write(
    `The sandbox needs a local chain: fetching ${name} ${version} (about 20 MB) from the npm registry into ${folder}, once.\n`,
  )
  const above = join(folder, '..')
  await mkdir(above, { recursive: true })
  const fresh = await mkdtemp(join(above, 'fetching-'))
  try {
    await npmInstall(fresh)
    await rename(fresh, folder).catch((error: unknown) => {
      // Another start was faster, and its copy is the same.
      if (!existsSync(folder)) throw error
    })
  } finally {
    await rm(fresh, { recursive: true, force: true })
  }
}

async function npmInstall(folder: string): Promise<void> {
  const args = ['install', '--prefix', folder, '--no-save', '--ignore-scripts', '--no-audit', '--no-fund']
  const npm = process.env['npm_execpath']
  const [command, first] = npm?.endsWith('npm-cli.js') ? [process.execPath, [npm]] : ['npm', []]
  // Standard output belongs to the sandbox's own line. The folder is no part of the user's project.
  const child = spawn(command, [...first, ...args, '--loglevel=error', `${name}@${version}`], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
    shell: command === 'npm' && process.platform === 'win32',
  })
  const [status] = (await once(child, 'close')) as [number | null]
  if (status !== 0)
    throw new Error(
      `npm could not fetch ${name} (status ${status}): the demo needs it once from the registry`,
    )
}

function cacheFolder(): string {
  const cache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache')
  return join(cache, 'paydirt', `anvil-${version}`)
}

// The package's own launcher would be one more process that can be orphaned, so the binary is started directly.
function binaryFrom(place: string): string | undefined {
  const binary = process.platform === 'win32' ? 'anvil.exe' : 'anvil'
  try {
    const launcher = createRequire(place).resolve(`${name}/package.json`)
    return createRequire(launcher).resolve(`${platformPackage()}/bin/${binary}`)
  } catch {
    return undefined
  }
}

function platformPackage(): string {
  return `${name}-${process.platform}-${process.arch === 'x64' ? 'amd64' : process.arch}`
}
