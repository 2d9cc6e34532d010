// `npm run build`: makes the package's JavaScript and type declarations in dist/. `npm pack` runs it first. Dependencies
// stay outside the bundle, so that their licences, versions and security notices are those of the installation.

import { chmodSync, cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { rolldown } from 'rolldown'
import { declarations } from './declarations.mjs'
import { root } from './runtime.mjs'

const src = join(root, 'src')
const dist = join(root, 'dist')
const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

// The programs and threads that are started by their path, the library, and the file that a config file gets as `paydirt`.
const entries = [
  'app/config/file',
  'library/index',
  'cli/main',
  'queues/embedded-redis-thread',
  'sandbox/chain/anvil-keeper',
  'sandbox/main',
]

// Stands for the way from a chunk to dist/, which is known once the chunk has its place.
const DIST = '@dist@'

/**
 * A module in a chunk keeps the address that its source has below src/, with dist/ in its place: what it reads or starts
 * beside itself is found there.
 */
const placesOfSources = {
  name: 'places-of-sources',
  transform(code, id) {
    if (!id.startsWith(src) || !code.includes('import.meta.')) return null
    const place = relative(src, id).replace(/\.ts$/, '.js')
    return code
      .split('\n')
      .map((line) =>
        line.includes('import.meta.')
          ? line
              .replaceAll(/(['"])((?:\.{0,2}\/)*[\w/-]+)\.ts\1/g, '$1$2.js$1')
              .replaceAll('import.meta.url', `new URL('${DIST}/${place}', import.meta.url).href`)
              .replaceAll('import.meta.dirname', `(import.meta.dirname + '/${DIST}/${dirname(place)}')`)
          : line,
      )
      .join('\n')
  },
  renderChunk(code, chunk) {
    if (!code.includes(DIST)) return null
    return { code: code.replaceAll(DIST, relative(dirname(chunk.fileName), '.') || '.') }
  },
}

rmSync(dist, { recursive: true, force: true })
await bundle()
copyAssets()
declare()
chmodSync(join(root, 'bin/paydirt.mjs'), 0o755)

async function bundle() {
  const build = await rolldown({
    input: Object.fromEntries(entries.map((name) => [name, join(src, `${name}.ts`)])),
    platform: 'node',
    external: isOutside,
    transform: { target: 'node22' },
    treeshake: { moduleSideEffects: true },
    plugins: [placesOfSources],
    logLevel: 'warn',
    onLog(level, log, report) {
      if (level !== 'info') report('error', log)
    },
  })
  await build.write({
    dir: dist,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
    // Whole lines and names stay: a stack trace in a report has to be read.
    minify: false,
    comments: { annotation: true, legal: true, jsdoc: false },
  })
  await build.close()
}

/** The helpers of transformed syntax come into the bundle. Whatever else is outside must be there after an installation. */
function isOutside(id) {
  if (id.startsWith('node:')) return true
  if (/^[./\0]/.test(id) || id.startsWith('@oxc-project/runtime')) return false
  const name = /^(@[^/]+\/)?[^/]+/.exec(id)[0]
  if (!(name in dependencies))
    throw new Error(`${name} is no dependency of the package, and a module imports it`)
  return true
}

function copyAssets() {
  const isAsset = /\.(css|js|svg|json)$/
  for (const file of globSync('**/*', { cwd: src }))
    if (isAsset.test(file)) cpSync(join(src, file), join(dist, file))
}

function declare() {
  for (const [file, text] of declarations()) {
    mkdirSync(dirname(join(dist, file)), { recursive: true })
    writeFileSync(join(dist, file), text)
  }
}
