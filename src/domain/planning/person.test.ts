import { describe, expect, test } from 'vitest'
import { nextStep, type Facts, type PlanContext } from './planner.ts'
import { builtInRecipes, type Recipe } from './recipes.ts'
import type { Fact, FieldValue, Identity } from '../record.ts'
import { contact, found, full, mail, match, nothing, profile, url } from './person.fixture.ts'

const next = (
  recipe: Recipe,
  identity: Identity,
  facts: Facts = {},
  values?: Record<string, FieldValue>,
  context?: PlanContext,
) => {
  const step = nextStep({ object: 'person', identity, ...(values ? { values } : {}) }, recipe, facts, context)
  return step.kind === 'lookup'
    ? step.lookup.key
    : step.kind === 'write'
      ? Object.keys(step.values).join(' ')
      : `${step.status}: ${step.reason}`
}

describe('a person, with the recipe full', () => {
  test('goes from match to profile, employer, e-mail, phone and logo', () => {
    const facts: Facts = {}
    const seen = [next(full, { firstName: 'Ada', lastName: 'Moreau', company: 'Acme SA' })]
    facts['contact.lookup'] = match()
    const go = (slot: keyof Facts, fact: Fact) => {
      seen.push(next(full, { firstName: 'Ada', lastName: 'Moreau', company: 'Acme SA' }, facts))
      facts[slot] = fact
    }
    go('person.profile', profile)
    go('company.profile', found({ domain: 'acme.example', industry: 'Robots' }))
    go(
      'contact.redeem:email-work',
      found({ emails: [{ value: 'Ada@Acme.example', type: 'work', status: 'Verified' }] }),
    )
    go('contact.redeem:phone', found({ phones: [{ value: '+33612345678', type: 'mobile', status: null }] }))
    go('company.logo', found({ url: 'https://logo/acme' }))
    seen.push(next(full, { firstName: 'Ada', lastName: 'Moreau', company: 'Acme SA' }, facts))
    expect(seen).toEqual([
      'contact.lookup|name_company:ada moreau@acme',
      'person.profile|profnet.com/in/ada',
      'company.profile|profnet.com/company/acme',
      'contact.redeem|profnet.com/in/ada|email-work',
      'contact.redeem|profnet.com/in/ada|phone',
      'company.logo|acme.example',
      'full_name first_name last_name profnet_url job_title company_name company_profnet_url city email phone mobile_phone company_domain company_industry company_logo',
    ])
  })
})

describe('a person without a profile URL', () => {
  test.each<[what: string, fact: Fact, end: string]>([
    ['without a match', nothing, 'unchanged: not found by the service'],
    [
      'whose match cannot be read',
      { outcome: 'unreadable', data: { raw: 'x' } },
      'rejected: the answer could not be read; it is kept in the ledger',
    ],
    ['whose search failed', { outcome: 'failed', data: null, reason: 'gone' }, 'rejected: gone'],
    [
      'that several match',
      match({ other_matches: 1 }),
      'unchanged: several people match, and none is certain',
    ],
    ['whose match names no profile', found({ name: 'Ada' }), 'unchanged: the match names no profile'],
  ])('%s ends', (_, fact, end) => {
    expect(next(full, mail, { 'contact.lookup': fact })).toBe(end)
  })

  test('is skipped before anything is sent when there is nothing to search by', () => {
    expect(next(full, { firstName: 'Ada', lastName: 'Moreau' })).toBe(
      'skipped: nothing to search by: the name has no domain or company',
    )
    expect(next(builtInRecipes('person', 'profile'), mail)).toBe('skipped: no profile URL to look up by')
  })

  test('is also one whose URL is broken', () => {
    expect(next(full, { profileUrl: 'n/a', ...mail })).toBe('contact.lookup|email:ada@acme.example')
    expect(next(full, { profileUrl: 'n/a' })).toBe('rejected: broken profile URL: it has no host name')
    expect(next(full, { profileUrl: 'https://elsewhere.example/in/ada' })).toBe(
      'rejected: broken profile URL: its host is not profnet.com or profnet.example (service.networkHosts)',
    )
  })

  test('needs no profile where the match has all wanted fields', () => {
    const recipe: Recipe = {
      name: 'x',
      fields: ['full_name', 'job_title'],
      steps: ['contact.lookup', 'person.profile'],
    }
    expect(next(recipe, mail, { 'contact.lookup': match() })).toBe('full_name job_title')
    // A null is an answer, an absent field is none.
    expect(next(recipe, mail, { 'contact.lookup': match({ title: null }) })).toBe('full_name')
    expect(next(recipe, mail, { 'contact.lookup': match({ title: undefined }) })).toBe(
      'person.profile|profnet.com/in/ada',
    )
  })

  test('known by id alone is redeemed by id, and has no profile', () => {
    const facts = { 'contact.lookup': match({ profnet_url: null }) }
    const step = nextStep({ object: 'person', identity: { phone: '+33612345678' } }, full, facts)
    expect(step).toMatchObject({
      lookup: {
        key: 'contact.redeem|id:77|email-work',
        request: { people_search_id: '77', people_contact_types: ['email-work'] },
      },
    })
  })

  test('keeps the values of the match when the profile is not found or unreadable', () => {
    const recipe: Recipe = { ...full, steps: ['contact.lookup', 'person.profile'] }
    const facts: Facts = { 'contact.lookup': match(), 'person.profile': nothing }
    expect(next(recipe, mail, facts)).toBe(
      'full_name first_name last_name profnet_url job_title company_name',
    )
    facts['person.profile'] = { outcome: 'failed', data: null, reason: 'gone' }
    expect(nextStep({ object: 'person', identity: mail }, recipe, facts)).toMatchObject({
      kind: 'write',
      reason: 'gone',
    })
  })

  test('is searched by name too where the recipe says so', () => {
    const recipe = { ...contact, similarity: true, country: 'FR' }
    const step = nextStep(
      {
        object: 'person',
        identity: { phone: '06 12 34 56 78', firstName: 'Ada', lastName: 'Moreau', company: 'Acme' },
      },
      recipe,
      {},
    )
    expect(step).toMatchObject({
      lookup: { request: { phone: '+33612345678', company: 'Acme', is_enable_similarity_search: true } },
    })
  })
})

