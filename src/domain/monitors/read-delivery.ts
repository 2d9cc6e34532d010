import { createHash } from 'node:crypto'
import { canonicalDomain, canonicalProfileUrl } from '../keys.ts'
import { networkWord } from '../words.ts'

/** A company in a delivery, by canonical profile and domain, where the delivery has them. */
export interface DeliveredCompany {
  profile: string | null
  domain: string | null
}

/** One signal of one company in a delivery. */
export interface DeliveredSignal {
  company: DeliveredCompany
  /** The company's name as the delivery has it. */
  name: string | null
  serviceId: string | null
  /** The same for every delivery of the same thing: `id:`, `date:` or `text:` and a digest. */
  meaning: string
  title: string
  url: string | null
  at: string | null
}

export interface ReadDelivery {
  monitor: { id: string; name: string | null }
  /** True for a delivery that validates or tests a webhook: nothing is done for it. */
  isTest: boolean
  triggeredAt: Date | null
  signals: DeliveredSignal[]
}

type Entry = Record<string, unknown>

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
const dateFields = [
  'occurred_at',
  'happened_at',
  'published_at',
  'detected_at',
  'observed_at',
  'created_at',
  'date',
]
/** Parts of an entry that differ each time it is sent. */
const volatile = new Set(['triggered_at', 'sent_at', 'delivered_at', 'delivery_id'])
const maxText = 300

/**
 * Returns what a delivery says. The documentation names only `signals` and `companies` (service.md, 6), so each entry is searched
 * for a company, for its `company` and `companies`, and for the `signals` of a company. Pure.
 *
 * The meaning of a signal is its id; else company, type and day; else, without a type or day, the stable content of its entry.
 */
export function readDelivery(body: unknown, networkName: string): ReadDelivery {
  const monitor = entryIn(body, 'monitor') ?? {}
  const root = isObject(body) ? body : {}
  const id = textIn(monitor, ['monitor_id', 'id']) ?? textIn(root, ['monitor_id'])
  const triggered = new Date(textIn(root, ['triggered_at']) ?? '')
  return {
    monitor: { id: id ?? '', name: textIn(monitor, ['name']) },
    isTest:
      root['is_test'] === true ||
      root['is_validation'] === true ||
      ['test', 'validation'].includes(String(root['event'] ?? root['type'])),
    triggeredAt: Number.isNaN(triggered.getTime()) ? null : triggered,
    signals: ['signals', 'companies']
      .flatMap((name) => listIn(body, name))
      .flatMap((entry) => signalsOf(entry, networkName)),
  }
}

/** Returns the companies that a delivery names, each once. */
export function companiesIn(body: unknown, networkName: string): DeliveredCompany[] {
  return companiesOf(readDelivery(body, networkName).signals)
}

/** Returns the companies of signals, each once. The last one of a name counts. */
export function companiesOf(signals: readonly DeliveredSignal[]): DeliveredCompany[] {
  return [...new Map(signals.map(({ company }) => [company.profile ?? company.domain, company])).values()]
}

function signalsOf(entry: Entry, networkName: string): DeliveredSignal[] {
  const nested = [entryIn(entry, 'company'), ...listIn(entry, 'companies')].filter(
    (each) => each !== undefined,
  )
  const ofCompany = listIn(entry, 'signals')
  const told = ofCompany.length > 0 ? ofCompany : [entry]
  return (nested.length > 0 ? nested : [entry]).flatMap((candidate) => {
    const company = companyOf(candidate, networkName)
    if (company.profile === null && company.domain === null) return []
    return told.map((signal) => ({
      company,
      name: textIn(candidate, ['company_name', 'name']),
      serviceId: textIn(candidate, ['domain_search_id']),
      meaning: meaningOf(signal, company),
      title: (textIn(signal, ['title', 'headline', 'summary', ...typeFields]) ?? 'signal').slice(0, maxText),
      url: textIn(signal, ['url', 'link', 'source_url']),
      at: textIn(signal, dateFields),
    }))
  })
}

const typeFields = ['type', 'signal_type', 'event_type']

/** An id may stand for a signal of several companies, so the company is part of every meaning. */
function meaningOf(signal: Entry, { profile, domain }: DeliveredCompany): string {
  const company = domain ?? profile
  const id = textIn(signal, ['signal_id', 'id'])
  if (id !== null) return meaning('id', [company, id])
  const type = textIn(signal, typeFields)
  const day = textIn(signal, dateFields)?.slice(0, 10) ?? null
  if (type !== null && day !== null) return meaning('date', [company, type, day])
  return meaning('text', [company, stable(signal)])
}

function meaning(kind: 'id' | 'date' | 'text', parts: unknown[]): string {
  return `${kind}:${createHash('sha256').update(JSON.stringify(parts)).digest('hex')}`
}

/** Returns a value with its keys in order and without what differs at each sending. */
function stable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(stable)
  if (!isObject(value)) return value
  return Object.keys(value)
    .filter((key) => !volatile.has(key))
    .toSorted()
    .map((key) => [key, stable(value[key])])
}

function companyOf(entry: Entry, networkName: string): DeliveredCompany {
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

function textIn(entry: Entry, names: readonly string[]): string | null {
  for (const name of names) {
    const value = entry[name]
    if (typeof value === 'string' && value.trim() !== '') return value
    if (typeof value === 'number') return String(value)
  }
  return null
}

function listIn(value: unknown, name: string): Entry[] {
  const list = isObject(value) ? value[name] : undefined
  return Array.isArray(list) ? list.filter(isObject) : []
}

function entryIn(value: unknown, name: string): Entry | undefined {
  const entry = isObject(value) ? value[name] : undefined
  return isObject(entry) ? entry : undefined
}

function isObject(value: unknown): value is Entry {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
