import { afterAll, beforeAll, beforeEach } from 'vitest'
import { companyAnswer } from '../../src/sandbox/data/company.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openHttpHouse, type HttpHouse } from '../support/http-house.ts'

/** The address that callers outside use; the proxy in between changes scheme, host and port. */
export const publicUrl = 'https://paydirt.example'

export let sandbox: Sandbox
export let house: HttpHouse
let next = 0

/** Opens one house behind a proxy for the tests of the calling file. */
export function useHookHouse(): void {
  beforeAll(async () => {
    sandbox = await startSandbox()
    house = await openHttpHouse(sandbox, { env: { PAYDIRT_PUBLIC_URL: publicUrl } })
  })
  afterAll(async () => {
    await house?.close()
    await sandbox?.stop()
  })
  beforeEach(() => sandbox.faults.reset())
}

/** Adds a company that the service knows, and returns its id. */
export function aCompany(more: Record<string, string> = {}): string {
  for (;;) {
    next += 1
    const url = `https://www.profnet.example/company/hooked-${next}`
    if (companyAnswer(url).data) return house.addCompany({ name: `Acme ${next}`, profnet_url: url, ...more })
  }
}
