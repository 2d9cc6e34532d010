import { describe, expect, test } from 'vitest'
import { indexOfWorldSlug, WORLD_SIZE, worldSlug } from '../data/branches.ts'
import { companyByDomain } from '../data/company-by-domain.ts'
import { DIRECTORY_SIZE, member } from '../data/directory.ts'
import { createWorldClock, dayOf } from './clock.ts'
import { companyOfDomain, companyOfLink, networkKeys, worldCompanies } from './companies.ts'
import type { Move } from './moves.ts'
import { people } from './people.ts'
import { createWorld } from './world.ts'

const clock = createWorldClock()
const world = createWorld(clock)
clock.set(new Date('2026-11-22T12:00:00Z'))

describe('the companies of the world', () => {
  test('are 20,000, each found again by its slug, its domain and its pages on other networks', () => {
    expect(WORLD_SIZE).toBe(20_000)
    const companies = worldCompanies()
    expect(new Set(companies.map(({ id }) => id)).size).toBe(WORLD_SIZE)
    for (const company of companies.filter((_, index) => index % 7 === 0)) {
      expect(indexOfWorldSlug(company.slug)).toBe(company.index)
      expect(companyOfDomain(company.domain)).toBe(company)
      for (const key of networkKeys) {
        const url = company.links[key]
        if (url !== undefined) expect(companyOfLink(key, `${url.toUpperCase()}/?ref=x`)).toBe(company)
      }
    }
    for (const key of networkKeys) {
      const share = companies.filter(({ links }) => links[key] !== undefined).length
      expect(share).toBeGreaterThan(300)
      expect(share).toBeLessThan(8000)
    }
    expect(() => worldSlug(WORLD_SIZE)).toThrow(RangeError)
    for (const slug of ['amber', 'amber-x', 'amber-analytics-holding', 'amber-analytics-north-x']) {
      expect(indexOfWorldSlug(slug)).toBeNull()
    }
  })

  test('are what a lookup of the same domain says', () => {
    for (const company of worldCompanies().filter((_, index) => index % 61 === 0)) {
      const { data } = companyByDomain(company.domain)
      expect(data).toMatchObject({
        domain: company.domain,
        profnet_name: company.slug,
        unformatted_company_size: company.size[2],
        company_name: expect.stringContaining(company.name),
      })
      expect(data!.country_codes).toContain(company.place.country)
      if (data!.country_code !== null) expect(data!.country_code).toBe(company.place.country)
      if (data!.industry !== null) expect(data!.industry).toBe(company.industry)
    }
  })

  test('hold every employer of the directory, where everyone who can be found works', () => {
    const employers = Array.from({ length: DIRECTORY_SIZE }, (_, index) => member(index).employer.domain)
    for (const domain of new Set(employers)) expect(companyOfDomain(domain)?.domain).toBe(domain)
    expect(people().length).toBeGreaterThan(4000)
  })
})

describe('an expansion', () => {
  const today = world.today()

  test('leads from the country of its company to another one, and has one in each market', () => {
    expect(today.moves.all.length).toBeGreaterThan(8000)
    for (const { company, from, to } of today.moves.all) {
      expect(from).toBe(company.place.country)
      expect(to).not.toBe(from)
    }
    const corridors = today.moves.all.map(({ company, to }) => `${company.index} ${to}`)
    expect(new Set(corridors).size).toBe(corridors.length)
  })

  test('has the jobs, news, advertisements and cloud regions of its market that are its signals', () => {
    const shelves = {
      hiring: [today.jobs, 'jb'],
      news: [today.news, 'nw'],
      advertising: [today.advertisements, 'ad'],
      cloud: [today.footprints, 'cl'],
    } as const
    const seen = new Set<string>()
    for (const move of today.moves.all.filter((_, at) => at % 5 === 0)) {
      for (const signal of move.signals) {
        if (signal.type === 'events') continue
        const [shelf, prefix] = shelves[signal.type]
        const rows = shelf.of(move.company) as readonly { id: string; country: string; day: number }[]
        const row = rows.find(
          ({ id }) => id === `${prefix}-${move.company.index}-m${move.seed}-${signal.step}`,
        )
        expect(row).toMatchObject({ country: move.to, day: signal.day })
        seen.add(signal.type)
      }
    }
    expect(seen.size).toBe(4)
  })

  test('shows every stage, direction, momentum, polarity, freshness and strength somewhere', () => {
    const words = (of: (move: Move) => unknown) => new Set(today.moves.all.map(of)).size
    expect(words(({ level }) => level)).toBe(4)
    expect(words(({ direction }) => direction)).toBe(4)
    expect(words(({ momentum }) => momentum)).toBe(3)
    expect(words(({ polarity }) => polarity)).toBe(3)
    expect(words(({ freshness }) => freshness)).toBe(4)
    expect(words(({ strength }) => strength)).toBe(3)
    expect(words(({ to }) => to)).toBe(30)
  })
})

describe('the clock', () => {
  test('is the only thing that moves the world: a day is the same however it is reached', () => {
    const ids = () => world.today().moves.all.map(({ id, signals }) => `${id} ${signals.length}`)
    const before = ids()
    clock.advance(30 * 24 * 3600 * 1000)
    const later = ids()
    expect(later).not.toEqual(before)
    clock.advance(7 * 24 * 3600 * 1000)
    world.today()
    clock.set(new Date('2026-11-22T00:00:00Z'))
    expect(ids()).toEqual(before)
  })

  test('lets what was there be there on the next day, with one day more', () => {
    const jobs = new Set(world.today().jobs.all.map(({ id }) => id))
    const day = dayOf(clock.now())
    expect(world.today().jobs.all.every((job) => job.day <= day)).toBe(true)
    clock.advance(24 * 3600 * 1000)
    const next = world.today().jobs.all
    const fresh = next.filter(({ id }) => !jobs.has(id))
    expect(fresh.length).toBeGreaterThan(50)
    expect(fresh.every((job) => job.day === day + 1)).toBe(true)
    expect(next.length - fresh.length).toBeGreaterThan(jobs.size * 0.98)
    clock.set(null)
    expect(Math.abs(clock.now().getTime() - Date.now())).toBeLessThan(5000)
  })
})
