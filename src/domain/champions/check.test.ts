import { expect, test } from 'vitest'
import { checkOf } from './check.ts'
import type { Employment, KnownJob, Verdict } from './moved.ts'

const url = (slug: string) => `https://www.profnet.example/company/${slug}`
const canonical = (slug: string) => `profnet.com/company/${slug}`
const job = (slug: string, end: string, title = 'Buyer'): Employment => ({
  profnet_url: url(slug),
  positions: [{ title, end_date: end }],
})
const byProfile: KnownJob = { profileUrl: url('acme'), domain: 'acme.com', title: 'Buyer' }
const byDomain: KnownJob = { domain: 'acme.com', title: 'Buyer' }
const domainsOf = (domains: Record<string, string | null>) =>
  new Map(Object.entries(domains).map(([slug, domain]) => [canonical(slug), domain]))

test.each<[string, KnownJob, Employment[], Record<string, string | null>, Verdict | { needs: string }]>([
  ['the same profile costs nothing more', byProfile, [job('acme', 'Present')], {}, 'stays'],
  ['another profile: its domain decides', byProfile, [job('globex', 'Present')], {}, { needs: 'globex' }],
  ['another domain', byProfile, [job('globex', 'Present')], { globex: 'globex.com' }, 'moved'],
  ['the same domain', byProfile, [job('acme-group', 'Present')], { 'acme-group': 'acme.com' }, 'renamed'],
  [
    'an employer of which nothing is known',
    byProfile,
    [job('globex', 'Present')],
    { globex: null },
    'unknown',
  ],
  ['a first check by domain', byDomain, [job('acme', 'Present')], { acme: 'acme.com' }, 'stays'],
  [
    'a first check: was the known employer one of before?',
    byDomain,
    [job('globex', 'Present'), job('acme', 'Oct 2026')],
    { globex: 'globex.com' },
    { needs: 'acme' },
  ],
  [
    'a first check: it was',
    byDomain,
    [job('globex', 'Present'), job('acme', 'Oct 2026')],
    { globex: 'globex.com', acme: 'acme.com' },
    'moved',
  ],
  [
    'a first check: it was not',
    byDomain,
    [job('globex', 'Present'), job('initech', 'Oct 2026')],
    { globex: 'globex.com', initech: 'initech.com' },
    'unclear',
  ],
  [
    'a first check: it was, written otherwise',
    { domain: 'www.ACME.com' },
    [job('globex', 'Present'), job('acme', 'Oct 2026')],
    { globex: 'globex.com', acme: 'acme.com' },
    'moved',
  ],
  [
    'two jobs of today cost nothing more',
    byProfile,
    [job('acme', 'Present'), job('globex', 'Present')],
    {},
    'unclear',
  ],
  [
    'a title of before at the same employer is no promotion',
    { ...byProfile, title: 'Head' },
    [
      {
        profnet_url: url('acme'),
        positions: [
          { title: 'Buyer', end_date: 'Oct 2026' },
          { title: 'Head', end_date: 'Present' },
        ],
      },
    ],
    {},
    'stays',
  ],
  ['a first check without a job of today', byDomain, [job('acme', 'Oct 2026')], {}, { needs: 'acme' }],
  ['a first check: the job ended', byDomain, [job('acme', 'Oct 2026')], { acme: 'acme.com' }, 'left'],
])('%s', (_, known, history, domains, expected) => {
  const checked = checkOf(known, history, domainsOf(domains))
  expect(
    checked.state === 'judged' ? checked.verdict : { needs: checked.profileUrl.split('/').at(-1) },
  ).toEqual(expected)
})

test('the title that is kept is that of the position that goes on', () => {
  const positions = [
    { title: 'Buyer', end_date: 'Oct 2026' },
    { title: 'Head', end_date: 'Present' },
  ]
  const promoted = checkOf(byProfile, [{ profnet_url: url('acme'), positions }], new Map())
  expect(promoted).toMatchObject({ verdict: 'promoted', known: { title: 'Head' } })
})

test('the next check is held against the job of today, unless the person may have left', () => {
  const stays = checkOf(byDomain, [job('acme', 'Present', 'Head')], domainsOf({ acme: 'acme.com' }))
  expect(stays).toMatchObject({
    verdict: 'promoted',
    known: { profileUrl: canonical('acme'), domain: 'acme.com', title: 'Head' },
  })
  const moved = checkOf(byProfile, [job('globex', 'Present')], domainsOf({ globex: 'globex.com' }))
  expect(moved).toMatchObject({ verdict: 'moved', known: byProfile })
  const begins = checkOf({}, [job('acme', 'Present')], new Map())
  expect(begins).toMatchObject({ verdict: 'unknown', known: { profileUrl: canonical('acme') } })
})
