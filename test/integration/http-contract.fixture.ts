import { pino } from 'pino'
import { afterAll, beforeAll } from 'vitest'
import { companyAnswer } from '../../src/sandbox/data/company.ts'
import { startSalesforceStandIn, type SalesforceStandIn } from '../../src/sandbox/salesforce/index.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openHttpHouse, type HttpHouse } from '../support/http-house.ts'

export let sandbox: Sandbox
export let salesforce: SalesforceStandIn
export let house: HttpHouse
export let token: string
/** The log of the house. */
export const lines: string[] = []
export const monitorHeader = 'x-own-monitor-secret'
let next = 0

/** Opens one house with both CRMs and a token for the tests of the calling file. */
export function useContractHouse(): void {
  beforeAll(async () => {
    lines.length = 0
    sandbox = await startSandbox()
    salesforce = await startSalesforceStandIn()
    const log = pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) })
    house = await openHttpHouse(sandbox, {
      env: {
        PAYDIRT_MONITOR_HEADER: monitorHeader,
        SALESFORCE_LOGIN_URL: salesforce.baseUrl,
        SALESFORCE_CLIENT_ID: salesforce.auth.clientId,
        SALESFORCE_CLIENT_SECRET: salesforce.auth.clientSecret,
      },
      overrides: { log },
    })
    token = await house.token()
  })
  afterAll(async () => {
    await house?.close()
    await salesforce?.stop()
    await sandbox?.stop()
  })
}

/** Adds a company that the service knows, and returns its id. */
export function aCompany(): string {
  for (;;) {
    next += 1
    const url = `https://www.profnet.example/company/contract-${next}`
    if (companyAnswer(url).data) return house.addCompany({ name: `Acme ${next}`, profnet_url: url })
  }
}