describe('only wanted and missing contacts are revealed', () => {
  test.each<[what: string, identity: Identity, values: Record<string, FieldValue> | undefined, next: string]>(
    [
      ['nothing', url, undefined, 'contact.redeem|profnet.com/in/ada|email-work'],
      ['an e-mail', { ...url, ...mail }, undefined, 'contact.redeem|profnet.com/in/ada|phone'],
      [
        'an e-mail among its values',
        url,
        { email: 'a@b.example' },
        'contact.redeem|profnet.com/in/ada|phone',
      ],
      [
        'a phone that may be a mobile',
        { ...url, ...mail, phone: '+33142685300' },
        undefined,
        'unchanged: the record lacks nothing that the recipe wants and may buy',
      ],
      [
        'a landline and no mobile, which may be all that is revealed',
        { ...url, ...mail },
        { phone: '+33142685300' },
        'unchanged: the record lacks nothing that the recipe wants and may buy',
      ],
      [
        'both phones',
        { ...url, ...mail },
        { phone: '+33142685300', mobile_phone: '+33612345678' },
        'unchanged: the record lacks nothing that the recipe wants and may buy',
      ],
    ],
  )('of a record that has %s', (_, identity, values, wanted) => {
    expect(next(contact, identity, {}, values)).toBe(wanted)
  })

  test('a mobile alone is bought for a recipe that says so', () => {
    const mobile: Recipe = { ...contact, fields: ['email', 'mobile_phone'] }
    const landline = { phone: '+33142685300' }
    expect(next(mobile, { ...url, ...mail, ...landline }, {}, landline)).toBe(
      'contact.redeem|profnet.com/in/ada|phone',
    )
    expect(next(mobile, { ...url, ...mail }, {}, { mobile_phone: '+33612345678' })).toBe(
      'unchanged: the record lacks nothing that the recipe wants and may buy',
    )
  })

  test('and none that the match reveals itself', () => {
    const lookup = match({ emails: [{ value: 'ada@acme.example', type: 'work', status: null }] })
    expect(next(contact, { phone: '+33142685300' }, { 'contact.lookup': lookup })).toBe(
      'full_name first_name last_name profnet_url job_title company_name email',
    )
  })

  test('nothing found, in any form, ends without a value and is asked once', () => {
    for (const fact of [
      nothing,
      found({ emails: null, phones: null }),
      found({ emails: [], phones: [] }),
      found({}),
    ]) {
      const facts: Facts = { 'contact.redeem:email-work': fact, 'contact.redeem:phone': fact }
      expect(next(contact, url, facts)).toBe('unchanged: no e-mail or phone found')
    }
    const failed: Fact = { outcome: 'failed', data: null, reason: 'gone' }
    expect(next(contact, url, { 'contact.redeem:email-work': nothing, 'contact.redeem:phone': failed })).toBe(
      'rejected: gone',
    )
  })

  test('a profile URL that leads nowhere leads to no contact data', () => {
    expect(next(full, url, { 'person.profile': nothing })).toBe('unchanged: not found by the service')
  })

  test('stops where the recipe says so', () => {
    const facts: Facts = {
      'contact.redeem:email-work': found({ emails: [{ value: 'a@b.example', type: null, status: null }] }),
    }
    expect(next({ ...contact, stopWhen: ['email'] }, url, facts)).toBe('email')
    expect(next({ ...contact, stopWhen: ['phone'] }, url, facts)).toBe(
      'contact.redeem|profnet.com/in/ada|phone',
    )
  })
})

test('another employer or title than the record’s is reported with the write', () => {
  const record = {
    object: 'person' as const,
    identity: { ...url, company: 'Borealis AB' },
    values: { job_title: 'CTO' },
  }
  const facts = {
    'person.profile': found({
      employment_history: [{ title: 'Chief Technology Officer' }],
      company: { company_name: 'Acme SA' },
    }),
  }
  expect(nextStep(record, builtInRecipes('person', 'profile'), facts)).toMatchObject({
    kind: 'write',
    jobChange: { employer: { from: 'Borealis AB', to: 'Acme SA' } },
  })
  expect(
    nextStep(
      { ...record, identity: { ...url, company: 'ACME' } },
      builtInRecipes('person', 'profile'),
      facts,
    ),
  ).not.toHaveProperty('jobChange')
})

test.each(['failed', 'unreadable'] as const)('ends with the problem of a profile that is %s', (outcome) => {
  const recipe: Recipe = { ...full, steps: ['person.profile'] }
  const bad: Fact = { outcome, data: null, reason: 'gone' }
  const step = nextStep({ object: 'person', identity: url }, recipe, { 'person.profile': bad })
  expect(step).toMatchObject({ kind: 'stop', status: 'rejected' })
})
