import { remembering } from './normalise/remembering.ts'
import { networkWord, type ObjectKind, type Operation } from './words.ts'

/**
 * The canonical name under which a lookup is bought once, for every spelling of its record. The same string is the primary
 * key in the ledger, the seed of the payment's nonce and, hashed, the id of the job in the queue.
 */
export type LookupKey = string & { readonly __brand: 'LookupKey' }

export type Canonical = { ok: true; value: string } | { ok: false; reason: string }

const pathSegments: Record<ObjectKind, readonly string[]> = { company: ['company'], person: ['in', 'pub'] }
const expectedPaths: Record<ObjectKind, string> = { company: '/company/', person: '/in/ or /pub/' }
const otherPages = new Set(['school', 'showcase', 'jobs', 'groups', 'posts', 'feed', 'sales', 'pulse'])
/**
 * The hosts of the network. A profile of one is the same profile on all of them; the first one stands in keys and requests.
 * The settings may name others.
 */
export const defaultNetworkHosts: readonly string[] = ['profnet.com', 'profnet.example']

/** Returns the default hosts of a network that goes by this word in the service's paths and field names. */
export function networkHostsOf(word: string): readonly string[] {
  return word === networkWord
    ? defaultNetworkHosts
    : [`${word}.com`, `${word}.example`, ...defaultNetworkHosts]
}

/** Country and device subdomains (de., uk., m., www.) name the same profile, also on a host that is not the network's. */
const foldedSubdomain = /^(?:(?:www|m|mobile|[a-z]{2})\.)+(?=[^.]+\.)/
/** Opaque member ids are case-sensitive, unlike the names that people choose. */
export const opaqueId = /^AC[ow][A-Za-z0-9_-]{20,}$/

/** Longer URLs are cut by proxies, and no name is as long. */
export const maxUrlLength = 2_048
/** No name has as many bytes in UTF-8, and a profile is part of the ledger's keys. */
export const maxProfileBytes = 600
/** `%00` decodes to a character that Postgres cannot store. */
export const unstorable = /\p{Cc}/u

/**
 * Folds a profile URL to `host/segment/slug`: no scheme, host case, country subdomain, query, fragment, trailing
 * slash or subpage, and the network's first host for all of its hosts. Two URLs with the same result are the same profile.
 * The reason of a refusal names the fault.
 */
export function canonicalProfileUrl(
  kind: ObjectKind,
  raw: string,
  hosts: readonly string[] = defaultNetworkHosts,
): Canonical {
  return foldingFor(hosts)[kind](raw)
}

type Folding = Record<ObjectKind, (raw: string) => Canonical>

const foldings = new WeakMap<readonly string[], Folding>()

function foldingFor(hosts: readonly string[]): Folding {
  let folding = foldings.get(hosts)
  if (!folding) {
    folding = {
      company: remembering((raw) => foldProfileUrl('company', raw, hosts)),
      person: remembering((raw) => foldProfileUrl('person', raw, hosts)),
    }
    foldings.set(hosts, folding)
  }
  return folding
}

/**
 * Most addresses are in a form in which the URL parser finds nothing to change, and it takes most of the time: a host of plain ASCII
 * whose last part is no number, and behind it nothing, or a name of small letters and digits.
 */
const plainDomain = /^(?:https?:\/\/)?(?!.*xn--)((?:[a-z0-9-]+\.)+[a-z][a-z0-9-]*)\/?$/
const plainProfile =
  /^(?:https?:\/\/)?(?!.*xn--)((?:[a-z0-9-]+\.)+[a-z][a-z0-9-]*)\/(company|in)\/([a-z0-9-]{1,200})\/?$/

function foldProfileUrl(kind: ObjectKind, raw: string, hosts: readonly string[]): Canonical {
  if (raw.length > maxUrlLength) return refuse(`it has more than ${maxUrlLength} characters`)
  const [, host, segment, slug] = plainProfile.exec(raw) ?? []
  if (host === undefined || !isOfNetwork(host, hosts)) return foldParsed(kind, raw, hosts)
  const found: ObjectKind = segment === 'company' ? 'company' : 'person'
  return found === kind ? { ok: true, value: `${hosts[0]}/${segment}/${slug}` } : refuse(isOther(kind, found))
}

function isOther(kind: ObjectKind, found: ObjectKind): string {
  return `it is the profile of a ${found}, not of a ${kind}`
}

