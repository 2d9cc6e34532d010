import { canonicalDomain } from '../../domain/keys.ts'
import { ConfigError } from '../../domain/errors.ts'
import type { DeclaredMonitor } from '../../domain/monitors/declared.ts'
import type { Identity } from '../../domain/record.ts'
import { holdAccounts, type SignalAccount } from '../../store/signals/accounts.ts'
import type { Config } from '../config/config.ts'
import type { MonitorSettings } from '../config/watching/monitors.ts'
import type { Context } from '../context/context.ts'
import { readAccounts } from '../signals/accounts.ts'
import { identify } from '../signals/buying/identify.ts'
import type { Purse } from '../signals/buying/purse.ts'

/** The monitors of the settings in the service's own fields, as far as their companies are known there. */
export interface Declared {
  monitors: DeclaredMonitor[]
  /** By monitor, the companies that have to be found at the service first. */
  open: { monitor: string; companies: number }[]
  /** Companies that are left out, with the reason. */
  left: { place: string; reason: string }[]
}

/**
 * Reads what the settings declare. The companies of a monitor are found at the service by their domains, which is paid for: without a purse
 * those that the ledger does not know yet stay open. Throws ConfigError where a webhook or a company cannot be named.
 */
export async function declaredMonitors(
  context: Context,
  { signal, purse }: { signal: AbortSignal; purse?: Purse | undefined },
): Promise<Declared> {
  const declared: Declared = { monitors: [], open: [], left: [] }
  for (const [name, settings] of Object.entries(context.config.monitors)) {
    const fields: Record<string, unknown> = {
      ...settings.channel,
      ...settings.automaticPersonEnrichment,
      detection_mode: settings.detection_mode,
      signal_types: settings.signal_types,
      ...(settings.filters && { filters: settings.filters }),
      status: settings.status ?? 'active',
      ...webhookOf(context.config, name, settings),
    }
    if (settings.companies) {
      const { accounts, skipped } = await companiesOf(context, name, settings.companies, signal)
      declared.left.push(...skipped)
      const found = await idsOf(context, accounts, purse)
      if (found.open > 0) declared.open.push({ monitor: name, companies: found.open })
      for (const place of found.unknown) declared.left.push({ place, reason: 'the service does not know it' })
      fields['domain_search_ids'] = found.ids
    }
    declared.monitors.push({ name, fields })
  }
  return declared
}

function webhookOf(
  { http }: Pick<Config, 'http'>,
  name: string,
  { webhook }: Pick<MonitorSettings, 'webhook'>,
): Record<string, unknown> {
  if (webhook === undefined) return {}
  if (webhook !== 'auto') return { webhook_url: webhook }
  const { publicUrl, monitorSecret, monitorHeader } = http
  const lacks = [
    ...(publicUrl === undefined
      ? ['PAYDIRT_PUBLIC_URL, the address at which the service reaches this one']
      : []),
    ...(monitorSecret === undefined ? ['PAYDIRT_MONITOR_SECRET, by which its deliveries are known'] : []),
  ]
  if (publicUrl === undefined || monitorSecret === undefined)
    throw new ConfigError('missing_setting', `monitors.${name}.webhook: auto needs ${lacks.join(', and ')}`)
  return {
    webhook_url: new URL('/hooks/monitor', publicUrl).href,
    webhook_headers: { [monitorHeader]: monitorSecret },
  }
}

async function companiesOf(
  context: Context,
  name: string,
  companies: NonNullable<MonitorSettings['companies']>,
  signal: AbortSignal,
): Promise<{ accounts: SignalAccount[]; skipped: Declared['left'] }> {
  const place = `monitors.${name}.companies`
  if (!Array.isArray(companies)) return readAccounts(context, place, { accounts: companies }, { signal })
  const given = [...new Set(companies)].map((text) => ({
    connector: 'config',
    entity: 'monitors',
    recordId: text,
    name: null,
    identity: identityOf(text),
  }))
  return { accounts: await holdAccounts(context.database.db, given, context.now()), skipped: [] }
}

/** A text with a dot is a domain, and another one an id of the service, which may have dots behind a prefix of its own. */
function identityOf(text: string): Identity {
  const domain = canonicalDomain(text)
  return domain.ok && !text.startsWith('ds-') ? { domain: domain.value } : { companyId: text }
}

async function idsOf(
  context: Context,
  accounts: readonly SignalAccount[],
  purse: Purse | undefined,
): Promise<{ ids: string[]; open: number; unknown: string[] }> {
  const own = accounts.flatMap(({ serviceId, identity }) => serviceId ?? identity.companyId ?? [])
  const open = accounts.filter(({ serviceId, identity }) => !serviceId && !identity.companyId)
  if (!purse || open.length === 0) return { ids: [...new Set(own)].sort(), open: open.length, unknown: [] }
  const { known, unknown, left } = await identify(context, open, purse)
  const found = known.flatMap(({ serviceId }) => serviceId ?? [])
  return {
    ids: [...new Set([...own, ...found])].sort(),
    open: left.length,
    unknown: unknown.map(
      ({ account: { connector, entity, recordId } }) => `${connector}:${entity}:${recordId}`,
    ),
  }
}
