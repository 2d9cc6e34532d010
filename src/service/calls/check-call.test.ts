import { describe, expect, it } from 'vitest'
import { createCatalogue } from '../catalogue/catalogue.ts'
import type { Operation } from '../../domain/words.ts'
import type { VocabularyName } from '../catalogue/vocabularies.ts'
import { checkCall } from './check-call.ts'

const catalogue = createCatalogue()
const words: Partial<Record<VocabularyName, string[]>> = { stages: ['exploring'], job_functions: ['Sales'] }
const known = (name: VocabularyName) => words[name] ?? []
const check = (operation: Operation, body: Record<string, unknown>, more = {}) =>
  checkCall(catalogue.of(operation), body, { known, ...more })

describe('a call that is checked as a whole', () => {
  it('gets the largest page where it names no size, and its page beside the key', () => {
    const plain = check('job.search', { functions: ['SALES'], page: 2 })
    expect(plain.body).toEqual({ functions: ['sales'], page: 2, per_page: 25 })
    expect(plain.canonical).toEqual({ functions: ['sales'], per_page: 25 })
    expect(plain.page).toBe(2)
    expect(plain.key).toMatch(/^job\.search\|v1:[0-9a-f]{64}\|2$/)
    expect(check('job.search', { functions: ['sales'] }, { limits: { perPage: 100 } }).body).toMatchObject({
      page: 1,
      per_page: 100,
    })
  })

  it('names no page and no size where there is none', () => {
    expect(check('hiring.insights', { domain: 'www.acme.example' })).toEqual({
      key: expect.stringMatching(/^hiring\.insights\|v1:[0-9a-f]{64}$/),
      canonical: { domain: 'acme.example' },
      body: { domain: 'acme.example' },
      page: undefined,
    })
    expect(check('monitor.delete', { monitor_id: '7' }, { repetition: 2 }).key).toMatch(/\|2$/)
  })

  it('takes words that are known', () => {
    expect(check('expansion.search', { stages: [' exploring'] }).canonical).toMatchObject({
      stages: ['exploring'],
    })
    expect(() => check('expansion.search', { stages: ['scaling'] })).toThrow('no answer of this account')
    expect(() => check('expansion.search', { stages: ['scaling'] }, { unchecked: true })).not.toThrow()
  })

  it.each<[Operation, Record<string, unknown>, object, string]>([
    ['job.search', { functions: ['Sales'], per_page: 26 }, {}, 'per_page is 26'],
    ['expansion.search', { stages: ['exploring', 'a'] }, {}, 'stages[1]: no answer'],
    ['job.search', {}, {}, 'it has no filter'],
    ['job.search', { page: 2 }, {}, 'it has no filter'],
    ['job.search', { functions: ['Sales'], page: 9 }, { limits: { page: 8 } }, 'page is 9'],
    ['job.search', { functoins: ['sales'] }, {}, '(near: functions)'],
    ['job.search', { $path: '/x', functoins: ['sales'] }, {}, '$path is not a key'],
    ['job.search', { location_ids: ['x'.repeat(1_000_000)] }, {}, 'are the most'],
    ['hiring.insights', {}, {}, 'it names none of'],
  ])('refuses a body of %s: %#', (operation, body, more, message) => {
    expect(() => check(operation, body, more)).toThrow(message)
  })

  it('keeps what it cannot know of another path', () => {
    expect(check('job.search', { zeal: 1 }, { path: '/other' }).body).toEqual({
      $path: '/other',
      page: 1,
      zeal: 1,
    })
    expect(() => check('expansion.search', { momentum: ['up'] }, { path: '/other' })).toThrow('is none of')
  })
})
