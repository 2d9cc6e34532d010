import { bytesOf, maxProfileBytes, maxUrlLength, parseUrl, unstorable, type Canonical } from '../keys.ts'
import { normalForm } from './normal-form.ts'

/** The word in the host of each further network on which a company has a page, by the service's name of the URL. */
const hostWords = {
  tiktok_url: 'tiktok',
  wantedly_url: 'wantedly',
  tw104_url: '104',
  rocketpunch_url: 'rocketpunch',
  remember_url: 'remember',
  youtrust_url: 'youtrust',
} as const

/** The names under which the service takes the URLs of these networks (service.md, 4.4). */
export type NetworkUrlName = keyof typeof hostWords
export const networkUrlNames = Object.keys(hostWords) as NetworkUrlName[]

/** Country, language and device subdomains lead to the same page. */
const foldedSubdomain = /^(?:(?:www|m|mobile|touch|[a-z]{2}(?:-[a-z]{2})?)\.)+(?=[^.]+\.)/

/** A page that a program makes is named by its query. Elsewhere a query says where a visitor came from. */
const program = /\.(?:php\d?|aspx?|jsp|do|cgi)$/i
const tracking = /^(?:utm_\w+|gclid|fbclid|lang|locale|ref|jobsource)$/i

/**
 * Folds the URL of a company's page on one of these networks to `host/path`: no scheme, host case, `www.`, country or device
 * subdomain, trailing slash, fragment or tracking. A handle (`/@acme`) is folded to lower case and ends the path. Other paths keep
 * their case, because the description does not say that a network ignores it. Idempotent. Reasons never contain the URL.
 */
export function canonicalNetworkUrl(name: NetworkUrlName, raw: string): Canonical {
  if (raw.length > maxUrlLength) return refuse(`it has more than ${maxUrlLength} characters`)
  const text = raw.trim().replace(/^<|>$/g, '')
  if (text === '') return refuse('it is empty')
  if (/\s/.test(text)) return refuse('it contains white space')
  const url = parseUrl(text)
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== '') return refuse('it is not a URL')
  const host = url.hostname.replace(/\.$/, '').replace(foldedSubdomain, '')
  if (!/^[a-z0-9-]+(\.[a-z0-9-]+)+$/.test(host)) return refuse('it has no host name')
  const word = hostWords[name]
  if (!host.split('.').some((label) => label.startsWith(word)))
    return refuse(`its host does not name ${word}`)

  const decoded = url.pathname.split('/').map(decodePart)
  if (decoded.includes(undefined)) return refuse('its path is wrongly percent-encoded')
  const [first = '', ...rest] = decoded.filter((part) => part !== '') as string[]
  if (first === '') return refuse('no page of a company follows its host')
  const segments = first.startsWith('@') ? [first.toLowerCase()] : [first, ...rest]
  const value = [host, ...segments].join('/') + (program.test(segments.at(-1) ?? '') ? queryOf(url) : '')
  if (unstorable.test(value)) return refuse('it contains control characters')
  return bytesOf(value) > maxProfileBytes ? refuse('it is too long') : { ok: true, value }
}

/** Returns the URL that is sent to the service, the same for all spellings. */
export function networkUrlOf(canonical: string): string {
  return encodeURI(`https://${canonical}`).replaceAll('%25', '%')
}

/** Decodes a part of a path. Characters that would end or divide the path stay encoded. */
function decodePart(part: string): string | undefined {
  try {
    const text = normalForm('NFC', decodeURIComponent(part)).trim()
    return text.replace(/[%/?#\\]/g, (sign) => encodeURIComponent(sign))
  } catch {
    return undefined
  }
}

function queryOf(url: URL): string {
  const kept = [...url.searchParams].filter(([name]) => !tracking.test(name))
  kept.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
  return kept.length > 0 ? `?${new URLSearchParams(kept)}` : ''
}

function refuse(reason: string): Canonical {
  return { ok: false, reason }
}
