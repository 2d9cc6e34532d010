import { isPublicHostName, maxAddressLength } from '../normalise/domain.ts'

/**
 * Returns why a text is not the address of a web page, or undefined when it is one: `http` or `https`, a host name with a
 * domain (no address of numbers), no user name, and nothing that a page could run. The scheme may be left out.
 */
export function webAddressFault(text: string): string | undefined {
  if (text.length > maxAddressLength) return `it has more than ${maxAddressLength} characters`
  // Format characters show as nothing, or turn the direction of what follows: what is read is another address.
  if (/[\s"<>\\^`{|}\p{Cc}\p{Cf}]/u.test(text)) return 'it has characters that no URL has'
  const scheme = /^([a-z][a-z0-9+.-]*):(?!\d+(?:[/?#]|$))/i.exec(text)?.[1]?.toLowerCase()
  if (scheme !== undefined && scheme !== 'http' && scheme !== 'https')
    return 'its scheme is not http or https'
  const whole = scheme === undefined ? `https://${text.replace(/^\/\//, '')}` : text
  const url = /^https?:\/\/[^/]/i.test(whole) ? URL.parse(whole) : null
  if (!url) return 'it is not a URL'
  const { username, password, hostname } = url
  if (username !== '' || password !== '') return 'it has a user name before its host'
  // An encoded host is read as one name and visited as another.
  if (/^[^/]+\/\/[^/?#]*%/.test(whole) || !isPublicHostName(hostname)) return 'it has no host name'
  return undefined
}
