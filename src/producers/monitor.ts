import { createHash } from 'node:crypto'
import { describeError } from '../domain/errors.ts'
import { canonicalDomain, canonicalProfileUrl } from '../domain/keys.ts'
import type { RecipeBook } from '../domain/planning/recipes.ts'
import { networkWord } from '../domain/words.ts'
import { recordIdentities } from '../domain/subjects/record-identities.ts'
import type { IndexedRecord, RecordIndexLedger } from '../store/identities/record-index.ts'
import type { DueDelivery, MonitorDeliveries } from '../store/messages/monitor-deliveries.ts'
import type { OnDemand } from './on-demand.ts'

/** A company in a delivery, by canonical profile and domain, where the delivery has them. */
interface NamedCompany {
  profile: string | null
  domain: string | null
}

export interface MonitorOptions {
  deliveries: MonitorDeliveries
  index: Pick<RecordIndexLedger, 'find'>
  onDemand: Pick<OnDemand, 'request'>
  /** The CRMs that are configured here. */
  connectors: readonly string[]
  recipes: RecipeBook
  recipe: string
  /** The network's word in the names of fields, where it is not the default. */
  networkName: string
  /** The hosts of the network, on all of which a profile is the same. Default: the published ones. */
  networkHosts?: readonly string[] | undefined
  now: () => Date
  onError: (error: unknown) => void
}

export interface Monitor {
  /** Stores a delivery. Returns false for one that was received before. */
  receive(body: string): Promise<boolean>
  /** Makes tasks of the deliveries received. Returns their number. */
  work(): Promise<number>
}

const leaseMs = 60_000
/** The name of a company stands for its record, in an index of the ledger. */
const maxNameLength = 500
const mostTries = 8
const keptMs = 7 * 86_400_000

/**
 * Turns the deliveries of monitors into tasks: one for each CRM record that the index has under the profile or domain
 * of a company that the delivery names. A company without a known record gets a task that ends at once, because
 * there would be no record to write an answer to.
 */
export function createMonitor(options: MonitorOptions): Monitor {
  const { deliveries, now } = options

  async function turnIntoTasks({ digest, body }: DueDelivery): Promise<void> {
    const companies = companiesIn(JSON.parse(body), options.networkName)
    const found = await recordsOf(companies)
    const records = Map.groupBy(found.flat(), ({ connector, entity }) => `${connector}/${entity}`)
    for (const group of records.values()) {
      const { connector, entity } = group[0] as IndexedRecord
      await options.onDemand.request({
        connector,
        entity,
        object: 'company',
        ids: idsIn(group),
        recipe: options.recipes('company', options.recipe).name,
        trigger: 'monitor',
        source: { caller: 'monitor', records: idsIn(group).length },
      })
    }
    const unknown = companies.filter((_, place) => found[place]?.length === 0)
    await deliveries.addUnknown(
      `m${digest.slice(0, 16)}`,
      unknown.map(({ profile, domain }) => (profile ?? domain ?? '').slice(0, maxNameLength)),
      options.recipe,
      'no record of this company was seen in a CRM yet',
    )
    const sum = [...records.values()].reduce((count, group) => count + idsIn(group).length, 0)
    await deliveries.finish(digest, { records: sum, unknown: unknown.length, reason: null })
  }

  /** Returns the records of each company. A name is not enough, and a mailbox provider's domain names none. */
  async function recordsOf(companies: readonly NamedCompany[]): Promise<IndexedRecord[][]> {
    const named = companies.map(({ profile, domain }) =>
      recordIdentities(
        {
          object: 'company',
          identity: {
            ...(profile === null ? {} : { profileUrl: profile }),
            ...(domain === null ? {} : { domain }),
          },
        },
        { hosts: options.networkHosts },
      ),
    )
    const found = await options.index.find(options.connectors, named.flat())
    const records = Map.groupBy(found, ({ kind, value }) => `${kind}|${value}`)
    return named.map((identities) =>
      identities.flatMap(({ kind, value }) => records.get(`${kind}|${value}`) ?? []),
    )
  }

  return {
    async receive(body) {
      return deliveries.add(createHash('sha256').update(body).digest('hex'), body)
    },

    async work() {
      const due = await deliveries.lease({ limit: 10, leaseMs })
      for (const delivery of due) {
        try {
          await turnIntoTasks(delivery)
        } catch (error) {
          options.onError(error)
          const reason = describeError(error)
          if (delivery.tries >= mostTries)
            await deliveries.finish(delivery.digest, { records: 0, unknown: 0, reason })
          else {
            const waitMs = Math.min(300_000, 1_000 * 2 ** delivery.tries)
            await deliveries.postpone(delivery.digest, new Date(now().getTime() + waitMs), reason)
          }
        }
      }
      await deliveries.prune(new Date(now().getTime() - keptMs))
      return due.length
    },
  }
}

function idsIn(records: readonly IndexedRecord[]): string[] {
  return [...new Set(records.map(({ recordId }) => recordId))]
}

const profileFields = [
  `${networkWord}_url`,
  `company_${networkWord}_url`,
  'profile_url',
  'company_profile_url',
]
const domainFields = [
  'domain',
  'company_domain',
  'unique_domain',
  'website',
  'company_website',
  'company_url',
]

/**
 * Returns the companies that a delivery names, each once. The documentation names only `signals` and `companies`
 * (service.md, 6), so each entry is searched for a company, and its `company` and `companies` too.
 */
export function companiesIn(body: unknown, networkName: string): NamedCompany[] {
  const found = new Map<string, NamedCompany>()
  const entries = ['signals', 'companies'].flatMap((name) => listIn(body, name))
  for (const entry of entries) {
    const nested = [entryIn(entry, 'company'), ...listIn(entry, 'companies')].filter(
      (each) => each !== undefined,
    )
    for (const candidate of nested.length > 0 ? nested : [entry]) {
      const company = companyOf(candidate, networkName)
      const name = company.profile ?? company.domain
      if (name !== null) found.set(name, company)
    }
  }
  return [...found.values()]
}

function companyOf(entry: Record<string, unknown>, networkName: string): NamedCompany {
  const text = (names: string[]) =>
    names.flatMap((name) => {
      const value = entry[name] ?? entry[name.replace(networkWord, networkName)]
      return typeof value === 'string' ? [value] : []
    })
  const profile = text(profileFields)
    .map((raw) => canonicalProfileUrl('company', raw))
    .find(({ ok }) => ok)
  const domain = text(domainFields)
    .map(canonicalDomain)
    .find(({ ok }) => ok)
  return { profile: profile?.ok ? profile.value : null, domain: domain?.ok ? domain.value : null }
}

function listIn(value: unknown, name: string): Record<string, unknown>[] {
  const list = isObject(value) ? value[name] : undefined
  return Array.isArray(list) ? list.filter(isObject) : []
}

function entryIn(value: unknown, name: string): Record<string, unknown> | undefined {
  const entry = isObject(value) ? value[name] : undefined
  return isObject(entry) ? entry : undefined
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
