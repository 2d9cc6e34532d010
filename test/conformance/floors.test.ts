import { spawnSync } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')

// Written out once more, apart from the configuration, so that a slip there does not agree with itself.
const mayImport: Record<string, string> = {
  timing: '',
  domain: '',
  service: 'timing domain',
  pay: 'timing domain',
  connectors: 'timing domain',
  store: 'timing domain',
  queues: 'timing domain',
  planning: 'timing domain store',
  producers: 'timing domain service pay connectors store queues planning',
  workers: 'timing domain service pay connectors store queues planning',
  http: 'timing domain service pay connectors store queues planning producers workers',
  app: 'timing domain service pay connectors store queues planning producers workers http',
  library: 'timing domain service pay connectors store queues planning producers workers http app',
  cli: 'timing domain service pay connectors store queues planning producers workers http app library sandbox',
  sandbox: 'timing domain',
}
const floors = Object.keys(mayImport)

type Fixture = { path: string; source: string; refused: boolean }

function importing(path: string, specifier: string, refused: boolean): Fixture {
  return { path, source: `import { x } from '${specifier}'\n\nexport const y = x\n`, refused }
}

const pairs: Fixture[] = floors.flatMap((floor) =>
  floors
    .filter((other) => other !== floor)
    .flatMap((other) => {
      const refused = !mayImport[floor]!.split(' ').includes(other)
      return [1, 2, 3, 4, 5].map((depth) =>
        importing(
          `src/${floor}/${'deep/'.repeat(depth - 1)}to-${other}.ts`,
          `${'../'.repeat(depth)}${other}/x.ts`,
          refused,
        ),
      )
    }),
)

const shapes: Fixture[] = [
  { path: 'src/pay/lazy.ts', source: `export const y = import('../store/x.ts')\n`, refused: true },
  { path: 'src/pay/passed-on.ts', source: `export { x } from '../store/x.ts'\n`, refused: true },
  {
    path: 'src/pay/typed.ts',
    source: `import type { x } from '../store/x.ts'\n\nexport type Y = x\n`,
    refused: true,
  },
  importing('src/pay/through-root.ts', '../../src/store/x.ts', true),
  importing('src/pay/dotted.ts', './../store/x.ts', true),
  importing('src/pay/roundabout.ts', '../domain/../store/x.ts', true),
  importing('src/pay/beside.ts', './store/x.ts', false),
  importing('src/sandbox/chain/own-folder.ts', '../http/x.ts', false),
]

const sandbox: Fixture[] = [
  importing('src/sandbox/schema.ts', '../service/schema/company.ts', false),
  importing('src/sandbox/deep/schema.ts', '../../service/schema/company.ts', false),
  importing('src/sandbox/client.ts', '../service/client.ts', true),
  importing('src/sandbox/scheme.ts', '../service/scheme.ts', true),
  importing('src/sandbox/schema-file.ts', '../service/schema.ts', true),
  importing('src/sandbox/schemata.ts', '../service/schemata/x.ts', true),
  importing('src/sandbox/endpoints.ts', '../service/endpoints/x.ts', true),
]

const ownerOf: Record<string, string> = {
  bullmq: 'queues',
  'bullmq/dist/esm': 'queues',
  ioredis: 'queues',
  kysely: 'store',
  'kysely/helpers/postgres': 'store',
}
const packages: Fixture[] = floors.flatMap((floor) =>
  Object.entries(ownerOf).map(([name, owner]) =>
    importing(`src/${floor}/uses-${name.replaceAll('/', '-')}.ts`, name, floor !== owner),
  ),
)

let work: string
let refusedPaths: Set<string>

beforeAll(() => {
  work = realpathSync(mkdtempSync(join(tmpdir(), 'paydirt-floors-')))
  cpSync(join(root, 'oxlint.config.ts'), join(work, 'oxlint.config.ts'))
  symlinkSync(join(root, 'node_modules'), join(work, 'node_modules'))
  for (const { path, source } of [...pairs, ...shapes, ...sandbox, ...packages]) {
    mkdirSync(dirname(join(work, path)), { recursive: true })
    writeFileSync(join(work, path), source)
  }
  const oxlint = join(root, 'node_modules/oxlint/bin/oxlint')
  const { stdout, stderr } = spawnSync(process.execPath, [oxlint, '-f', 'json', 'src'], {
    cwd: work,
    encoding: 'utf8',
    maxBuffer: 64 << 20,
  })
  let report: { diagnostics: { code: string; filename: string }[] }
  try {
    report = JSON.parse(stdout)
  } catch {
    throw new Error(`oxlint gave no report: ${stdout}${stderr}`)
  }
  refusedPaths = new Set(
    report.diagnostics
      .filter(({ code }) => code.includes('no-restricted-imports'))
      .map(({ filename }) => filename),
  )
})

afterAll(() => rmSync(work, { recursive: true, force: true }))

describe('the floors', () => {
  test.each(floors)('src/%s is held to what it may import', (floor) => {
    const own = pairs.filter(({ path }) => path.startsWith(`src/${floor}/`))
    expect(refusedAmong(own)).toEqual(own.filter(({ refused }) => refused).map(({ path }) => path))
  })

  test('hold for every way of writing an import', () => {
    expect(refusedAmong(shapes)).toEqual(shapes.filter(({ refused }) => refused).map(({ path }) => path))
  })

  test('let the sandbox see the schemas of the service and nothing else of it', () => {
    expect(refusedAmong(sandbox)).toEqual(sandbox.filter(({ refused }) => refused).map(({ path }) => path))
  })

  test('keep bullmq and ioredis to src/queues, and kysely to src/store', () => {
    expect(refusedAmong(packages)).toEqual(packages.filter(({ refused }) => refused).map(({ path }) => path))
  })

  test('are all there is below src', () => {
    const folders = readdirSync(join(root, 'src'), { withFileTypes: true })
    expect(folders.filter((it) => !floors.includes(it.name)).map((it) => it.name)).toEqual([])
  })
})

function refusedAmong(fixtures: Fixture[]): string[] {
  return fixtures.filter(({ path }) => refusedPaths.has(path)).map(({ path }) => path)
}
