import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'paydirt', 'crm-tools')
const minutes = 5

/**
 * The platforms' own tools are larger than the rest of the installation together, and only this check needs them. They are
 * installed outside the checkout, once for each lock file, and shared by all checkouts. The folder appears under its final
 * name only when it is complete, so that a run which is interrupted leaves nothing that looks installed.
 *
 * @param {'hubspot' | 'salesforce'} platform
 * @returns {{ folder: string, load: (name: string) => Promise<any> }}
 * @throws {ToolsMissing} when the packages cannot be installed here
 */
export function toolsOf(platform) {
  const wanted = join(import.meta.dirname, platform)
  const lock = readFileSync(join(wanted, 'package-lock.json'))
  const hash = createHash('sha256').update(lock).update(`${process.platform} ${process.arch}`).digest('hex')
  const folder = join(cache, `${platform}-${hash.slice(0, 16)}`)
  if (!existsSync(folder)) install(platform, wanted, folder)
  const require = createRequire(join(folder, 'index.js'))
  return { folder, load: (name) => import(pathToFileURL(require.resolve(name)).href) }
}

export class ToolsMissing extends Error {}

function install(platform, wanted, folder) {
  console.error(`crm: installing the ${platform} tools into ${folder} (once per version) ...`)
  const work = makeWorkFolder(platform)
  try {
    for (const name of ['package.json', 'package-lock.json']) cpSync(join(wanted, name), join(work, name))
    const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
    const { status, signal, error, stderr } = spawnSync('npm', ['ci', ...options], {
      cwd: work,
      encoding: 'utf8',
      stdio: ['ignore', 'ignore', 'pipe'],
      timeout: minutes * 60_000,
      shell: process.platform === 'win32',
    })
    if (error || status !== 0) {
      const said = (stderr ?? '').replaceAll(/^npm (?:error|warn) ?|^.*complete log.*$/gm, '')
      const reason = said
        .trim()
        .replaceAll(/\s*\n\s*/g, ' ')
        .slice(0, 300)
      throw new ToolsMissing(error?.message ?? (reason || `npm ci ended with ${signal ?? status}`))
    }
    try {
      renameSync(work, folder)
    } catch (failure) {
      // Another check has installed them in the meantime.
      if (!existsSync(folder)) throw failure
    }
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

function makeWorkFolder(platform) {
  try {
    mkdirSync(cache, { recursive: true })
    return mkdtempSync(join(cache, `.${platform}-`))
  } catch (error) {
    throw new ToolsMissing(error.message)
  }
}
