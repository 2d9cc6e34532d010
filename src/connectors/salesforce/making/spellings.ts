import { defaultNetworkHosts } from '../../../domain/keys.ts'
import { parsePhone } from '../../../domain/normalise/phone.ts'

/**
 * SOQL compares texts without regard to case and otherwise to the letter, and a condition that begins with a wildcard reads every
 * record of the org. So each value is asked for under the spellings that people and forms write.
 */

const schemes = ['', 'https://', 'http://']
const ends = ['', '/']

/** Returns a domain as it stands in website fields. */
export function websiteSpellings(domain: string): string[] {
  return schemes.flatMap((scheme) =>
    ['', 'www.'].flatMap((www) => ends.map((end) => `${scheme}${www}${domain}${end}`)),
  )
}

/** Returns a profile, as `in/jane-doe`, as it stands in URL fields: under every host of the network. */
export function profileSpellings(profile: string, hosts: readonly string[] = defaultNetworkHosts): string[] {
  const written = [...new Set([profile, encodeURI(profile)])]
  return hosts.flatMap((host) =>
    written.flatMap((path) =>
      schemes.flatMap((scheme) =>
        ['www.', ''].flatMap((www) => ends.map((end) => `${scheme}${www}${host}/${path}${end}`)),
      ),
    ),
  )
}

/** Returns a number in E.164 as people write it: internationally, nationally, and as Salesforce's own pages format it. */
export function phoneSpellings(e164: string): string[] {
  const phone = parsePhone(e164)
  if (!phone) return [e164]
  const national = phone.formatNational()
  const international = phone.formatInternational()
  const digits = e164.slice(1)
  return [
    ...new Set([
      e164,
      digits,
      `00${digits}`,
      international,
      international.replace(/^\+/, '00'),
      international.replaceAll(' ', '-'),
      national,
      national.replace(/\D/g, ''),
      national.replaceAll(' ', '-'),
      ...(phone.countryCallingCode === '1' ? northAmerican(phone.nationalNumber) : []),
    ]),
  ]
}

/** The page of a record shows ten digits as (415) 555-0134 and stores them so ("Phone Field Formatting", Salesforce Help). */
function northAmerican(national: string): string[] {
  const [area, exchange, line] = [national.slice(0, 3), national.slice(3, 6), national.slice(6)]
  return [
    `(${area}) ${exchange}-${line}`,
    `${area}-${exchange}-${line}`,
    `${area}.${exchange}.${line}`,
    `1-${area}-${exchange}-${line}`,
    `+1 (${area}) ${exchange}-${line}`,
  ]
}
