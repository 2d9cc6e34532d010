// Adds the optional packages of other platforms that the lock files lack: package-lock.json, and those of the tools that
// `npm run check -- crm` installs apart.
//
// When a registry (a mirror, for instance) does not hold the binaries of every platform, `npm install` leaves them out
// of the lock file, and from then on `npm ci` refuses the lock file as out of step, on every platform. The entries
// added here carry what their names say (os, cpu, libc) and no integrity; `npm install` with the full registry adds
// that.
//
//   node scripts/complete-lock.mjs          adds what is missing
//   node scripts/complete-lock.mjs --check  only prints what is missing; exits with 1 if anything is

import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const locks = [
  'package-lock.json',
  'crm/check/platform/hubspot/package-lock.json',
  'crm/check/platform/salesforce/package-lock.json',
]

/** Returns the optional dependencies that have no entry in the lock file: `[path, version, dev]`. */
export function missingPlatformPackages(lock) {
  const missing = new Map()
  for (const [path, entry] of Object.entries(lock.packages)) {
    for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
      if (resolves(lock, path, name) || platformOf(name) === undefined) continue
      const at = missing.get(name)
      if (at && at.version !== version)
        throw new Error(`${name} is required as ${at.version} and as ${version}`)
      missing.set(name, { name, version, dev: (at?.dev ?? true) && entry.dev === true })
    }
  }
  return [...missing.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}

function resolves(lock, from, name) {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf('/node_modules/')))) {
    if (lock.packages[`${at}${at ? '/' : ''}node_modules/${name}`]) return true
    if (!at) return false
  }
}

function platformOf(name) {
  const words = name.split(/[/-]/)
  const os = ['darwin', 'linux', 'win32', 'android', 'freebsd', 'openbsd', 'openharmony'].find((it) =>
    words.includes(it),
  )
  const cpu = ['x64', 'arm64', 'ia32', 'arm', 'ppc64', 'riscv64', 's390x', 'amd64', 'loong64'].find((it) =>
    words.includes(it),
  )
  if (!os || !cpu) return undefined
  const libc = words.some((it) => it.startsWith('musl'))
    ? 'musl'
    : words.some((it) => it.startsWith('gnu'))
      ? 'glibc'
      : undefined
  return { os, cpu: cpu === 'amd64' ? 'x64' : cpu, ...(os === 'linux' && libc ? { libc } : {}) }
}

function complete(lock, missing) {
  for (const { name, version, dev } of missing) {
    const { os, cpu, libc } = platformOf(name)
    lock.packages[`node_modules/${name}`] = {
      version,
      cpu: [cpu],
      ...(dev ? { dev: true } : {}),
      ...(libc ? { libc: [libc] } : {}),
      optional: true,
      os: [os],
    }
  }
  const sorted = Object.entries(lock.packages).sort(([a], [b]) => a.localeCompare(b, 'en'))
  return { ...lock, packages: Object.fromEntries(sorted) }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const name of locks) {
    const path = fileURLToPath(new URL(`../${name}`, import.meta.url))
    const lock = JSON.parse(readFileSync(path, 'utf8'))
    const missing = missingPlatformPackages(lock)
    for (const it of missing) console.error(`${name} lacks ${it.name}@${it.version}`)
    if (missing.length > 0 && process.argv.includes('--check')) process.exitCode = 1
    else if (missing.length > 0) writeFileSync(path, `${JSON.stringify(complete(lock, missing), null, 2)}\n`)
  }
}
