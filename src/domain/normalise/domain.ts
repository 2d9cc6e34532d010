import { getDomain, getHostname, parse } from 'tldts'
import type { Canonical } from '../keys.ts'
import { remembering } from './remembering.ts'

/**
 * Returns the registrable domain of a domain, host or website address by the public suffix list: `https://shop.acme.co.uk/de`
 * is `acme.co.uk`. A name registered below a hoster (`acme.github.io`) is a domain of its own. International names are in
 * their ASCII form. Reasons never contain the value.
 */
export function registrableDomain(raw: string): Canonical {
  return domains(raw)
}

const domains = remembering((raw): Canonical => {
  const host = bareHost(raw)
  if (host === undefined) return { ok: false, reason: 'it is not a domain' }
  const own = getDomain(host, ofHost)
  if (own !== null) return { ok: true, value: own }
  if (parse(host).isIp) return { ok: false, reason: 'it is an address, not a domain' }
  const domain = getDomain(host)
  return domain === null
    ? { ok: false, reason: 'it is a public suffix, under which others have their domains' }
    : { ok: true, value: domain }
})

/** A host of `bareHost` was found and checked before. */
const ofHost = { allowPrivateDomains: true, extractHostname: false, validateHostname: false }

/** No host is longer, and looking a long one up in the tables of Unicode takes the square of its length. */
const maxHostLength = 255
/** Longer addresses are cut by proxies and CRMs. */
export const maxAddressLength = 2_048

/** Returns whether a host in ASCII is a name with a domain: `acme.example`, and neither `localhost` nor `a..b`. */
function isHostName(host: string): boolean {
  return host.length <= maxHostLength && /^[a-z0-9-]+(\.[a-z0-9-]+)+$/.test(host)
}

/**
 * Returns whether a host in ASCII can be the name of a server that everybody reaches: its suffix has letters, and more than
 * one character. The URL parser reads `3.14` as the address 3.0.0.14, and every host whose last part is a number likewise.
 */
export function isPublicHostName(host: string): boolean {
  return isHostName(host) && /\.(?=[a-z0-9-]*[a-z])[a-z0-9-]{2,}$/.test(host)
}

/**
 * The host of most addresses can be read without the URL parser, which takes most of the time: plain ASCII whose last part is no
 * number. `xn--` is left to the parser, which checks it.
 */
const plainHost = /^(?:https?:\/\/)?(?!.*xn--)((?:[a-z0-9-]+\.)+[a-z][a-z0-9-]*)(?=[/?#]|$)/i

/**
 * A whole address with such a host, whose labels begin and end with a letter or digit. A search may name a hundred: this is
 * the only pass over most of them.
 */
const plainAddress =
  /^(?:https?:\/\/)?(?:www\d?\.){0,2}((?:[a-z0-9]+(?:-+[a-z0-9]+)*\.)+[a-z][a-z0-9]*(?:-+[a-z0-9]+)*)(?:[/?#][^\s@>]*)?$/i
/** No label of a name is longer. */
const maxLabelLength = 63

function plainHostOf(raw: string): string | undefined {
  const host = plainAddress.exec(raw)?.[1]?.toLowerCase()
  if (host === undefined || host.length > maxLabelLength) return undefined
  return host.startsWith('www') || host.includes('xn--') ? undefined : host
}

function parsedHost(text: string): string | undefined {
  const withScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `https://${text.replace(/^\/\//, '')}`
  return URL.parse(withScheme)?.hostname
}

/** Returns the host of a domain or website address in ASCII, without `www.`, or undefined where there is none. */
export function bareHost(raw: string): string | undefined {
  if (raw.length > maxAddressLength) return undefined
  const plain = plainHostOf(raw)
  if (plain !== undefined) return plain
  const text = raw.trim().replace(/^<|>$/g, '').replace(/\.$/, '')
  if (text === '' || /[\s@]/.test(text)) return undefined
  const hostname = plainHost.exec(text)?.[1]?.toLowerCase() ?? parsedHost(text)
  if (hostname === undefined) return undefined
  // The URL parser handles full-width letters and IDNA. The parser of the suffix list only splits labels.
  const host = getHostname(hostname)
  if (host === null || !isHostName(host)) return undefined
  return host.replace(/^(?:www\d?\.)+(?=[^.]+\.)/, '')
}

const tracking = /^(utm_\w+|gclid|fbclid|msclkid|mc_[ce]id|trk|ref)$/i

/** Returns what all spellings of one web address share, without scheme, `www.` and tracking, or undefined where it is none. */
export function canonicalUrl(raw: string): string | undefined {
  const host = bareHost(raw)
  if (host === undefined) return undefined
  const text = raw.trim().replace(/^<|>$/g, '')
  const url = new URL(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `https://${text.replace(/^\/\//, '')}`)
  const kept = [...url.searchParams].filter(([name]) => !tracking.test(name))
  kept.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
  const query = kept.length > 0 ? `?${new URLSearchParams(kept)}` : ''
  return `${host}${url.port ? `:${url.port}` : ''}${withoutEndSlashes(decoded(url.pathname))}${query}`
}

function withoutEndSlashes(path: string): string {
  let end = path.length
  while (path[end - 1] === '/') end -= 1
  return path.slice(0, end)
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path).normalize('NFC')
  } catch {
    return path
  }
}
