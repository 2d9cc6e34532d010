// `npm run licences`: the licences of every package that an installation of Paydirt brings, by what each package declares.
// Ends with 1 when one of them is not among those that are allowed here. `--list` prints each package.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { root } from './runtime.mjs'

/** They ask for a notice at most, and put no condition on programs that use the package. */
const allowed = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'Python-2.0',
  'Unlicense',
])

/** Returns whether an SPDX expression can be met with allowed licences: one side of OR is enough, AND needs both. */
export function isAllowed(expression) {
  const plain = expression.replaceAll(/[()]/g, ' ').trim()
  return plain
    .split(/\s+OR\s+/)
    .some((choice) => choice.split(/\s+AND\s+/).every((name) => allowed.has(name.trim())))
}

/** The packages of the lock file that are there without the development dependencies, with what they declare. */
export function productionLicences() {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  return Object.entries(packages)
    .filter(([path, entry]) => path && !entry.dev && !entry.devOptional)
    .map(([path, entry]) => ({
      name: path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length),
      version: entry.version,
      licence:
        entry.license ?? declaredIn(join(root, path)) ?? licenceOfSibling(packages, path, entry) ?? 'unknown',
    }))
}

/**
 * The binaries of other platforms are not installed here and the lock file may know no licence of theirs. They are released
 * with the binary of this platform, under its licence.
 */
function licenceOfSibling(packages, path, { optional, os, version }) {
  if (!optional || !os || !path.includes('/@')) return undefined
  const scope = path.slice(0, path.lastIndexOf('/') + 1)
  return Object.entries(packages).find(
    ([other, entry]) => other.startsWith(scope) && entry.version === version && entry.license,
  )?.[1].license
}

/** Old packages have a list of objects, or a licence file alone. */
function declaredIn(folder) {
  const file = join(folder, 'package.json')
  if (!existsSync(file)) return undefined
  const { license, licenses } = JSON.parse(readFileSync(file, 'utf8'))
  return license?.type ?? license ?? licenses?.map((each) => each.type ?? each).join(' OR ')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const all = productionLicences()
  const counts = Map.groupBy(all, (each) => each.licence)
  if (process.argv.includes('--list'))
    for (const { name, version, licence } of all) console.log(`${name}@${version}  ${licence}`)
  for (const [licence, those] of [...counts].sort((a, b) => b[1].length - a[1].length))
    console.log(`${String(those.length).padStart(4)}  ${licence}`)
  const refused = all.filter(({ licence }) => !isAllowed(licence))
  for (const { name, version, licence } of refused)
    console.error(`licences: ${name}@${version} is under ${licence}, which is not allowed here`)
  if (refused.length > 0) process.exitCode = 1
}
