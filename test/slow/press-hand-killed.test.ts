import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { profileFieldNames } from '../../src/domain/fields.ts'
import { createToken } from '../../src/app/web/tokens.ts'
import { companyAnswer } from '../../src/sandbox/data/company.ts'
import { startHubspotStandIn, type HubspotStandIn } from '../../src/sandbox/hubspot/index.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openDatabase } from '../../src/store/database/database.ts'
import { createLookupLedger } from '../../src/store/ledger/lookups.ts'
import { quick, roomy } from '../integration/crm-house.ts'
import { isFullSize } from '../support/full-size.ts'
import { openHouse, type House } from '../support/house.ts'
import { testSeed } from '../support/seed.ts'
import { shortProcess } from '../support/short-process.ts'

const program = join(import.meta.dirname, '../support/hook-process.ts')
const killAt = `--import=${join(import.meta.dirname, '../support/kill-at.ts')}`

let sandbox: Sandbox
let hubspot: HubspotStandIn
beforeAll(async () => {
  sandbox = await startSandbox()
  sandbox.faults.set({ paymentIdentifier: true })
  hubspot = await startHubspotStandIn({ seed: testSeed(), companies: 0, contacts: 0, limits: roomy })
})
afterAll(async () => {
  await hubspot.stop()
  await sandbox.stop()
})

const urlOf = (name: string) => `https://www.profnet.example/company/${name}`
const known = Array.from({ length: 60 }, (_, index) => `hand-${index}`).filter(
  (name) => companyAnswer(urlOf(name)).data?.description,
)

/** `paydirt start` in a process of its own, which ends itself at the point named by `kill`. */
async function startProcess(order: object, kill: string) {
  const child = spawn(
    process.execPath,
    ['--no-warnings', ...shortProcess, killAt, program, JSON.stringify({ ...order, catchUp: false })],
    { stdio: ['pipe', 'pipe', 'inherit'], env: { ...process.env, NODE_ENV: 'test', TEST_KILL: kill } },
  )
  const ended = once(child, 'exit')
  const lines = createInterface(child.stdout)
  const [url] = (await Promise.race([once(lines, 'line'), ended.then(() => [''])])) as [string]
  return {
    url,
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

/** Presses for one company, and returns the status of the answer; 0 where the process has ended before it. */
async function press(url: string, token: string, id: string): Promise<number> {
  const body = JSON.stringify({ connector: 'hubspot', object: 'company', ids: [id], recipe: 'profile' })
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` }
  try {
    const answer = await fetch(`${url}/v1/enrich?wait=13`, { method: 'POST', headers, body })
    await answer.arrayBuffer()
    return answer.status
  } catch {
    return 0
  }
}

/** As if a minute had passed. The queue of the embedded pair ends with its process, and the leases with it. */
async function endLeases(variables: House['variables']): Promise<void> {
  const url = variables.DATABASE_URL
  if (url === undefined) return
  const { db, close } = await openDatabase({ url, dataDir: variables.PAYDIRT_DATA_DIR })
  await createLookupLedger(db, { now: () => new Date() }).dropLeases()
  await close()
}

test('a press whose process is killed at any request or answer is paid once, and written', async () => {
  const house = await openHouse(sandbox, {
    env: { HUBSPOT_BASE_URL: hubspot.baseUrl, HUBSPOT_ACCESS_TOKEN: hubspot.token, PAYDIRT_PORT: '0' },
    config: {
      connectors: quick,
      recipes: { profile: { company: { fields: profileFieldNames('company'), steps: ['company.profile'] } } },
    },
  })
  const order = { env: house.variables, file: house.settings }
  const wish = { name: 'a test', scopes: ['enrich' as const], perMinute: 100_000, dayCapAtomic: null }
  const { token } = await createToken(house.context, wish)
  await house.leave()
  try {
    let killed = 0
    let pressed = 0
    for (const point of ['request', 'answer']) {
      for (let nth = 1, isOver = false; !isOver; nth += isFullSize ? 2 : 4) {
        const name = known[pressed] ?? ''
        const { id } = hubspot.store.add('companies', { properties: { name, profnet_url: urlOf(name) } })
        const first = await startProcess(order, `${point} ${nth}`)
        const status = first.url === '' ? 0 : await press(first.url, token, id)
        await first.kill()
        if (first.url !== '' && status === 0) killed += 1
        isOver = status === 200
        if (first.url !== '') pressed += 1
        if (first.url === '' || isOver) continue

        await endLeases(house.variables)
        const next = await startProcess(order, '')
        while ((await press(next.url, token, id)) !== 200);
        await next.kill()
        expect(hubspot.store.get('companies', id)?.properties).toMatchObject({ paydirt_status: 'enriched' })
      }
    }
    expect(killed).toBeGreaterThanOrEqual(isFullSize ? 4 : 2)
    expect(await house.transfers()).toHaveLength(pressed)
    const { keysPaidTwice } = sandbox.stats()
    expect(keysPaidTwice).toBe(0)
  } finally {
    await house.close()
  }
}, 600_000)
