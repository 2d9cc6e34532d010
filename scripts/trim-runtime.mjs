// After `npm ci`: the package `node` links its binary out of a nested package and leaves the rest of that package
// (headers, manuals, some 70 MB) behind. The binary is a hard link, so what it came from can go.

import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const runtime = fileURLToPath(new URL('../node_modules/node', import.meta.url))
const nested = join(runtime, 'node_modules')
if (existsSync(nested) && ['node', 'node.exe'].some((binary) => existsSync(join(runtime, 'bin', binary)))) {
  for (const name of readdirSync(nested)) {
    if (/^node-(bin-)?(linux|darwin|win|aix|sunos)/.test(name))
      rmSync(join(nested, name), { recursive: true, force: true })
  }
}
