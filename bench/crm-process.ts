// The HubSpot stand-in in a process of its own, with a number of companies that have a profile and little else.
import { startHubspotStandIn } from '../src/sandbox/hubspot/index.ts'
import type { HubspotLimits } from '../src/sandbox/hubspot/limits.ts'
import { readOrder, serveParent } from './child.ts'

export interface CrmOrder {
  companies: number
  /** The limits of an account; none when left out. */
  limits?: HubspotLimits
}

const roomy = { searchPerSecond: 1_000_000, perTenSeconds: 1_000_000, perDay: 100_000_000 }
const { companies, limits = roomy } = readOrder<CrmOrder>()
const standIn = await startHubspotStandIn({ companies: 0, contacts: 0, limits })
const ids = new Map<string, string>()
const dayMs = 86_400_000
for (let index = 0; index < companies; index += 1) add(`nightly-${index}`, Date.now() - dayMs + index)

serveParent({
  address: () => ({ baseUrl: standIn.baseUrl, token: standIn.token }),
  add: (slug: string) => add(slug, Date.now()),
  /** Returns the ids of these companies, of which those that are not there are added. */
  idsOf: (slugs: string[]) => slugs.map((slug) => ids.get(slug) ?? add(slug, Date.now())),
  stats: () => standIn.stats(),
  /** When the record was last written, by the machine's clock. */
  written: (id: string) => standIn.store.get('companies', id)?.modifiedAtMs,
  stop: () => standIn.stop(),
})

function add(slug: string, modifiedAtMs: number): string {
  const properties = { name: slug, profnet_url: `https://www.profnet.example/company/${slug}` }
  const { id } = standIn.store.add('companies', { properties, createdAtMs: modifiedAtMs, modifiedAtMs })
  ids.set(slug, id)
  return id
}
