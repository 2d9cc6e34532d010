import type { Employment, Person } from '../../service/schema/person.ts'
import type { Dice } from '../random.ts'
import { createDice } from '../random.ts'
import type { DataOptions } from './company.ts'
import { list, moment, personSlug } from './company.ts'
import { memberOfSlug, type Employer, type Member } from './directory.ts'
import type { Place } from './places.ts'
import { places } from './places.ts'
import { isMissing, profileKey, titleOf } from './profile-url.ts'
import { companyNames, personNames, posts, titles } from './words.ts'

const NETWORK_HOST = 'https://www.profnet.example'
const CDN_HOST = 'https://media.profnet.example'

/**
 * Returns the sandbox's answer for a person's profile URL in any spelling. It is the same for every sandbox.
 *
 * @throws TypeError if the URL names no person
 */
export function personAnswer(url: string, options: DataOptions = {}): { data: Person | null } {
  const key = profileKey('person', url)
  if (key === null) throw new TypeError('not the URL of a person profile')
  const dice = createDice(`person ${key}`)
  const known = key.startsWith('in/') ? memberOfSlug(slugOf(key)) : null
  const percentile = dice.roll() * 100
  if (known === null ? isMissing(key, percentile) : known.unknown) return { data: null }
  return { data: person(key, known, dice, options.logoUrl ?? 'https://logo.example/logo') }
}

/** Returns what a member's profile says of place and title. Cheap, so that all of them can be searched by it. */
export function memberFacts(known: Member): { place: Place; title: string | null } {
  const key = `in/${known.slug}`
  const dice = createDice(`person ${key}`)
  dice.roll()
  const { place, history } = factsOf(key, known, dice, '')
  return { place, title: history[0]?.title ?? null }
}

function factsOf(key: string, known: Member | null, dice: Dice, logoUrl: string) {
  const place = dice.pick(places)
  const invented = dice.percent(12) ? dice.pick(personNames) : (titleOf(key) ?? dice.pick(personNames))
  const name = known === null ? invented : `${known.firstName} ${known.lastName}`
  const past = employmentHistory(dice, logoUrl)
  const history = known === null ? past : [memberEmployment(known.employer, dice, logoUrl), ...past.slice(1)]
  return { place, name, history }
}

function person(key: string, known: Member | null, dice: Dice, logoUrl: string): Person {
  const slug = slugOf(key)
  const { place, name, history } = factsOf(key, known, dice, logoUrl)
  const current = history[0]
  const sometimes = <T>(value: T) => (dice.percent(10) ? null : value)

  return {
    name,
    headline: sometimes(current ? `${current.title} at ${current.company_name}` : dice.pick(titles)),
    description: sometimes(`${name} lives in ${place.city}.\nInterested in “what works”, mostly.`),
    city: sometimes(place.city),
    location: dice.percent(40) ? null : place.local,
    country_code: sometimes(place.country),
    logo_url: sometimes(`${CDN_HOST}/photo/${dice.integer(1e6, 9e6)}.jpg`),
    image_url: sometimes(`${CDN_HOST}/cover/${dice.integer(1e6, 9e6)}.jpg`),
    created_at: moment(dice),
    profnet_uid: `AC${dice.integer(1e9, 9e9)}`,
    profnet_url: `${NETWORK_HOST}/in/${encodeURIComponent(slug)}`,
    profnet_name: slug,
    follower_size: dice.integer(0, 30_000),
    connection_size: dice.integer(0, 500),
    education: dice.percent(60) ? null : [{ title: `University of ${place.city}`, end_date: '2012' }],
    honors_and_awards: dice.percent(85) ? null : [{ title: 'Team of the year' }],
    bio: list(dice, 2, (index) => ({
      url: `https://${index ? 'blog' : 'www'}.${slugHost(slug)}.example`,
      title: index ? 'Blog' : 'Website',
    })),
    company: current
      ? {
          location: dice.percent(50) ? null : place.city,
          company_name: current.company_name,
          profnet_url: current.profnet_url,
          profnet_name: current.profnet_name,
        }
      : null,
    recommendations: list(dice, 2, () => `A pleasure to work with. — ${titleOf(personSlug(dice))}`),
    similar_profiles: list(dice, 3, () => neighbour(dice)),
    people_also_viewed: list(dice, 3, () => ({ ...neighbour(dice), location: dice.pick(places).city })),
    recent_activities: list(dice, 2, () => ({
      id: String(dice.integer(1e9, 9e9)),
      title: dice.pick(posts),
      image_url: `${CDN_HOST}/post/${dice.integer(1e6, 9e6)}.jpg`,
      interaction: dice.pick([`Liked by ${name}`, `Shared by ${name}`]),
      profnet_url: `${NETWORK_HOST}/posts/${dice.integer(1e9, 9e9)}`,
    })),
    employment_history: history,
  }
}

/** Returns up to four employers, newest first; each employment ends where the one above it begins. */
function employmentHistory(dice: Dice, logoUrl: string): Employment[] {
  let year = 2026
  return list(dice, 4, (index) => {
    const until = year
    year -= dice.integer(1, 6)
    return employment(dice, logoUrl, year, index === 0 && dice.percent(85) ? 'Present' : `Jun ${until}`)
  })
}

/** Returns the current employment of a member of the directory. */
function memberEmployment({ slug, name, domain }: Employer, dice: Dice, logoUrl: string): Employment {
  return {
    ...employment(dice, logoUrl, dice.integer(2015, 2025), 'Present'),
    logo_url: `${logoUrl}/${domain}`,
    company_name: name,
    profnet_url: `${NETWORK_HOST}/company/${slug}`,
    profnet_name: slug,
  }
}

function employment(dice: Dice, logoUrl: string, from: number, until: string): Employment {
  const place: Place = dice.pick(places)
  const number = dice.integer(10_000, 99_999)
  const title = dice.pick(titles)
  const years = `${(until === 'Present' ? 2026 : Number(until.slice(4))) - from} yrs`
  return {
    title,
    duration: years,
    logo_url: dice.percent(25) ? null : `${logoUrl}/company-${number}.example`,
    company_name: `${dice.pick(companyNames)} ${place.legalForm}`,
    profnet_url: `${NETWORK_HOST}/company/company-${number}`,
    profnet_name: `company-${number}`,
    unformatted_description: dice.percent(50) ? null : `\n    ${dice.pick(posts)}\n  `,
    positions: [
      {
        meta: `Jun ${from} - ${until} · ${years}`,
        title,
        start_date: `Jun ${from}`,
        end_date: until,
        location: dice.percent(40) ? null : place.city,
        subtitle: 'Full-time',
        description_html: dice.percent(60) ? null : `<p>${dice.pick(posts)}</p>`,
      },
    ],
  }
}

function neighbour(dice: Dice) {
  const slug = personSlug(dice)
  return {
    name: titleOf(slug),
    headline: dice.percent(30) ? null : dice.pick(titles),
    profnet_url: `${NETWORK_HOST}/in/${slug}`,
  }
}

function slugOf(key: string) {
  return key.slice(key.indexOf('/') + 1)
}

function slugHost(slug: string) {
  return slug.normalize('NFKD').replace(/[^a-z0-9]+/g, '') || 'home'
}
