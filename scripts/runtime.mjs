// Runs a file of this checkout on the pinned Node, independent of the Node that started this process, and installs
// missing dependencies first. Plain JavaScript without dependencies: it must run on any Node >= 20 in a bare clone.

import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { basename, delimiter, dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

export const root = dirname(dirname(fileURLToPath(import.meta.url)))

const FORWARDED = ['SIGINT', 'SIGTERM', 'SIGHUP']
// One Ctrl-C can arrive several times (from the terminal, from npm, from `timeout`). It is passed to the child once.
const SAME_SIGNAL_MS = 1000

/**
 * The flags under which Paydirt runs. By default V8 reserves 130 MB for young objects, most of a worker's memory; see
 * also src/app/context/heap-limits.ts. The Dockerfile uses the same flags.
 */
export const leanFlags = ['--max-semi-space-size=16']

/**
 * The environment under which Paydirt runs, where the user has set nothing else. glibc keeps what V8's compilers free, in an
 * arena for each of their threads: 150 MB for good on the embedded stores. With these it gives large pieces back. Only read
 * at the start of a process. The Dockerfile sets the same.
 */
export const leanEnv = {
  MALLOC_ARENA_MAX: '1',
  MALLOC_MMAP_THRESHOLD_: '65536',
  MALLOC_TRIM_THRESHOLD_: '131072',
}

/** Runs `file` with `args` and ends this process as the child ended: with the same exit status or signal. */
export async function runPinned(file, args, { dev = true, cwd = process.cwd(), env = {}, flags = [] } = {}) {
  const node = pinnedNode({ dev })
  const child = spawn(
    node,
    [...flags, '--import', pathToFileURL(join(root, 'scripts/follow-parent.mjs')).href, file, ...args],
    {
      cwd,
      env: {
        ...leanEnv,
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
 * Returns the Node to run on, after installing what the lock file asks for. Without the dev dependencies (an image, a
 * production installation) it returns the current Node, if that is recent enough.
 */
export function pinnedNode({ dev = true } = {}) {
  if (!dev && isInstalled({ dev: false }) && !isInstalled() && runsTypeScript(process.versions.node))
    return process.execPath
  if (!isInstalled()) install()
  return nodeBinary()
}

/** Returns whether node_modules holds what package-lock.json asks for. Packages of other platforms may be absent. */
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
  // npm's output stays off standard output, which may be a JSON document that a program parses.
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
  // On a terminal, Ctrl-C goes to the whole foreground group and has already reached the child.
  const onTerminal = [process.stdin, process.stdout, process.stderr].some((stream) => stream.isTTY)
  let passedAt = -Infinity
  for (const signal of FORWARDED) {
    process.on(signal, () => {
      if (signal === 'SIGINT' && (onTerminal || Date.now() - passedAt < SAME_SIGNAL_MS)) return
      if (signal === 'SIGINT') passedAt = Date.now()
      child.kill(signal)
    })
  }
}

// npm runs this process through a shell and passes SIGTERM to that shell only. When the shell is gone, so is the
// caller.
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
  // Reached where a signal does not end the process at once (Windows, or an ignored signal).
  setTimeout(() => process.exit(1), 1000)
}
