import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { verdictOf, type Employment, type KnownJob, type Verdict } from './moved.ts'

const url = (slug: string) => `https://www.profnet.example/company/${slug}`
const job = (slug: string | null, end: string | null, more: Partial<Employment> = {}): Employment => ({
  profnet_url: slug === null ? null : url(slug),
  positions: [{ title: 'Buyer', end_date: end }],
  ...more,
})
const acme: KnownJob = { profileUrl: url('acme'), domain: 'acme.com', title: 'Buyer' }

describe('the verdict on a champion', () => {
  test.each<[string, KnownJob, Employment[] | null, Verdict]>([
    ['same profile', acme, [job('acme', 'Present')], 'stays'],
    [
      'same profile, spelled otherwise',
      { ...acme, profileUrl: 'de.profnet.com/company/ACME/' },
      [job('acme', 'Present')],
      'stays',
    ],
    ['same profile, another domain', acme, [job('acme', 'Present', { domain: 'acme.io' })], 'stays'],
    ['another title', { ...acme, title: 'Clerk' }, [job('acme', 'Present')], 'promoted'],
    [
      'another title, no profile known',
      { domain: 'acme.com', title: 'Clerk' },
      [job('acme', 'Present', { domain: 'acme.com' })],
      'promoted',
    ],
    [
      'no profile known, same domain',
      { domain: 'acme.com' },
      [job('acme', 'Present', { domain: 'www.acme.com' })],
      'stays',
    ],
    ['another profile, same domain', acme, [job('apex', 'Present', { domain: 'acme.com' })], 'renamed'],
    ['another profile and domain', acme, [job('globex', 'Present', { domain: 'globex.com' })], 'moved'],
    [
      'another profile, the old job ended',
      acme,
      [job('globex', 'Present'), job('acme', 'Jun 2026')],
      'moved',
    ],
    ['another profile, its domain hidden', acme, [job('apex', 'Present')], 'unknown'],
    ['another employer without a profile', acme, [job(null, 'Present'), job('acme', 'Jun 2026')], 'unknown'],
    ['the job ended', acme, [job('acme', 'Jun 2026')], 'left'],
    ['the job ended, another has no dates', acme, [job('acme', 'Jun 2026'), job('globex', null)], 'unknown'],
    ['a word that is no date', acme, [job('acme', 'heute')], 'unknown'],
    ['two current employers', acme, [job('acme', 'Present'), job('globex', 'Present')], 'unclear'],
    [
      'two current employers without a profile',
      acme,
      [job(null, 'Present'), job(null, 'Present')],
      'unclear',
    ],
    ['one employer listed twice', acme, [job('acme', 'Present'), job('acme', 'Present')], 'stays'],
    ['old employer not listed', acme, [job('globex', 'Jun 2020')], 'unknown'],
    ['no history', acme, [], 'unknown'],
    ['a hidden history', acme, null, 'unknown'],
    ['nothing known before', {}, [job('acme', 'Present', { domain: 'acme.com' })], 'unknown'],
  ])('%s', (_, known, history, verdict) => {
    expect(verdictOf(known, history)).toBe(verdict)
  })
})

test('a name never changes the verdict', () => {
  const slug = fc.constantFrom('acme', 'globex', 'apex', null)
  const domain = fc.constantFrom('acme.com', 'globex.com', null)
  const end = fc.constantFrom('Present', 'Jun 2026', null)
  const employment = fc.tuple(slug, end, domain).map(([at, until, of]) => job(at, until, { domain: of }))
  fc.assert(
    fc.property(fc.array(employment, { maxLength: 4 }), fc.string(), (history, name) => {
      const named = history.map((one) => ({ ...one, company_name: name, profnet_name: name }))
      expect(verdictOf(acme, named)).toBe(verdictOf(acme, history))
    }),
    { seed: 17 },
  )
})

test('somebody who works at the known profile alone never moved', () => {
  fc.assert(
    fc.property(fc.option(fc.domain(), { nil: null }), fc.string(), (domain, title) => {
      const verdict = verdictOf({ ...acme, title }, [job('acme', 'Present', { domain })])
      expect(['stays', 'promoted']).toContain(verdict)
    }),
    { seed: 17 },
  )
})
