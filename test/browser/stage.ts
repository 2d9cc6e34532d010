import { start } from '../../src/app/start.ts'
import { startHubspotStandIn } from '../../src/sandbox/hubspot/index.ts'
import { startSandbox } from '../../src/sandbox/sandbox.ts'
import { openHouse } from '../support/house.ts'

/** Runs Paydirt with all roles in this process, against its own sandbox and HubSpot stand-in. */
export async function openStage(
  options: {
    companies?: number
    contacts?: number
    env?: Record<string, string>
    config?: object
    now?: () => Date
  } = {},
) {
  const sandbox = await startSandbox()
  const hubspot = await startHubspotStandIn({
    seed: 7,
    companies: options.companies ?? 300,
    contacts: options.contacts ?? 0,
    limits: { searchPerSecond: 100_000, perTenSeconds: 100_000 },
  })
  const house = await openHouse(sandbox, {
    env: {
      HUBSPOT_BASE_URL: hubspot.baseUrl,
      HUBSPOT_ACCESS_TOKEN: hubspot.token,
      PAYDIRT_PORT: '0',
      ...options.env,
    },
    config: {
      connectors: { hubspot: { tenSecondLimit: 100_000, searchLimit: 100_000 } },
      ...options.config,
    },
    ...(options.now ? { overrides: { now: options.now } } : {}),
  })
  const running = await start(house.context, 'all')
  const url = running.parts.map((part) => /http:\/\/\S+/.exec(part)?.[0]).find((text) => text !== undefined)
  if (url === undefined) throw new Error('the web role reports no address')

  return {
    ...house,
    sandbox,
    hubspot,
    url,
    async close() {
      await running.stop()
      await house.close()
      await hubspot.stop()
      await sandbox.stop()
    },
  }
}

export type Stage = Awaited<ReturnType<typeof openStage>>
