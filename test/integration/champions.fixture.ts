import { DIRECTORY_SIZE, member, type Employer, type Member } from '../../src/sandbox/data/directory.ts'
import type { Sandbox } from '../../src/sandbox/sandbox.ts'
import { openEdge } from '../support/service-edge.ts'

/** A person's career, as the service tells it from now on in place of the one before. */
export type Career =
  | 'stays'
  | 'stays, written otherwise'
  | 'moved'
  | 'moved, after another position'
  | 'renamed'
  | 'left'
  | 'unclear'
  | 'promoted'
  | 'named otherwise'

interface Job {
  company_name: string
  profnet_url: string
  title: string
  positions: { title: string; start_date: string; end_date: string }[]
}

const url = (slug: string) => `https://www.profnet.example/company/${slug}`

/** Returns the employer to which a person goes. */
export const employerOf = ({ index }: Member): Employer => member((index + 51) % DIRECTORY_SIZE).employer

const ended = (job: Job): Job => ({
  ...job,
  positions: job.positions.map((each) => ({ ...each, end_date: 'Oct 2026' })),
})
const began = (job: Job, { slug, name }: Omit<Employer, 'domain'>, title = 'Head of Buying'): Job => ({
  ...job,
  title,
  company_name: name,
  profnet_url: url(slug),
  positions: [{ title, start_date: 'Nov 2026', end_date: 'Present' }],
})

function historyOf(person: Member, career: Career, [now, ...past]: [Job, ...Job[]]): Job[] {
  const { slug, name } = person.employer
  if (career === 'moved') return [began(now, employerOf(person)), ended(now), ...past]
  if (career === 'moved, after another position') {
    const there = began(now, employerOf(person))
    const earlier = { title: 'Trainee', start_date: 'Sep 2026', end_date: 'Oct 2026' }
    return [ended(now), { ...there, title: 'Trainee', positions: [earlier, ...there.positions] }, ...past]
  }
  if (career === 'stays, written otherwise')
    return [{ ...now, profnet_url: `https://de.profnet.com/company/${slug.toUpperCase()}/?trk=x` }, ...past]
  if (career === 'left') return [ended(now), ...past]
  if (career === 'unclear') return [now, began(now, employerOf(person)), ...past]
  if (career === 'renamed')
    return [{ ...now, company_name: `${name} Group`, profnet_url: url(`${slug}-group`) }, ...past]
  if (career === 'named otherwise') return [{ ...now, company_name: 'Another Name Altogether' }, ...past]
  if (career === 'promoted') return [began(now, { slug, name }, 'Chief Executive Officer'), ...past]
  return [now, ...past]
}

/** Returns people of whom the service knows something, and who can go to an employer of another profile. */
export function known(count: number, from = 0): Member[] {
  const people: Member[] = []
  for (let index = from; people.length < count; index += 1) {
    const person = member(index)
    if (!person.unknown && person.employer.slug !== employerOf(person).slug) people.push(person)
  }
  return people
}

/**
 * The service with careers that go on. `careers` may change at any time; `asked` has each question that came, once, and `told` the last
 * answer to each, by kind and slug.
 */
export async function openCareers(
  sandbox: Pick<Sandbox, 'serviceUrl'>,
  people: readonly Member[],
  careers: ReadonlyMap<string, Career>,
) {
  const bySlug = new Map(people.map((person) => [person.slug, person]))
  const asked = new Set<string>()
  const told = new Map<string, Record<string, unknown>>()
  const edge = await openEdge(sandbox.serviceUrl, ({ path, body }) => {
    const slug = /\/(?:in|company)\/([^"/?]+)/.exec(body)?.[1] ?? ''
    if (/\/(?:people|companies)\/profnet\/lookup$/.test(path)) asked.add(`${path} ${slug}`)
    if (path.endsWith('/people/profnet/lookup')) {
      const person = bySlug.get(slug)
      const career = careers.get(slug) ?? 'stays'
      if (!person) return undefined
      return {
        rewrite(answer) {
          const { data: given, ...rest } = JSON.parse(answer) as {
            data: { employment_history: [Job, ...Job[]] }
          }
          const data = { ...given, employment_history: historyOf(person, career, given.employment_history) }
          told.set(`person ${slug}`, data)
          return JSON.stringify({ ...rest, data })
        },
      }
    }
    if (!path.endsWith('/companies/profnet/lookup')) return undefined
    const domain = people.find(({ employer }) => `${employer.slug}-group` === slug)?.employer.domain
    return {
      rewrite(answer) {
        const { data: given, ...rest } = JSON.parse(answer) as { data: object | null }
        const data = domain === undefined ? given : { ...given, domain, unique_domain: domain }
        if (data) told.set(`company ${slug}`, data as Record<string, unknown>)
        return JSON.stringify({ ...rest, data })
      },
    }
  })
  return { ...edge, asked, told }
}