function foldParsed(kind: ObjectKind, raw: string, hosts: readonly string[]): Canonical {
  const text = raw.trim().replace(/^<|>$/g, '')
  if (text === '') return refuse('it is empty')
  if (/\s/.test(text)) return refuse('it contains white space')
  if (unstorable.test(text)) return refuse('it contains control characters')
  const url = parseUrl(text)
  if (!url) return refuse('it is not a URL')
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return refuse(`its scheme is ${url.protocol}`)
  if (!/^[a-z0-9-]+(\.[a-z0-9-]+)+$/.test(url.hostname)) return refuse('it has no host name')

  const [segment = '', ...rest] = url.pathname.split('/').filter((part) => part !== '')
  const wanted = pathSegments[kind]
  const expected = expectedPaths[kind]
  const name = segment.toLowerCase()
  if (!wanted.includes(name)) {
    const other: ObjectKind = kind === 'company' ? 'person' : 'company'
    if (pathSegments[other].includes(name)) return refuse(isOther(kind, other))
    return refuse(
      otherPages.has(name) ? `it is a /${name}/ page, not ${expected}` : `its path has no ${expected}`,
    )
  }
  // The parts after the name identify old public profiles (/pub/jane-doe/1/2b/3c4). Elsewhere they are subpages.
  const identifying = name === 'pub' ? rest.slice(0, 4) : rest.slice(0, 1)
  const slugs = identifying.map(foldSlug)
  if (slugs.length === 0 || slugs.includes('')) return refuse(`no name follows ${expected}`)
  if (slugs.includes(undefined)) return refuse('its name is wrongly percent-encoded')
  if (slugs.some((slug) => slug !== undefined && unstorable.test(slug)))
    return refuse('its name has control characters')
  const value = [foldHost(url.hostname, hosts), name, ...slugs].join('/')
  return bytesOf(value) > maxProfileBytes ? refuse('its name is too long') : { ok: true, value }
}

function foldHost(hostname: string, hosts: readonly string[]): string {
  return isOfNetwork(hostname, hosts) ? (hosts[0] as string) : hostname.replace(foldedSubdomain, '')
}

function isOfNetwork(hostname: string, hosts: readonly string[]): boolean {
  return hosts.some((host) => hostname === host || hostname.endsWith(`.${host}`))
}

/**
 * Folds the profile URL of a record that a lookup may be bought for, as `canonicalProfileUrl` does. Refuses the hosts that are not the
 * network's: the service knows none of their profiles and is paid for each question.
 */
export function askableProfileUrl(
  kind: ObjectKind,
  raw: string,
  hosts: readonly string[] = defaultNetworkHosts,
): Canonical {
  const profile = canonicalProfileUrl(kind, raw, hosts)
  if (!profile.ok || profile.value.startsWith(`${hosts[0]}/`)) return profile
  return refuse(`its host is not ${hosts.join(' or ')} (service.networkHosts)`)
}

/** Returns a canonical profile under every host of the network, the first host first. Leaves other names as they are. */
export function underAllHosts(name: string, hosts: readonly string[] = defaultNetworkHosts): string[] {
  const slash = name.indexOf('/')
  if (slash === -1 || !isOfNetwork(name.slice(0, slash), hosts)) return [name]
  return hosts.map((host) => `${host}${name.slice(slash)}`)
}

/** Returns the URL that is sent to the service, the same for all spellings, so that an HTTP cache can help too. */
export function profileUrlOf(canonical: string): string {
  return encodeURI(`https://www.${canonical}`)
}

/** Returns the canonical profile of a URL that `profileUrlOf` made. */
export function profileOfUrl(url: string): string {
  return decodeURI(url).replace(/^https:\/\/www\./, '')
}

/**
 * Folds a domain or website address to its bare host: no scheme, `www.`, path, port or case. International names are in
 * their ASCII form.
 */
export function canonicalDomain(raw: string): Canonical {
  if (raw.length > maxUrlLength) return refuse('it is too long for a domain')
  const text = raw.trim()
  if (text === '') return refuse('it is empty')
  const host = plainDomain.exec(raw)?.[1] ?? parseUrl(text)?.hostname
  if (host === undefined || !/^[a-z0-9-]+(\.[a-z0-9-]+)+$/.test(host)) return refuse('it is not a domain')
  return { ok: true, value: host.replace(/^(?:www\.)+(?=[^.]+\.)/, '') }
}

export function lookupKey(operation: Operation, canonical: string): LookupKey {
  return `${operation}|${canonical}` as LookupKey
}

/** An index of Postgres takes rows of up to 2,704 bytes. */
const maxKeyBytes = 1_500

/** Returns whether a key is too long for the ledger, which would refuse it together with the keys beside it. */
export function isTooLong(key: LookupKey): boolean {
  return bytesOf(key) > maxKeyBytes
}

export function bytesOf(text: string): number {
  return Buffer.byteLength(text)
}

function foldSlug(part: string): string | undefined {
  try {
    const decoded = decodeURIComponent(part).normalize('NFC').trim()
    // Sent again, such a sign would end the name, and another profile would be paid for.
    if (/[/?#]/.test(decoded)) return undefined
    return opaqueId.test(decoded) ? decoded : decoded.toLowerCase()
  } catch {
    return undefined
  }
}

export function parseUrl(text: string): URL | undefined {
  const withScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `https://${text.replace(/^\/\//, '')}`
  return URL.parse(withScheme) ?? undefined
}

function refuse(reason: string): Canonical {
  return { ok: false, reason }
}

/** Returns the key of a batch, which names no subject. */
export function batchKey(id: string): LookupKey {
  return `bundle|${id}` as LookupKey
}

export function isBatchKey(key: LookupKey): boolean {
  return key.startsWith('bundle|')
}
