import fc from 'fast-check'

/** A search of people by filters, in a plain spelling. */
export interface Search extends Record<string, unknown> {
  departments: string[]
  people_locations: string[]
  domains: string[]
  per_page: number
}

export const searchedDepartments = ['human resources', 'sales', 'research development', 'legal affairs']

/** Returns so many searches, no two of which ask for the same. */
export function differentSearches(count: number, seed: number): Search[] {
  const searches = fc.sample(search(), { numRuns: count * 3, seed })
  return [...new Map(searches.map((each) => [meaning(each), each])).values()].slice(0, count)
}

/** Returns so many ways to write a search down: order, letter case, gaps, doubles, aliases, websites for domains. */
export function spellingsOf(each: Search, count: number, seed: number): Record<string, unknown>[] {
  return fc.sample(spellings(each), { numRuns: count, seed })
}

function search(): fc.Arbitrary<Search> {
  const some = (...values: string[]) => fc.subarray(values, { minLength: 1 })
  return fc.record({
    departments: some(...searchedDepartments),
    people_locations: some('Berlin', 'München', 'São Paulo'),
    domains: some('acme.example', 'bolt.example', 'xn--mnchen-3ya.example'),
    per_page: fc.constantFrom(10, 25),
  })
}

function meaning(each: Search): string {
  return JSON.stringify(
    Object.values(each).map((value) => (Array.isArray(value) ? [...value].sort() : value)),
  )
}

function spellings(each: Search): fc.Arbitrary<Record<string, unknown>> {
  const list = (values: readonly string[], ways: readonly ((value: string) => string)[]) =>
    fc.array(fc.tuple(fc.constantFrom(...values), fc.constantFrom(...ways)), { maxLength: 3 }).chain((more) =>
      fc.tuple(...values.map((value) => fc.constantFrom(...ways).map((way) => way(value)))).chain((all) => {
        const entries = [...all, ...more.map(([value, way]) => way(value))]
        return fc.shuffledSubarray(entries, { minLength: entries.length })
      }),
    )
  return fc
    .tuple(
      list(each.departments, [
        (value) => value.toUpperCase(),
        (value) => value.replaceAll(' ', '-'),
        (value) => value.replaceAll(' ', ''),
        (value) => ` ${value.replaceAll(' ', ' & ')}.`,
      ]),
      list(each.people_locations, [
        (value) => ` ${value}`,
        (value) => value.normalize('NFD'),
        (value) => value,
      ]),
      list(each.domains, [
        (value) => `https://www.${value}/about?x=1`,
        (value) => value.toUpperCase(),
        (value) => value.replace('xn--mnchen-3ya', 'münchen'),
        (value) => `jobs.${value}.`,
      ]),
      fc.boolean(),
      fc.boolean(),
      fc.nat(9),
    )
    .map(([departments, locations, domains, isReversed, isAlias, page]) => {
      const entries: [string, unknown][] = [
        ['departments', departments],
        [isAlias ? 'person_locations' : 'people_locations', locations],
        ['domains', domains],
        ['per_page', each.per_page],
        ['page', page + 1],
      ]
      return Object.fromEntries(isReversed ? entries.toReversed() : entries)
    })
}
