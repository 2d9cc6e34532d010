// `npm run release -- patch|minor|major`: makes a release and publishes nothing. It writes version and changelog, builds the
// tarball, holds it against publint and attw, writes an SBOM and checksums into release/, then commits and tags. A failure
// before the commit puts the three written files back.

import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { root } from './runtime.mjs'

const written = ['package.json', 'package-lock.json', 'CHANGELOG.md']
const publint = 'publint@0.3.25'
const attw = '@arethetypeswrong/cli@0.18.5'

/** Returns the version after `version` by the part that is raised. */
export function nextVersion(version, part) {
  const [major, minor, patch] = version.split('.').map(Number)
  if (part === 'major') return `${major + 1}.0.0`
  if (part === 'minor') return `${major}.${minor + 1}.0`
  if (part === 'patch') return `${major}.${minor}.${patch + 1}`
  throw new Error('usage: npm run release -- patch|minor|major')
}

/** Returns the changelog with what is unreleased under the version and its date. */
export function released(changelog, version, date) {
  const [, entries] = /^## \[Unreleased\]\n([\s\S]*?)(?=^## \[|(?![\s\S]))/m.exec(changelog) ?? []
  if (!entries?.trim()) throw new Error('CHANGELOG.md has nothing under [Unreleased]')
  return changelog.replace('## [Unreleased]\n', `## [Unreleased]\n\n## [${version}] - ${date}\n`)
}

function release(part) {
  const manifest = read('package.json')
  const { version: from } = JSON.parse(manifest)
  const version = nextVersion(from, part)
  if (run('git', ['status', '--porcelain']).trim()) throw new Error('commit or stash your changes first')
  if (run('git', ['tag', '--list', `v${version}`]).trim()) throw new Error(`the tag v${version} exists`)
  const out = join(root, 'release')
  rmSync(out, { recursive: true, force: true })
  mkdirSync(out)
  try {
    const today = new Date().toISOString().slice(0, 10)
    write('CHANGELOG.md', released(read('CHANGELOG.md'), version, today))
    write('package.json', manifest.replace(`"version": "${from}"`, `"version": "${version}"`))
    // The two places of our own version come before those of any dependency.
    const lock = read('package-lock.json')
    const ours = `"name": "paydirt",\n`
    write(
      'package-lock.json',
      lock.replaceAll(new RegExp(`(${ours}\\s+"version": )"${from}"`, 'g'), `$1"${version}"`),
    )
    run(process.execPath, ['scripts/licences.mjs'])
    run('npm', ['pack', '--pack-destination', out, '--loglevel=error'])
    const tarball = `paydirt-${version}.tgz`
    run('npx', ['--yes', publint, 'run', '--strict', join(out, tarball)])
    run('npx', ['--yes', attw, '--profile', 'esm-only', join(out, tarball)])
    const sbom = `paydirt-${version}.cdx.json`
    writeFileSync(join(out, sbom), billOfMaterials(version))
    writeFileSync(
      join(out, 'SHA256SUMS'),
      [tarball, sbom].map((name) => `${digest(join(out, name))}  ${name}\n`).join(''),
    )
  } catch (error) {
    run('git', ['checkout', '--', ...written])
    throw error
  }
  run('git', ['commit', '--quiet', '-m', `Release ${version}`, '--', ...written])
  run('git', ['tag', '-a', `v${version}`, '-m', `Paydirt ${version}`])
  console.log(`release/ has Paydirt ${version}: the tarball, an SBOM and SHA256SUMS. Nothing was published:`)
  console.log(`  git push --follow-tags`)
  console.log(`  npm publish release/paydirt-${version}.tgz`)
}

/** CycloneDX of what an installation brings. npm calls the root by the name of its folder, so the name is set here. */
function billOfMaterials(version) {
  const args = ['sbom', '--sbom-format', 'cyclonedx', '--sbom-type', 'application']
  const text = run('npm', [...args, '--omit', 'dev', '--package-lock-only', '--loglevel=error'])
  const bill = JSON.parse(text)
  Object.assign(bill.metadata.component, { name: 'paydirt', version })
  return `${JSON.stringify(bill, undefined, 2)}\n`
}

function run(command, args) {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    shell: process.platform === 'win32',
  })
  if (error || status !== 0)
    throw new Error(`${command} ${args.join(' ')}: ${error?.message ?? stdout + stderr}`)
  return stdout
}

function read(name) {
  return readFileSync(join(root, name), 'utf8')
}

function write(name, text) {
  writeFileSync(join(root, name), text)
}

function digest(file) {
  return createHash('sha256').update(readFileSync(file)).digest('hex')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    release(process.argv[2])
  } catch (error) {
    console.error(`release: ${error.message}`)
    process.exitCode = 1
  }
}
