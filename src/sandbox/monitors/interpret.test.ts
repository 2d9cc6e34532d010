import { expect, test } from 'vitest'
import { interpret } from './interpret.ts'

test.each([
  ['Firms from France that enter Japan or South Korea', ['expansions'], { froms: ['FR'], tos: ['JP', 'KR'] }],
  ['hiring and ads in Italy', ['jobs', 'advertisements'], { tos: ['IT'] }],
  ['expansions at stage Scaling', ['expansions'], { stages: ['Scaling'] }],
  ['Companies expanding to Spain from Germany', ['expansions'], { froms: ['DE'], tos: ['ES'] }],
  ['new cloud regions', ['clouds'], {}],
])('%s', (sentence, types, filters) => {
  expect(interpret(sentence)).toMatchObject({
    status: 'draft',
    detection_mode: 'signal_first',
    signal_types: types,
    filters,
    domain_search_ids: [],
  })
})

test('a domain in the sentence is a company to track', () => {
  expect(interpret('News about acme.example and www.firm.example, acme.example first.')).toMatchObject({
    detection_mode: 'company_first',
    domain_search_ids: ['ds-acme.example', 'ds-www.firm.example'],
  })
})

test('a sentence without a signal is no monitor', () => {
  expect(interpret('Good morning')).toBeNull()
})
