import { describe, expect, it } from 'vitest'
import { createCatalogue } from '../catalogue/catalogue.ts'
import type { Operation } from '../../domain/words.ts'
import { checkBody } from './check-body.ts'

const catalogue = createCatalogue()

describe('the check of a body', () => {
  it.each<[Operation, Record<string, unknown>, string]>([
    [
      'job.search',
      { functoins: ['sales'] },
      'job.search: functoins is not a key of job.search (near: functions)',
    ],
    [
      'job.search',
      { functoins: ['sales'], domans: ['a.example'] },
      'job.search: functoins is not a key of job.search (near: functions); domans is not a key of job.search (near: domains)',
    ],
    [
      'monitor.update',
      { monitor_id: 'mo-1' },
      'monitor.update: it changes nothing: name a key with its new value',
    ],
    [
      'company.similar',
      { domain: 'a.example', tiktok_url: 'https://www.tiktok.example/@a' },
      'company.similar: it names domain and tiktok_url; one of them is enough',
    ],
    [
      'hiring.insights',
      {},
      'hiring.insights: it names none of domain, profnet_url, domain_search_id, tiktok_url, wantedly_url, tw104_url, rocketpunch_url, remember_url, youtrust_url',
    ],
    ['job.search', { functions: 'sales' }, 'job.search: functions is not a list of texts'],
    ['job.search', { functions: [] }, 'job.search: functions is an empty list'],
    ['job.search', { functions: ['sales', ' '] }, 'job.search: functions[1] is empty'],
    ['job.search', { functions: ['sales', 7] }, 'job.search: functions[1] is not a text'],
    ['job.search', { functions: ['a\0b'] }, 'job.search: functions[0] has characters that no text has'],
    ['job.search', { functions: ['\ud83d'] }, 'job.search: functions[0] has characters that no text has'],
    ['job.search', { is_ascending_order: 'yes' }, 'job.search: is_ascending_order is not true or false'],
    ['job.search', { page: 0 }, 'job.search: page is below 1'],
    ['job.search', { page: 1.5 }, 'job.search: page is not a whole number'],
    ['job.search', { page: null }, 'job.search: page is not a whole number'],
    [
      'news.search',
      { published_at: '2026-01-01' },
      'news.search: published_at is not { "from": "YYYY-MM-DD", "to": "YYYY-MM-DD" }, with one of them or both',
    ],
    [
      'news.search',
      { published_at: { form: '2026-01-01' } },
      'news.search: published_at is not { "from": "YYYY-MM-DD", "to": "YYYY-MM-DD" }, with one of them or both',
    ],
    [
      'news.search',
      { published_at: { from: '01.02.2026' } },
      'news.search: published_at.from is not a day as YYYY-MM-DD',
    ],
    [
      'news.search',
      { published_at: { to: '2026-02-30' } },
      'news.search: published_at.to is not a day as YYYY-MM-DD',
    ],
    [
      'news.search',
      { published_at: { from: '2026-02-01', to: '2026-01-01' } },
      'news.search: published_at: from 2026-02-01 is after to 2026-01-01',
    ],
    ['monitor.create', { name: 'x' }, 'monitor.create: detection_mode is missing'],
    [
      'expansion.compare',
      { domain_search_ids: ['a'] },
      'expansion.compare: domain_search_ids has 1 entry, and takes 2 to 10',
    ],
    [
      'template.create',
      { channel_node_id: '7', channel_type_slug: 'mail' },
      'template.create: channel_node_id is not a UUID',
    ],
    ['account.usage', { x: 1 }, 'account.usage: x is not a key of account.usage (it has none)'],
    ['account.usage', { 'a\nb': 1 }, 'account.usage: "a\\nb" is not a key of account.usage (it has none)'],
    [
      'people.search',
      { people_contact_types: ['email_work'] },
      'people.search: people_contact_types[0]: "email_work" is none of email-work, email-personal, phone (near: email-work)',
    ],
  ])('refuses a body of %s in one line: %j', (operation, body, message) => {
    expect(() => checkBody(catalogue.of(operation), body)).toThrow(expect.objectContaining({ message }))
  })

  it('does not follow objects without end', () => {
    const deep = JSON.parse(`${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`) as unknown
    const body = { name: 'x', detection_mode: 'x', filters: deep }
    expect(() => checkBody(catalogue.of('monitor.create'), body)).toThrow('filters has characters')
  })

  it('refuses the name of a packed value at another path too, where any key may be meant', () => {
    const check = (body: Record<string, unknown>) =>
      checkBody(catalogue.of('job.search'), body, { knowsKeys: false })
    expect(() => check({ $z: 'x' })).toThrow("$z is a name of the ledger's own")
    expect(() => check({ $filter: 'x' })).not.toThrow()
  })

  it('finds no key of a request among those that every object has', () => {
    const body = JSON.parse('{"__proto__": 1}') as Record<string, unknown>
    expect(() => checkBody(catalogue.of('job.search'), body)).toThrow('__proto__ is not a key')
    expect(() => checkBody(catalogue.of('job.search'), { constructor: 1 })).toThrow(
      'constructor is not a key',
    )
  })
})
