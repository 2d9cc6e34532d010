// Runs after `npm ci`: removes files from node_modules that nothing here loads, about a third of it (the installation
// is to stay under 500 MB, including its own Node and a chain for the sandbox). Deleting more than listed here would
// need a reason.

import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const modules = fileURLToPath(new URL('../node_modules', import.meta.url))

/**
 * CommonJS twins of packages that are only imported as ES modules, browser bundles, polyfills, tests, manuals, and APIs
 * that are loaded on demand and never here.
 */
const unused = [
  'viem/_cjs',
  'ox/_cjs',
  '@x402/core/dist/cjs',
  '@x402/evm/dist/cjs',
  '@hubspot/api-client/lib/codegen/cms',
  '@hubspot/api-client/lib/codegen/crm',
  '@hubspot/api-client/lib/codegen/marketing',
  'core-js',
  'jsforce/dist',
  'jsforce/browser',
  'libphonenumber-js/bundle',
  'rxjs/dist/bundles',
  'rxjs/dist/esm',
  'rxjs/dist/esm5',
  'kysely/dist/cjs',
  '@hubspot/api-client/lib/test',
  'bintrees/test',
  'axe-core/locales',
  'axe-core/axe.js',
  'playwright-core/lib/vite',
  '@apexdevtools/apex-parser/dist/browser',
  'jsforce/src',
  'ox/trusted-setups',
  'pino/docs',
  'pino/test',
  'prettier/plugins/flow.mjs',
  'ssh2/test',
  'undici/docs',
  'viem/trusted-setups',
  'xml2js/lib/xml2js.bc.js',
]

trimRuntime(join(modules, 'node'))
// Vite loads it to transform style sheets, and no style sheet goes through Vite here.
for (const name of namesIn(modules)) if (name.startsWith('lightningcss-')) unused.push(name)
// Prettier ships its plugins twice. Node loads the ES modules.
for (const name of namesIn(join(modules, 'prettier', 'plugins')))
  if (name.endsWith('.js')) unused.push(join('prettier', 'plugins', name))

for (const path of unused) rmSync(join(modules, path), { recursive: true, force: true })
trimTelemetry(join(modules, '@opentelemetry'))
if (existsSync(modules)) trimSources(modules)

/**
 * The package `node` links its binary out of a nested package and leaves the rest of that package behind (headers,
 * manuals, about 70 MB). The binary is a hard link, so the nested package can be removed.
 */
function trimRuntime(runtime) {
  const nested = join(runtime, 'node_modules')
  if (!existsSync(nested) || !['node', 'node.exe'].some((binary) => existsSync(join(runtime, 'bin', binary))))
    return
  for (const name of readdirSync(nested)) {
    if (/^node-(bin-)?(linux|darwin|win|aix|sunos)/.test(name))
      rmSync(join(nested, name), { recursive: true, force: true })
  }
}

/** Each OpenTelemetry package contains itself three times. Node loads the copy in `build/src`. */
function trimTelemetry(scope) {
  if (!existsSync(scope)) return
  for (const name of readdirSync(scope)) {
    for (const twin of ['esm', 'esnext'])
      rmSync(join(scope, name, 'build', twin), { recursive: true, force: true })
  }
}

function namesIn(folder) {
  return existsSync(folder) ? readdirSync(folder) : []
}

/**
 * Source maps, build caches, TypeScript sources of compiled files, change logs, readmes, and add-ons for the Bare
 * runtime. Type declarations stay: `tsc` reads them.
 */
function trimSources(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) trimSources(path)
    else if (
      /\.(map|bare|tsbuildinfo)$|^(CHANGELOG|HISTORY|README)\.md$/i.test(entry.name) ||
      (/\.[cm]?ts$/.test(entry.name) && !/\.d\.[cm]?ts$/.test(entry.name))
    )
      rmSync(path)
  }
}
