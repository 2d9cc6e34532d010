// `npm run judge`: HubSpot's published OpenAPI documents as a judge between the connector and its stand-in. Records every
// exchange of a set of tests, and sends each through Prism, a proxy of others that knows the documents: a request that
// they do not allow is a fault of the connector, an answer that they do not allow is one of the stand-in.
// Usage: npm run judge -- [--specification FOLDER] [--exchanges FILE] [--prism FILE]

import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { root } from '../runtime.mjs'
import { readSpecification, specificationFolder } from './specification.mjs'

/** The judge is fetched for the run: it is several times the size of what it judges. It needs Node 24.18 or later. */
const prismPackage = '@stoplight/prism-cli@5.16.0'

/** The points at which the documents differ from what HubSpot does and describes elsewhere. The stand-in does as HubSpot. */
const knownDifferences = [
  // The label of a plain association is null.
  /associationTypes\.\d+\.label must be string/,
  // The subcategory of an error in a batch is a text.
  /errors\.\d+\.subCategory must be object/,
  // Not in the collection: https://developers.hubspot.com/docs/apps/legacy-apps/private-apps/overview.
  /^POST \/oauth\/v2\/private-apps\/get\/access-token-info .*Selected route not found/,
]

/** An exchange in which both sides are wrong. A judge that does not object to both is no judge. */
const wrongExchange = {
  method: 'POST',
  path: '/automation/actions/callbacks/2026-03/wrong/complete',
  requestType: 'application/json',
  request: '{"outputFields":{"costUsd":0.01}}',
  status: 400,
  responseType: 'application/json',
  response: '{"status":"error"}',
}

const { values: options } = parseArgs({
  options: {
    specification: { type: 'string' },
    exchanges: { type: 'string' },
    prism: { type: 'string' },
  },
})
let testsFailed = false
const folder = mkdtempSync(join(tmpdir(), 'paydirt-judge-'))
try {
  const file = join(folder, 'hubspot.json')
  writeFileSync(file, JSON.stringify(readSpecification(specificationFolder(options.specification))))
  const exchanges = readExchanges(options.exchanges ?? record(join(folder, 'exchanges.jsonl')))
  process.exitCode = report(exchanges, await judge(file, exchanges))
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function record(path) {
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
  const argv = [vitest, 'run', '--config', 'test/judge.config.ts', '--reporter', 'dot']
  const { status } = spawnSync(process.execPath, argv, {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, PAYDIRT_JUDGE_EXCHANGES: path },
  })
  // The exchanges until then can be judged all the same.
  if (status !== 0) testsFailed = true
  return path
}

/** Equal exchanges are judged once. */
function readExchanges(path) {
  const lines = readFileSync(path, 'utf8').split('\n').filter(Boolean)
  return { all: lines.length, different: [...new Set(lines)].map((line) => JSON.parse(line)) }
}

/** Sends each exchange through Prism and returns what it objects to, by exchange. */
async function judge(specification, { different }) {
  let answer = { status: 204 }
  const upstream = createServer((request, response) => {
    request.resume()
    response.writeHead(answer.status, answer.responseType ? { 'content-type': answer.responseType } : {})
    response.end(answer.status === 204 ? undefined : answer.response)
  })
  const port = await listening(upstream)
  const prismPort = await freePort()
  const prism = startPrism(['proxy', specification, `http://127.0.0.1:${port}`, '--port', String(prismPort)])
  // Also when this process dies of an exception: otherwise the proxy goes on alone.
  process.once('exit', () => prism.kill())
  try {
    await answering(prismPort, prism)
    const found = []
    for (const exchange of [...different, wrongExchange]) {
      answer = exchange
      const { method, path, requestType, request } = exchange
      const response = await fetch(`http://127.0.0.1:${prismPort}${path}`, {
        method,
        headers: { ...(requestType ? { 'content-type': requestType } : {}), authorization: 'Bearer judged' },
        ...(method === 'GET' ? {} : { body: request }),
      })
      await response.arrayBuffer()
      const violations = JSON.parse(response.headers.get('sl-violations') ?? '[]')
      found.push(...violations.map((violation) => ({ exchange, ...violation })))
    }
    return found
  } finally {
    prism.kill()
    upstream.close()
    upstream.closeAllConnections()
  }
}

function startPrism(argv) {
  const env = { ...process.env, PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}` }
  const stdio = ['ignore', 'ignore', 'inherit']
  return options.prism === undefined
    ? spawn('npx', ['--yes', '--package', prismPackage, 'prism', ...argv], { env, stdio })
    : spawn(process.execPath, [options.prism, ...argv], { env, stdio })
}

function report({ all, different }, found) {
  const isBlind = ['request', 'response'].some(
    (side) => !found.some(({ exchange, location }) => exchange === wrongExchange && location?.[0] === side),
  )
  const kinds = new Map()
  let known = 0
  for (const { exchange, location, message, code } of found) {
    if (exchange === wrongExchange) continue
    const whose = location?.[0] === 'response' ? 'the stand-in answers' : 'the connector asks'
    const where = `${exchange.method} ${exchange.path.replace(/\?.*/, '')}`
    const what = `${where} ${exchange.status}: ${location?.join('.') ?? ''}: ${message ?? code}`
    if (knownDifferences.some((difference) => difference.test(what))) known += 1
    else kinds.set(`${whose} ${what}`, (kinds.get(`${whose} ${what}`) ?? 0) + 1)
  }
  for (const [text, count] of [...kinds].sort()) console.log(`${count} x ${text}`)
  if (isBlind) console.log('the judge let a wrong exchange pass')
  console.log(
    `${all} exchanges, ${different.length} different: ${kinds.size} kinds of objections, ${known} known differences`,
  )
  if (testsFailed) console.log('some of the tests failed whose exchanges were judged')
  return kinds.size > 0 || isBlind || testsFailed || different.length === 0 ? 1 : 0
}

function listening(server) {
  return new Promise((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', () => resolve(server.address().port))
  })
}

async function freePort() {
  const server = createServer()
  const port = await listening(server)
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** Waits for the proxy: it tells only a person that it listens. */
async function answering(port, child) {
  let ended
  child.once('error', (error) => (ended = error.message))
  child.once('exit', (code) => (ended = `it ended with ${code}`))
  for (;;) {
    if (ended !== undefined) throw new Error(`Prism did not start: ${ended}`)
    try {
      await fetch(`http://127.0.0.1:${port}/`)
      return
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
  }
}
