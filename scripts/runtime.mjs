// Runs a file of this checkout on the pinned Node, whatever Node started us, installing what is missing first.
// Plain JavaScript without dependencies: it has to run on any Node >= 20 in a bare clone.

import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { basename, delimiter, dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

export const root = dirname(dirname(fileURLToPath(import.meta.url)))

const FORWARDED = ['SIGINT', 'SIGTERM', 'SIGHUP']
// One Ctrl-C can reach us several times (from the terminal, from npm, from `timeout`); the child is told once.
const SAME_PRESS_MS = 1000

/**
 * How Paydirt itself is run. V8 would give its young objects 130 MB, most of a worker's memory; see also src/app/context/heap-limits.ts. The
 * Dockerfile has the same.
 */
export const leanFlags = ['--max-semi-space-size=16']

/** Runs `file` with `args` and ends this process the way the child ended: same exit status, same signal. */
export async function runPinned(file, args, { dev = true, cwd = process.cwd(), env = {}, flags = [] } = {}) {
  const node = pinnedNode({ dev })
  const child = spawn(
    node,
    [...flags, '--import', pathToFileURL(join(root, 'scripts/follow-parent.mjs')).href, file, ...args],
    {
      cwd,
      env: {
        ...process.env,
        ...env,
        PATH: [dirname(node), join(root, 'node_modules/.bin'), process.env.PATH]
          .filter(Boolean)
          .join(delimiter),
        PAYDIRT_PARENT_IPC: '1',
      },
      stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    },
  )
  forwardSignals(child)
  followNpm(child)
  const [code, signal] = await new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (...how) => resolve(how))
  })
  endAs(code, signal)
}

/**
 * The Node to run on, after installing what the lock file asks for. Without the dev dependencies (an image, a
 * production installation) that is the Node we are running on, provided that it is recent enough.
 */
export function pinnedNode({ dev = true } = {}) {
  if (!dev && isInstalled({ dev: false }) && !isInstalled() && runsTypeScript(process.versions.node))
    return process.execPath
  if (!isInstalled()) install()
  return nodeBinary()
}

/** Whether node_modules holds what package-lock.json asks for; packages of other platforms may be absent. */
export function isInstalled({ dev = true } = {}) {
  const installed = packagesIn(join(root, 'node_modules/.package-lock.json'))
  if (!installed) return false
  for (const [path, wanted] of Object.entries(packagesIn(join(root, 'package-lock.json')) ?? {})) {
    if (path === '' || wanted.optional || wanted.devOptional || (wanted.dev && !dev)) continue
    if (installed[path]?.version !== wanted.version) return false
  }
  return !dev || existsSync(nodeBinary())
}

function packagesIn(lockFile) {
  try {
    return JSON.parse(readFileSync(lockFile, 'utf8')).packages
  } catch {
    return undefined
  }
}

function nodeBinary() {
  return join(root, 'node_modules/node/bin', process.platform === 'win32' ? 'node.exe' : 'node')
}

function runsTypeScript(version) {
  const pinned = packagesIn(join(root, 'package-lock.json'))?.['node_modules/node']?.version ?? '24'
  return Number.parseInt(version, 10) >= Number.parseInt(pinned, 10)
}

function install() {
  console.error('paydirt: installing dependencies with `npm ci` (once per lock file) ...')
  const args = ['ci', '--include=dev', '--include=optional', '--no-audit', '--no-fund', '--loglevel=error']
  const viaNpm = process.env.npm_execpath && basename(process.env.npm_execpath) === 'npm-cli.js'
  const [command, argv] = viaNpm ? [process.execPath, [process.env.npm_execpath, ...args]] : ['npm', args]
  // npm's chatter stays off standard output, which may be a JSON document that somebody parses.
  const { status, signal, error } = spawnSync(command, argv, {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
    shell: !viaNpm && process.platform === 'win32',
  })
  if (signal) return endAs(null, signal)
  if (error || status !== 0) {
    console.error(
      `paydirt: \`npm ci\` in ${root} failed${error ? `: ${error.message}` : ` with status ${status}`}`,
    )
    process.exit(1)
  }
  if (!existsSync(nodeBinary())) {
    console.error(
      `paydirt: \`npm ci\` left no Node at ${nodeBinary()}: allow the install script of the package \`node\``,
    )
    process.exit(1)
  }
}

function forwardSignals(child) {
  // On a terminal Ctrl-C goes to the whole foreground group and has reached the child already.
  const onTerminal = [process.stdin, process.stdout, process.stderr].some((stream) => stream.isTTY)
  let toldAt = -Infinity
  for (const signal of FORWARDED) {
    process.on(signal, () => {
      if (signal === 'SIGINT' && (onTerminal || Date.now() - toldAt < SAME_PRESS_MS)) return
      if (signal === 'SIGINT') toldAt = Date.now()
      child.kill(signal)
    })
  }
}

// npm runs us through a shell, and passes SIGTERM to that shell alone. When the shell is gone, so is whoever wanted this.
function followNpm(child) {
  if (!process.env.npm_lifecycle_event || process.platform === 'win32') return
  const shell = process.ppid
  const watch = setInterval(() => {
    if (process.ppid === shell) return
    clearInterval(watch)
    child.kill('SIGTERM')
  }, 500)
  watch.unref()
}

function endAs(code, signal) {
  if (!signal) process.exit(code ?? 1)
  for (const forwarded of FORWARDED) process.removeAllListeners(forwarded)
  process.kill(process.pid, signal)
  // Reached where a signal does not end the process at once (Windows, or one that is ignored).
  setTimeout(() => process.exit(1), 1000)
}
