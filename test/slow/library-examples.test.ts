import { globSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startHubspotStandIn, type HubspotStandIn } from '../../src/sandbox/hubspot/index.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openDesk, startPaydirt, type Desk } from '../support/cli.ts'

const root = join(import.meta.dirname, '../..')
const paths = ['docs/library.md', ...globSync('src/library/*.ts', { cwd: root }).sort()]
const examples = paths.flatMap((path) => {
  const text = readFileSync(join(root, path), 'utf8').replaceAll(/^ *\* ?/gm, '')
  return [...text.matchAll(/^```ts\n([\s\S]*?)^```/gm)].map(([, code = '']) => ({ path, code }))
})

let sandbox: Sandbox
let hubspot: HubspotStandIn
let desk: Desk
beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())
beforeAll(async () => void (hubspot = await startHubspotStandIn({ seed: 1, companies: 5, contacts: 0 })))
afterAll(() => hubspot.stop())
beforeAll(async () => void (desk = await openDesk(sandbox)))
afterAll(() => desk.close())

test('every example of the library is a program that runs', async () => {
  const methods = ['plan', 'apply', 'enrich', 'sync', 'runs', 'events', 'history', 'undo', 'spend']
  for (const name of methods) expect(examples.map(({ code }) => code).join()).toContain(`paydirt.${name}(`)
  const rows = ['acme', 'globex', 'initech'].map((name) => `https://www.profnet.example/company/${name}`)
  await desk.write('leads.csv', `${['profnet url', ...rows].join('\n')}\n`)
  const files: string[] = []
  for (const [index, { code }] of examples.entries()) {
    const file = join(desk.folder, `example-${index}.mts`)
    files.push(file)
    await writeFile(file, code)
  }
  await desk.write('run.mjs', runner(files))
  const env = { HUBSPOT_BASE_URL: hubspot.baseUrl, HUBSPOT_ACCESS_TOKEN: hubspot.token }
  const ended = await startPaydirt([], {
    stores: desk.stores,
    sandbox,
    walletKey: desk.walletKey,
    cwd: desk.folder,
    env,
    program: join(desk.folder, 'run.mjs'),
  }).ended
  expect(ended.stderr).toBe('')
  expect(ended.status).toBe(0)
  expect(ended.stdout).toContain('finished: 3 of 3 rows')
  expect(ended.stdout).toContain(`${files.length} examples`)
})

/** One process runs all of them, with `paydirt` as the package in it. */
function runner(files: readonly string[]): string {
  const entry = new URL('../../src/library/index.ts', import.meta.url).href
  return `import { registerHooks } from 'node:module'
registerHooks({
  resolve: (name, context, next) =>
    name === 'paydirt' ? { url: ${JSON.stringify(entry)}, format: 'module-typescript', shortCircuit: true } : next(name, context),
})
for (const file of ${JSON.stringify(files)}) await import(file)
console.log('${files.length} examples')
`
}
