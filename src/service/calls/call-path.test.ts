import { describe, expect, it } from 'vitest'
import type { Operation } from '../../domain/words.ts'
import { createCatalogue } from '../catalogue/catalogue.ts'
import { callPath } from './call-path.ts'

const catalogue = createCatalogue()
const pathOf = (operation: Operation, path: string) => callPath(catalogue.of(operation), path, catalogue)

describe('the other path of a call', () => {
  it('is one at the service', () => {
    expect(pathOf('job.search', '/v2/jobs/search')).toBe('/v2/jobs/search')
    expect(pathOf('monitor.read', '/watches/{monitor_id}')).toBe('/watches/{monitor_id}')
  })

  // Glued to the address of the service, most of these go to another host, with the key or the payment.
  it.each([
    '@evil.example/x',
    '.evil.example/x',
    ':80/x',
    'x',
    '',
    '/',
    '//evil.example/x',
    '/\\evil.example',
    '/../jobs/search',
    '/./jobs/search',
    '/x/..',
    '/%2e%2e/x',
    '/jobs/search/',
    '/jobs/search?a=1',
    '/jobs/search#a',
    '/jobs search',
    '/jobs\n',
    '/jobs/se\u0430rch',
  ])('is not %j', (path) => {
    expect(() => pathOf('company.search', path)).toThrow(/is no path/)
  })

  it('is none where it is the path of the operation itself', () => {
    expect(pathOf('company.search', '/companies/search')).toBeUndefined()
    expect(pathOf('company.search', '/Companies/Search')).toBeUndefined()
  })

  it.each<[Operation, string, string]>([
    ['monitor.interpret', '/monitors', 'is the path of monitor.create'],
    ['monitor.interpret', '/monitors/m-1/test', 'is the path of monitor.test'],
    ['hiring.insights', '/Expansions/search', 'is the path of expansion.search'],
    ['company.search', '/redeem/people/batch', 'is the path of contact.redeem'],
    ['monitor.read', '/monitors/m-1', 'is its own path /monitors/{monitor_id}'],
  ])('of %s is not %s', (operation, path, said) => {
    expect(() => pathOf(operation, path)).toThrow(said)
  })
})
