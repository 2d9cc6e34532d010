import { createDice } from '../../src/sandbox/random.ts'
import type { Verdict } from '../../src/domain/words.ts'

/** A company of the CRM, as people and imports have spelled it. */
export interface RawCompany {
  name: string
  domain?: string
  website?: string
  profile?: string
}

export interface RawContact {
  first: string
  last: string
  email?: string
  profile?: string
  company?: string
}

/** A row of the service's search. */
interface RawRow {
  domain_search_id: string | null
  company_name: string
  domain: string | null
  profnet_url: string | null
  industry: string
  country_code: string
}

export interface RawWorld {
  companies: RawCompany[]
  contacts: RawContact[]
  rows: RawRow[]
  suppressed: { domain: string }[]
  excluded: string[]
  requires: string[]
  /** The verdict that each row was made for, and the companies of the CRM that it was made like, by index. */
  truth: { verdict: Verdict; companies: number[] }[]
}

export interface WorldSize {
  companies: number
  contacts: number
  rows: number
}

/** Suffixes under which anybody can have a domain: of one part, of two, and a hoster's. */
const suffixes = ['com', 'de', 'co.uk', 'com.au', 'co.jp', 'example', 'github.io', 'io']

/** One company as the service names it. Every fifth has letters that are not ASCII in its domain and slug. */
function company(index: number): { name: string; domain: string; slug: string } {
  const isForeign = index % 5 === 4
  const stem = isForeign ? `möwe-zürich-${index}` : `firm-${index}`
  return {
    name: `Firm ${index} of ${suffixes[index % suffixes.length]!.replace('.', ' ')}`,
    domain: `${stem}.${suffixes[index % suffixes.length]}`,
    slug: isForeign ? `möwe-zürich-${index}` : `firm-${index}-inc`,
  }
}

/** Spellings of one domain, in which people, forms and imports write it. */
const domainSpellings: readonly ((domain: string) => string)[] = [
  (domain) => domain,
  (domain) => `www.${domain}`,
  (domain) => `https://${domain}`,
  (domain) => `HTTP://WWW.${domain.toUpperCase()}/About-Us?utm_source=mail#top`,
  (domain) => `${domain}.`,
  (domain) => `https://www.${domain}:8443/de/`,
  (domain) => new URL(`https://${domain}`).hostname,
  (domain) => ` https://shop.${domain}/ `,
]

/** Spellings of one profile, as browsers, apps and exports write it. */
const profileSpellings: readonly ((slug: string) => string)[] = [
  (slug) => `https://www.profnet.com/company/${encodeURIComponent(slug)}`,
  (slug) => `http://profnet.com/company/${slug}`,
  (slug) => `https://de.profnet.com/company/${slug}/about/`,
  (slug) => `profnet.com/company/${slug}/`,
  (slug) => `https://www.profnet.example/company/${slug}?trk=public`,
  (slug) => `HTTPS://WWW.PROFNET.COM/Company/${slug.toUpperCase()}`,
  (slug) => `https://m.profnet.com:443/company/${encodeURIComponent(slug.normalize('NFD'))}#people`,
  (slug) => `www.profnet.com/company/${slug}/jobs/?lang=de`,
]

/**
 * Makes a CRM and a list of the service, of which 40 % of the rows are in the CRM in eight spellings each of domain and profile, 5 % share
 * a domain with other companies, 3 % are suppressed, and 2 % repeat an earlier row.
 */
