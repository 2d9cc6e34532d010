#!/usr/bin/env node
// Starts the command line. Plain JavaScript without dependencies, so that an old Node can read it and say what is missing.
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const source = new URL('../src/cli/main.ts', import.meta.url)

// The sources are in a checkout and in the image. An installed package has JavaScript alone and runs on the user's Node.
if (existsSync(source)) {
  const { leanFlags, runPinned } = await import('../scripts/runtime.mjs')
  await runPinned(fileURLToPath(source), process.argv.slice(2), { dev: false, flags: leanFlags })
} else {
  const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  const oldest = engines.node.replace('>=', '')
  if (isOlder(process.versions.node, oldest)) {
    console.error(
      `paydirt needs Node ${oldest} or later, and this is Node ${process.versions.node}: install a newer one from https://nodejs.org`,
    )
    process.exit(2)
  }
  if (process.pid === 1) endOnSignals()
  quieten()
  await import('../dist/cli/main.js')
}

/**
 * The kernel withholds a signal from the first process of a container as long as nothing handles it. A command that has no
 * handler of its own, or not yet, therefore ends here as it would anywhere else.
 */
function endOnSignals() {
  for (const [signal, number] of [
    ['SIGINT', 2],
    ['SIGTERM', 15],
    ['SIGHUP', 1],
  ])
    process.on(signal, () => {
      if (process.listenerCount(signal) === 1) process.exit(128 + number)
    })
}

/** Node 22 warns of its SQLite, which holds the lock of the data directory alone. Other warnings are printed as always. */
function quieten() {
  const printers = process.listeners('warning')
  process.removeAllListeners('warning')
  process.on('warning', (warning) => {
    if (warning.name === 'ExperimentalWarning' && warning.message.startsWith('SQLite')) return
    for (const print of printers) print.call(process, warning)
  })
}

function isOlder(version, oldest) {
  const [ours, needed] = [version, oldest].map((text) => text.split('.').map(Number))
  const at = needed.findIndex((part, index) => ours[index] !== part)
  return at >= 0 && ours[at] < needed[at]
}
