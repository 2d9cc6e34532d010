import { defaultNetworkHosts } from '../../../domain/keys.ts'
import type { EntityMapping } from '../../../domain/mapping/mapping.ts'
import { networkUrlNames, networkUrlOf } from '../../../domain/normalise/network-url.ts'
import { furtherIdentifiers } from '../../../domain/record.ts'
import type { RecordIdentity } from '../../../domain/subjects/record-identities.ts'

/** One value of a property to search for. Those of rank 1 are always searched, others as far as the calls reach. */
export interface Probe {
  property: string
  value: string
  rank: number
}

/**
 * Returns the spellings under which records of a CRM hold these identities, the most common ones first. HubSpot keeps text
 * in its index in lower case and compares whole values. E-mails in the property that is unique by itself are not among them: they
 * are read, not searched. Pure.
 */
export function probesOf(
  identities: readonly RecordIdentity[],
  entityMap: EntityMapping,
  hosts: readonly string[] = defaultNetworkHosts,
): Probe[] {
  const { identity, fields, object } = entityMap
  const propertiesOf = (names: readonly string[], own: readonly string[] = []): string[] => [
    ...new Set([...own, ...names.flatMap((name) => fields[name]?.property ?? [])]),
  ]
  const profiles = propertiesOf(['profnet_url'], identity.profileUrl)
  const domains = propertiesOf(['domain', 'website'], identity.domain)
  const emails = propertiesOf(['email_personal'], identity.email).filter((property) => property !== 'email')
  const phones = propertiesOf(['phone', 'mobile_phone'], identity.phone)
  const names = propertiesOf(['company_name'], identity.company)

  const spelled = ({ kind, value }: RecordIdentity): Probe[] => {
    const each = (properties: readonly string[], ranked: readonly (readonly string[])[]): Probe[] =>
      properties.flatMap((property) =>
        ranked.flatMap((values, at) =>
          values.map((spelling) => ({ property, value: spelling.toLowerCase(), rank: at + 1 })),
        ),
      )
    switch (kind) {
      case 'profile':
        return each(profiles, profileSpellings(value, hosts))
      case 'service_id': {
        const [name = '', id = ''] = split(value)
        const field = furtherIdentifiers.find((further) => further.name === name)?.field
        const urls = (networkUrlNames as readonly string[]).includes(name) ? [networkUrlOf(id)] : [id]
        return each(field === undefined ? [] : (identity[field] ?? []), [urls])
      }
      case 'domain':
        // HubSpot sets the domain from a website that is entered, and keeps it bare.
        return domains.flatMap((property) =>
          each(
            [property],
            /domain/.test(property) ? [[value], [], [`www.${value}`]] : websiteSpellings(value),
          ),
        )
      case 'email':
        return each(emails, [[], [value]])
      case 'phone':
        return each(phones, [[value], [], [value.replace('+', '00'), value.replace('+', '')]])
      case 'name':
        // A person's name stands in two properties.
        return object === 'company' ? each(names, [[], [value]]) : []
      default:
        return []
    }
  }
  // A spelling that comes twice has the better rank.
  const distinct = new Map<string, Probe>()
  for (const probe of identities.flatMap(spelled).toSorted((a, b) => a.rank - b.rank)) {
    const name = `${probe.property} ${probe.value}`
    if (!distinct.has(name)) distinct.set(name, probe)
  }
  return [...distinct.values()]
}

function profileSpellings(profile: string, hosts: readonly string[]): string[][] {
  const [host = '', ...others] = hosts
  const forms = (at: string): string[] => [
    `https://www.${at}`,
    `https://${at}`,
    at,
    `www.${at}`,
    `http://www.${at}`,
  ]
  const [first = '', ...rest] = [encodeURI(`${host}/${profile}`), `${host}/${profile}`].flatMap(forms)
  return [
    [first],
    rest,
    [`${first}/`, `${rest[0]}/`, ...others.flatMap((other) => forms(encodeURI(`${other}/${profile}`)))],
  ]
}

function websiteSpellings(domain: string): string[][] {
  const bare = [domain, `www.${domain}`]
  const https = bare.map((host) => `https://${host}`)
  const http = bare.map((host) => `http://${host}`)
  return [[], https, [...https.map((url) => `${url}/`), ...http, ...bare, ...http.map((url) => `${url}/`)]]
}

function split(value: string): [string, string] {
  const colon = value.indexOf(':')
  return [value.slice(0, colon), value.slice(colon + 1)]
}
