import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sized } from '../../../test/support/full-size.ts'
import { testSeed } from '../../../test/support/seed.ts'
import type { Operation } from '../../domain/words.ts'
import { createCatalogue } from '../catalogue/catalogue.ts'
import { vocabularies, vocabularyOf, type VocabularyName } from '../catalogue/vocabularies.ts'
import { guardWords } from './guard-words.ts'
import { prepareCall } from './prepare-call.ts'
import { wordsNeverSeen } from './words-never-seen.ts'

const catalogue = createCatalogue()
const none = () => []
const learned: Partial<Record<VocabularyName, string[]>> = {
  job_functions: ['Human Resources', 'Sales'],
  stages: ['exploring', 'committing'],
}
const known = (name: VocabularyName) => learned[name] ?? []

function problem(
  operation: Operation,
  body: Record<string, unknown>,
  words = known,
  unchecked = false,
): string | undefined {
  try {
    guardWords(catalogue.of(operation), body, words, { unchecked })
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

describe('the guard of words', () => {
  it.each<[Operation, Record<string, unknown>, string]>([
    [
      'job.search',
      { functions: ['sales', 'slaes'] },
      'job.search: functions[1]: no answer of this account has held "slaes" (near: Sales); --unchecked sends it all the same, service.vocabularies.job_functions allows it for good',
    ],
    [
      'expansion.search',
      { momentum: ['advancing', 'Steady'] },
      'expansion.search: momentum[1]: "Steady" is none of advancing, steady, pulling_back (near: steady)',
    ],
    [
      'expansion.lookup',
      { stages: ['retreating'] },
      'expansion.lookup: stages[0]: answers have "retreating", and no filter takes it',
    ],
    [
      'monitor.update',
      { monitor_id: '1', status: 'stopped' },
      'monitor.update: status: "stopped" is none of draft, active, paused, inactive',
    ],
    [
      'monitor.create',
      { filters: { momentum: ['up'] } },
      'monitor.create: filters.momentum[0]: "up" is none of advancing, steady, pulling_back',
    ],
    [
      'monitor.create',
      { filters: { stages: 'scaling' } },
      'monitor.create: filters.stages: no answer of this account has held "scaling"; --unchecked sends it all the same, service.vocabularies.stages allows it for good',
    ],
    [
      'expansion.search',
      // Expansion words are sent as they are: nothing says that the service ignores their case.
      { stages: ['Exploring'] },
      'expansion.search: stages[0]: no answer of this account has held "Exploring" (near: exploring); --unchecked sends it all the same, service.vocabularies.stages allows it for good',
    ],
  ])('refuses a word of %s: %j', (operation, body, message) => {
    expect(problem(operation, body)).toBe(message)
  })

  it.each<[Operation, Record<string, unknown>]>([
    ['job.search', { functions: ['SALES', 'human-resources', 'HumanResources'] }],
    ['advertisement.search', { source_types: ['tiktok', 'apple'] }],
    ['expansion.search', { stages: ['exploring'], momentum: ['pulling_back'] }],
    ['monitor.create', { signal_types: ['expansions'], filters: { markets: ['DE'], stages: ['exploring'] } }],
    ['people.search', { people_contact_types: ['email-work', 'phone'] }],
  ])('lets shown and learned words of %s pass: %j', (operation, body) => {
    expect(problem(operation, body)).toBeUndefined()
  })

  it('lets every word of an open list pass unchecked, and none beside a closed one', () => {
    expect(problem('job.search', { functions: ['anything'] }, none, true)).toBeUndefined()
    expect(problem('people.search', { people_contact_types: ['email'] }, none, true)).toContain('is none of')
    expect(problem('expansion.search', { polarity: ['New'] }, none, true)).toContain('no filter takes it')
  })

  it('says on one line what is near, whatever an answer has taught', () => {
    const taught = () => ['sales\nx\u001b[31m', `sales ${'y'.repeat(500)}`]
    const said = problem('job.search', { functions: ['salesx'] }, taught) ?? ''
    expect(said).toContain('near: "sales\\nx\\u001b[31m"')
    expect(said).not.toMatch(/\p{Cc}/u)
    expect(said.length).toBeLessThan(500)
  })

  it('names the values that no answer has held, without those of closed lists', () => {
    const body = { functions: ['sales', 'Ops'], seniority_ranks: ['senior'], page: 1 }
    expect(wordsNeverSeen(catalogue.of('job.search'), body, known)).toEqual([
      { place: 'functions[1]', word: 'Ops', near: [] },
      { place: 'seniority_ranks[0]', word: 'senior', near: [] },
    ])
    expect(wordsNeverSeen(catalogue.of('expansion.search'), { momentum: ['steady'] }, none)).toEqual([])
  })
})

// Property: whatever is done to a word of a closed list, it either is one still or does not leave the process.
describe('mutated filters', () => {
  const cases = sized(10_000, 2_000)
  const places = catalogue
    .all()
    .flatMap((contract) =>
      Object.entries(contract.request).flatMap(([name, field]) =>
        field.vocabulary && vocabularyOf(field.vocabulary).kind === 'closed'
          ? [{ contract, name, field }]
          : [],
      ),
    )

  it(`lets none of ${cases} outside a closed vocabulary leave`, () => {
    expect(places.length).toBeGreaterThan(5)
    let left = 0
    let stopped = 0
    fc.assert(
      fc.property(
        fc.constantFrom(...places),
        fc.infiniteStream(fc.oneof(mutated(), fc.string({ unit: 'binary', maxLength: 20 }))),
        fc.boolean(),
        fc.nat({ max: 3 }),
        ({ contract, name, field }, stream, unchecked, extra) => {
          const { words } = vocabularies[field.vocabulary as VocabularyName]
          const values = [...stream.take(extra + 1)]
          const value = field.is === 'texts' ? values : values[0]
          const required = Object.fromEntries(
            Object.entries(contract.request).flatMap(([key, { isRequired }]) =>
              isRequired && key !== name ? [[key, 'x']] : [],
            ),
          )
          const isAllowed = [value].flat().every((each) => (words as readonly unknown[]).includes(each))
          const reference = contract.oneOf ? { [contract.oneOf[0] as string]: 'https://x.example/in/x' } : {}
          const body = { ...required, ...reference, [name]: value }
          expect(attempt(() => guardWords(contract, body, () => ['x', ...values], { unchecked }))).toBe(
            isAllowed,
          )
          // The last step before the transport refuses it as well, for a caller that forgot the guard.
          const sent = attempt(() =>
            prepareCall('https://service.example', catalogue, contract.operation, body),
          )
          if (!isAllowed) expect(sent).toBe(false)
          if (sent) left += 1
          else stopped += 1
        },
      ),
      { numRuns: cases, seed: testSeed() },
    )
    expect(left).toBeGreaterThan(cases / 50)
    expect(stopped).toBeGreaterThan(cases / 2)
  })

  function mutated() {
    const all = Object.values(vocabularies).flatMap((each) =>
      each.kind === 'closed' ? [...each.words, ...('responseOnly' in each ? each.responseOnly : [])] : [],
    )
    return fc
      .tuple(fc.constantFrom(...all), fc.nat({ max: 8 }), fc.nat({ max: 20 }), fc.string({ maxLength: 1 }))
      .map(([word, way, at, sign]) => {
        const place = at % (word.length + 1)
        switch (way) {
          case 0:
            return word
          case 1:
            return word.toUpperCase()
          case 2:
            return `${word} `
          case 3:
            return word.replace(/[-_]/, sign)
          case 4:
            return word.slice(0, place) + word.slice(place + 1)
          case 5:
            return word.slice(0, place) + sign + word.slice(place)
          case 6:
            return `${word},${word}`
          case 7:
            return word.replaceAll('-', '_')
          default:
            return `${word}s`
        }
      })
  }
})

function attempt(action: () => unknown): boolean {
  try {
    action()
    return true
  } catch {
    return false
  }
}
