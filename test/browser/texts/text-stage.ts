import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { generatePrivateKey } from 'viem/accounts'
import { resolveConfig } from '../../../src/app/config/config.ts'
import { readEnvironment } from '../../../src/app/config/environment.ts'
import { fileSchema } from '../../../src/app/config/file.ts'
import { openConnector } from '../../../src/app/context/connectors.ts'
import { createContext } from '../../../src/app/context/context.ts'
import { openDesk } from '../../../src/app/web/desk.ts'
import { credentialOf } from '../../../src/http/desk/access/gate.ts'
import { startHttpServer } from '../../../src/http/server/server.ts'
import { createSessionLedger } from '../../../src/store/access/sessions.ts'
import { layLedger } from '../../support/ledger-template.ts'
import { freshStores } from '../../support/stores.ts'
import { fillLedger } from './fill-ledger.ts'
import { championsWith, fillChampions } from './fill-champions.ts'
import { fillMonitors, monitorsWith } from './fill-monitors.ts'
import { fillSignals, signalsWith } from './fill-signals.ts'
import { fillLists, listsWith } from './fill-lists.ts'

/**
 * Opens the desk with one text wherever a person, a CRM, a file or the service may have put one: in the ledger, in the
 * config, in the name of the user. No worker runs, so what was put there stays.
 */
export async function openTextStage(text: string) {
  const stores = await freshStores()
  const dataDir = join(stores.dataDir, 'data')
  await layLedger(dataDir)
  const node = await startNode()
  const config = resolveConfig(
    readEnvironment({
      PAYDIRT_SERVICE_URL: 'http://127.0.0.1:9',
      PAYDIRT_RPC_URL: node.url,
      PAYDIRT_WALLET_KEY: generatePrivateKey(),
      PAYDIRT_DATA_DIR: dataDir,
      PAYDIRT_REDIS_PREFIX: stores.redisPrefix,
      PAYDIRT_LOG_LEVEL: 'silent',
      HUBSPOT_BASE_URL: 'http://127.0.0.1:9',
      HUBSPOT_ACCESS_TOKEN: 'none',
      DATABASE_URL: stores.databaseUrl,
      REDIS_URL: stores.redisUrl,
    }),
    fileSchema.parse({
      recipes: { [text]: { company: { fields: ['company_name', 'domain'], steps: ['company.profile'] } } },
      connectors: { hubspot: { mapping: { companies: { fields: { company_name: { property: text } } } } } },
      lists: listsWith(text),
      signals: signalsWith(),
      monitors: monitorsWith(text),
      champions: championsWith(),
      payment: { maxPricesUsd: { 'company.search': '0.05' } },
      schedules: {
        ['n'.repeat(40)]: {
          connector: 'hubspot',
          object: 'companies',
          cron: '0 2 * * *',
          timeZone: 'America/Argentina/ComodRivadavia',
          startNoLaterThan: '03:00',
          stopAt: '06:00',
          recipe: text,
        },
      },
    }),
  )
  const context = await createContext(config)
  const filled = await fillLedger(context.database.db, text, context.now())
  await fillLists(context, text)
  await fillSignals(context, text)
  await fillMonitors(context, text)
  await fillChampions(context, text)
  const connector = await openConnector(config, 'hubspot', undefined)
  context.connectors.set('hubspot', connector)

  const user = { name: text, passwordHash: 'none', role: 'admin' as const }
  const stopping = new AbortController()
  const desk = await openDesk(context, {
    access: { mode: 'sign_in', users: [user], proxy: undefined, hosts: [] },
    signal: stopping.signal,
  })
  const server = await startHttpServer(desk.app, { host: '127.0.0.1', port: 0 })
  const token = randomBytes(32).toString('base64url')
  const sessions = createSessionLedger(context.database.db, {
    now: context.now,
    idleMs: config.desk.idleMs,
    lifetimeMs: config.desk.lifetimeMs,
  })
  await sessions.begin(token, { user: text, role: 'admin', credential: credentialOf(user, token) })

  return {
    url: server.url,
    filled,
    cookie: { name: 'paydirt_desk', value: token, url: server.url },
    async close() {
      stopping.abort()
      await server.stop(100)
      await desk.close()
      await connector.close()
      await context.close()
      await node.close()
      await stores.cleanup()
    },
  }
}

/** A node of a chain that answers every call with a balance. */
async function startNode() {
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const asked = JSON.parse(body) as { id: number } | { id: number }[]
    const answer = ({ id }: { id: number }) => ({
      jsonrpc: '2.0',
      id,
      result: `0x${(12_340_000).toString(16).padStart(64, '0')}`,
    })
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(Array.isArray(asked) ? asked.map(answer) : answer(asked)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => new Promise<unknown>((resolve) => (server.closeAllConnections(), server.close(resolve))),
  }
}
