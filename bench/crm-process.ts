// The HubSpot stand-in in a process of its own, with a number of companies that have a profile and little else.
import { startHubspotStandIn } from '../src/sandbox/hubspot/index.ts'
import { readOrder, serveParent } from './child.ts'

const { companies } = readOrder<{ companies: number }>()
const roomy = { searchPerSecond: 1_000_000, perTenSeconds: 1_000_000, perDay: 100_000_000 }
const standIn = await startHubspotStandIn({ companies: 0, contacts: 0, limits: roomy })
const dayMs = 86_400_000
for (let index = 0; index < companies; index += 1) add(`nightly-${index}`, Date.now() - dayMs + index)

serveParent({
  address: () => ({ baseUrl: standIn.baseUrl, token: standIn.token }),
  add: (slug: string) => add(slug, Date.now()),
  /** When the record was last written, by the machine's clock. */
  written: (id: string) => standIn.store.get('companies', id)?.modifiedAtMs,
  stop: () => standIn.stop(),
})

function add(slug: string, modifiedAtMs: number): string {
  const properties = { name: slug, profnet_url: `https://www.profnet.example/company/${slug}` }
  return standIn.store.add('companies', { properties, createdAtMs: modifiedAtMs, modifiedAtMs }).id
}