export function makeWorld(seed: number, size: WorldSize): RawWorld {
  const dice = createDice(`${seed} list world`)
  const world: RawWorld = {
    companies: [],
    contacts: [],
    rows: [],
    suppressed: [],
    excluded: [],
    requires: ['domain'],
    truth: [],
  }
  const add = (made: RawCompany): number => world.companies.push(made) - 1
  const share = (percent: number) => Math.max(1, Math.round((size.rows * percent) / 100))
  let index = 0
  const next = () => ({ ...company(index), index: index++ })

  const kinds: [count: number, make: (at: number) => { row: RawRow; truth: RawWorld['truth'][number] }][] = [
    [share(40), existing],
    [share(5), sharing],
    [share(3), suppressed],
    [share(1), possible],
    [share(1), incomplete],
    [share(1), excluded],
    [share(0.5), drifted],
  ]
  const made = kinds.flatMap(([count, make]) => Array.from({ length: count }, (_, at) => make(at)))
  const repeats = share(2)
  while (made.length < size.rows - repeats - share(0.5)) {
    const { row } = rowOf(next())
    made.push({ row, truth: { verdict: 'new', companies: [] } })
  }
  const shuffled = shuffle(made, dice)
  // A repeat stands behind its first, on another page where there are several, and is spelled otherwise.
  for (let at = 0; at < repeats; at += 1) {
    const first = dice.integer(0, Math.floor(shuffled.length / 2))
    const { row, truth } = shuffled[first]!
    if (truth.verdict === 'drifted' || truth.verdict === 'excluded' || truth.verdict === 'suppressed') {
      at -= 1
      continue
    }
    const again: RawRow = {
      ...row,
      domain: row.domain && dice.pick(domainSpellings)(row.domain),
      // The service names the company by another id of its own where the profile says that it is the same.
      domain_search_id:
        row.profnet_url && at % 2 === 0 ? `${row.domain_search_id}-again` : row.domain_search_id,
    }
    const place = dice.integer(Math.ceil((shuffled.length * 2) / 3), shuffled.length)
    shuffled.splice(place, 0, { row: again, truth: { verdict: 'duplicate', companies: [] } })
  }
  // A second company of a row's domain, by another profile: once the first is a record, the domain is that record's.
  const firsts = shuffled.filter(({ truth }) => truth.verdict === 'new').slice(0, share(0.5))
  for (const [at, { row }] of firsts.entries()) {
    const mate = { ...row, domain_search_id: `${row.domain_search_id}-mate`, company_name: `Mate ${at}` }
    mate.profnet_url = profileSpellings[0]!(`mate-${at}`)
    shuffled.push({ row: mate, truth: { verdict: 'ambiguous', companies: [] } })
  }
  world.rows = shuffled.map(({ row }) => row)
  world.truth = shuffled.map(({ truth }) => truth)
  fillUp()
  return world

  function rowOf({ name, domain, slug, index: own }: ReturnType<typeof next>, hasProfile = own % 5 !== 0) {
    const row: RawRow = {
      domain_search_id: `ds-${own}`,
      company_name: name,
      domain: new URL(`https://${domain}`).hostname,
      profnet_url: hasProfile ? profileSpellings[0]!(slug) : null,
      industry: 'Financial Services',
      country_code: 'DE',
    }
    return { row, domain, slug, name }
  }

  /** Every spelling of a domain and of a profile comes in turn; a third of the records has both, and another name. */
  function existing(at: number) {
    const how = at % 3
    const { row, domain, slug } = rowOf(next(), how === 0 ? undefined : true)
    const spelledDomain = domainSpellings[Math.floor(at / 3) % 8]!(domain)
    const spelledProfile = profileSpellings[Math.floor(at / 3) % 8]!(slug)
    const record = add({
      name: `Somebody ${at}`,
      ...(how === 1
        ? {}
        : dice.percent(50)
          ? { domain: spelledDomain }
          : { domain: 'n/a', website: spelledDomain }),
      ...(how === 0 ? {} : { profile: spelledProfile }),
    })
    return { row, truth: { verdict: 'exists' as const, companies: [record] } }
  }

  /** Two records of one domain, a record with another profile, and two rows of which the second is another company. */
  function sharing(at: number) {
    const { row, domain } = rowOf(next(), true)
    const spell = () => dice.pick(domainSpellings)(domain)
    if (at % 2 === 0) {
      const records = [
        add({ name: `Branch ${at} North`, domain: spell() }),
        add({ name: `Branch ${at} South`, website: spell() }),
      ]
      return { row, truth: { verdict: 'ambiguous' as const, companies: records } }
    }
    const record = add({
      name: `Holding ${at}`,
      domain: spell(),
      profile: dice.pick(profileSpellings)(`holding-${at}`),
    })
    return { row, truth: { verdict: 'ambiguous' as const, companies: [record] } }
  }

  function suppressed(at: number) {
    const { row, domain } = rowOf(next())
    world.suppressed.push({ domain: domainSpellings[at % 3]!(domain) })
    // Some of them are customers, whose record must not decide.
    if (at % 2 === 0) add({ name: `Gone ${at}`, domain })
    return { row, truth: { verdict: 'suppressed' as const, companies: [] } }
  }

  function excluded(at: number) {
    const { row, domain } = rowOf(next())
    world.excluded.push(domainSpellings[at % 3]!(domain))
    return { row, truth: { verdict: 'excluded' as const, companies: [] } }
  }

  function possible() {
    const { row, name } = rowOf(next())
    const record = add({ name: `${name.toUpperCase()}, GmbH` })
    return { row, truth: { verdict: 'possible' as const, companies: [record] } }
  }

  function incomplete() {
    const { row } = rowOf(next(), true)
    return { row: { ...row, domain: null }, truth: { verdict: 'incomplete' as const, companies: [] } }
  }

  function drifted() {
    const { row } = rowOf(next())
    return { row: { ...row, domain_search_id: null }, truth: { verdict: 'drifted' as const, companies: [] } }
  }

  /** Companies that the list does not name, and contacts of all of them, whose domains and profiles are like those of the rows. */
  function fillUp(): void {
    while (world.companies.length < size.companies) {
      const { domain, slug, name } = next()
      world.companies.push({
        name,
        domain: dice.pick(domainSpellings)(domain),
        profile: dice.pick(profileSpellings)(slug),
      })
    }
    for (let at = 0; at < size.contacts; at += 1) {
      const of = company(at % index)
      world.contacts.push({
        first: `Given ${at}`,
        last: `Family ${at % 997}`,
        email: `person-${at}@${new URL(`https://${of.domain}`).hostname}`,
        profile: `https://www.profnet.com/in/person-${at}`,
        company: of.name,
      })
    }
  }
}

function shuffle<T>(list: readonly T[], dice: ReturnType<typeof createDice>): T[] {
  const all = [...list]
  for (let at = all.length - 1; at > 0; at -= 1) {
    const other = dice.integer(0, at)
    ;[all[at], all[other]] = [all[other]!, all[at]!]
  }
  return all
}
