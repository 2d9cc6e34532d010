import { describe, expect, it } from 'vitest'
import type { Operation } from '../../domain/words.ts'
import { createCatalogue } from '../catalogue/catalogue.ts'
import { canonicalBody } from './canonical-body.ts'

const catalogue = createCatalogue()
const canonical = (operation: Operation, body: Record<string, unknown>) =>
  canonicalBody(catalogue.of(operation), body)

describe('the canonical body', () => {
  it.each<[string, Operation, Record<string, unknown>, Record<string, unknown>]>([
    [
      'sorts lists and leaves doubles out',
      'news.search',
      { domain_search_ids: ['b', 'a', 'b'] },
      { domain_search_ids: ['a', 'b'] },
    ],
    [
      'folds websites to domains',
      'job.search',
      { domains: ['https://www.Acme.example/jobs', 'acme.example', ' shop.ACME.example. ', 'www.gov.uk'] },
      { domains: ['acme.example', 'gov.uk'] },
    ],
    [
      'folds profiles to the URL that requests have',
      'company.similar',
      { profnet_url: 'HTTP://de.profnet.com/company/Acme/about?x=1' },
      { profnet_url: 'https://www.profnet.com/company/acme' },
    ],
    [
      'folds the profile of a person as one of a person',
      'people.similar',
      { profnet_url: 'profnet.example/in/Ann/' },
      { profnet_url: 'https://www.profnet.com/in/ann' },
    ],
    [
      'folds words as the service compares them',
      'people.search',
      { departments: ['Human Resources', 'human-resources', 'HUMANRESOURCES', 'R&D'] },
      { departments: ['human resources', 'r d'] },
    ],
    [
      'resolves an alias, and merges it with the name it stands for',
      'people.search',
      { person_locations: ['Berlin', 'Paris'], people_locations: ['Paris', ' Rome '] },
      { people_locations: ['Berlin', 'Paris', 'Rome'] },
    ],
    [
      'leaves defaults and the page out, and keeps the size of the page',
      'job.search',
      { functions: ['sales'], is_ascending_order: false, page: 3, per_page: 25 },
      { functions: ['sales'], per_page: 25 },
    ],
    [
      'keeps what is no default',
      'job.search',
      { functions: ['sales'], is_ascending_order: true },
      { functions: ['sales'], is_ascending_order: true },
    ],
    [
      'only trims a sentence',
      'expansion.search',
      { query: '  Who  goes to JAPAN?\n' },
      { query: 'Who  goes to JAPAN?' },
    ],
    [
      'keeps objects in their order and sorts their keys',
      'monitor.create',
      { name: 'x', detection_mode: 'signal_first', filters: { b: 1, a: { d: 1, c: [2, 1] } } },
      { detection_mode: 'signal_first', filters: { a: { c: [2, 1], d: 1 }, b: 1 }, name: 'x' },
    ],
    [
      'sorts numbers by their size',
      'template.delete',
      { channel_template_id: [10, 9, 10] },
      { channel_template_id: [9, 10] },
    ],
    [
      'sends the search of a contact that the planner would send',
      'contact.lookup',
      { email: ' Ann@Acme.example', first_name: 'Ann', last_name: 'Lee', company: 'Acme' },
      { email: 'ann@acme.example' },
    ],
  ])('%s', (_, operation, body, expected) => {
    const folded = canonical(operation, body)
    expect(JSON.stringify(folded)).toBe(JSON.stringify(expected))
    expect(JSON.stringify(canonical(operation, folded))).toBe(JSON.stringify(expected))
  })

  it('folds profiles into the hosts that the settings name', () => {
    const body = { profnet_url: 'https://uk.network.example/company/Acme' }
    const hosts = ['network.example', 'profnet.com']
    expect(canonicalBody(catalogue.of('company.similar'), body, { hosts })).toEqual({
      profnet_url: 'https://www.network.example/company/acme',
    })
  })

  it('keeps keys that it does not know where the call names another path', () => {
    const body = { $path: '/other', page: 2, zeal: [2, 1], domains: ['www.acme.example'] }
    expect(canonical('job.search', body)).toEqual({
      $path: '/other',
      domains: ['acme.example'],
      zeal: [2, 1],
    })
    expect(() => canonical('expansion.search', { $path: '/other', momentum: ['up'] })).toThrow('is none of')
  })

  it.each<[Operation, Record<string, unknown>, string]>([
    ['job.search', { domains: ['acme.example', 'acme'] }, 'job.search: domains[1]: it is not a domain'],
    [
      'company.similar',
      { profnet_url: 'https://www.profnet.com/in/ann' },
      'company.similar: profnet_url: it is the profile of a person, not of a company',
    ],
    [
      'hiring.insights',
      { tiktok_url: 'https://www.wantedly.com/companies/acme' },
      'hiring.insights: tiktok_url: its host does not name tiktok',
    ],
    [
      'people.search',
      { departments: ['--'] },
      'people.search: departments[0]: it has no letter and no number',
    ],
    ['person.lookup', { email: 'ann' }, 'person.lookup: email: it is not an e-mail address'],
    [
      'contact.lookup',
      { first_name: 'Ann', company: 'Acme' },
      'contact.lookup: nothing to search by: half of the name is missing',
    ],
    [
      'job.search',
      { functoins: ['x'] },
      'job.search: functoins is not a key of job.search (near: functions)',
    ],
  ])('refuses a value of %s that cannot be folded: %j', (operation, body, message) => {
    expect(() => canonical(operation, body)).toThrow(expect.objectContaining({ message }))
  })
})
