import { canonicalDomain } from '../../../domain/keys.ts'
import { readRow } from '../../../domain/signals/read-row.ts'
import { nameAtService, type SignalAccount } from '../../../store/signals/accounts.ts'
import type { Context } from '../../context/context.ts'
import { pageOf } from '../../service/call-result.ts'
import type { Bought, Purse } from './purse.ts'

/** Accounts with the ids of their companies at the service, and those that the service does not know. */
export interface Identified {
  known: SignalAccount[]
  unknown: { account: SignalAccount; lookupKey: string }[]
  /** Those that were not asked for: the budget, a cap or a person ended it. */
  left: SignalAccount[]
}

/**
 * Finds the companies of accounts at the service: one search for as many domains as a page has rows, so that each answer is whole. An
 * account without a domain is looked up by its profile first. What was found once is not asked for again, unless it is doubted.
 */
export async function identify(
  context: Context,
  accounts: readonly SignalAccount[],
  purse: Purse,
  doubted: ReadonlySet<bigint> = new Set(),
): Promise<Identified> {
  const named: { account: SignalAccount; domain: string }[] = []
  const known = accounts.flatMap((account) => withOwnId(account, doubted) ?? [])
  const open = accounts.filter((account) => withOwnId(account, doubted) === undefined)
  const unknown: Identified['unknown'] = []
  const left: SignalAccount[] = []
  for (const account of open) {
    const domain = domainOf(account.identity.domain)
    if (domain !== undefined) named.push({ account, domain })
    else {
      const found = await domainByProfile(account, purse)
      if (found.state === 'found') named.push({ account, domain: found.domain })
      else if (found.state === 'none') unknown.push({ account, lookupKey: found.lookupKey })
      else left.push(account)
    }
  }
  const size = purse.pageSize
  const groups: (typeof named)[] = []
  for (let at = 0; at < named.length; at += size) groups.push(named.slice(at, at + size))
  for (let group = groups.shift(); group; group = groups.shift()) {
    const domains = [...new Set(group.map(({ domain }) => domain))].sort()
    const bought = await purse.buy('company.search', { domains })
    if (bought.state !== 'answered') {
      left.push(...group.map(({ account }) => account))
      continue
    }
    const page = pageOf(bought.call, bought.fact)
    // Several companies may share a domain: then the answer is whole for fewer domains alone.
    if (page && (page.total ?? 0) > page.arrived && domains.length > 1) {
      const middle = Math.ceil(group.length / 2)
      groups.unshift(group.slice(0, middle), group.slice(middle))
      continue
    }
    const ids = new Map<string, string>()
    for (const row of page?.rows ?? []) {
      const { serviceId, domain } = readRow('job', row)
      if (serviceId !== null && domain !== null && !ids.has(domain)) ids.set(domain, serviceId)
    }
    const found = group.map(({ account, domain }) => ({ account, serviceId: ids.get(domain) }))
    await nameAtService(
      context.database.db,
      found.map(({ account: { id }, serviceId = null }) => ({ id, serviceId })),
    )
    for (const { account, serviceId } of found)
      if (serviceId === undefined) unknown.push({ account, lookupKey: bought.call.key })
      else known.push({ ...account, serviceId })
  }
  return { known, unknown, left }
}

function withOwnId(account: SignalAccount, doubted: ReadonlySet<bigint>): SignalAccount | undefined {
  const found = doubted.has(account.id) ? undefined : account.serviceId
  const serviceId = found ?? account.identity.companyId?.trim()
  return serviceId ? { ...account, serviceId } : undefined
}

type ByProfile = { state: 'found'; domain: string } | { state: 'none'; lookupKey: string } | { state: 'left' }

async function domainByProfile({ identity }: SignalAccount, purse: Purse): Promise<ByProfile> {
  if (identity.profileUrl === undefined) return { state: 'left' }
  const bought: Bought = await purse.buy('company.lookup', { profnet_url: identity.profileUrl })
  if (bought.state !== 'answered') return { state: 'left' }
  const { data } = bought.fact
  const texts = ['domain', 'website'].map((name) => data?.[name])
  const domain = texts.map((text) => domainOf(typeof text === 'string' ? text : undefined)).find(Boolean)
  return domain === undefined ? { state: 'none', lookupKey: bought.call.key } : { state: 'found', domain }
}

function domainOf(raw: string | undefined): string | undefined {
  const read = canonicalDomain(raw ?? '')
  return read.ok ? read.value : undefined
}
