import { expect, test } from 'vitest'
import { companiesIn, readDelivery } from './read-delivery.ts'

const acme = { profile: 'profnet.com/company/acme', domain: 'acme.example' }

test.each([
  [{ companies: [{ profnet_url: 'https://www.profnet.example/company/Acme/', domain: 'www.acme.example' }] }],
  [
    {
      signals: [
        { company: { profnet_url: 'profnet.example/company/acme', website: 'https://acme.example/x' } },
      ],
    },
  ],
  [
    {
      signals: [
        { type: 'x', company_profnet_url: 'profnet.example/company/acme', company_domain: 'acme.example' },
      ],
    },
  ],
  [{ signals: [{ companies: [{ othernet_url: 'profnet.example/company/acme', domain: 'acme.example' }] }] }],
])('a company is found in %j', (body) => {
  expect(companiesIn(body, 'othernet')).toEqual([acme])
})

test('each company is returned once, and entries without one are left out', () => {
  const twice = { profnet_url: acme.profile, domain: 'acme.example' }
  expect(
    companiesIn(
      { companies: [twice, {}, 'x', null, { domain: 'not a domain' }], signals: [twice] },
      'profnet',
    ),
  ).toEqual([acme])
})

test.each([null, [], 'x', {}, { signals: {} }, { companies: 'x' }])('%j names no company', (body) => {
  expect(companiesIn(body, 'profnet')).toEqual([])
})

const one = { domain: 'acme.example', type: 'news', published_at: '2026-11-20T08:00:00Z', title: 'Moves' }
const meanings = (...signals: object[]) =>
  readDelivery({ monitor: { monitor_id: 'm' }, signals }, 'profnet').signals.map(({ meaning }) => meaning)

test.each([
  [
    'another time of the same day',
    one,
    { ...one, published_at: '2026-11-20T09:30:00Z', title: 'moves' },
    true,
  ],
  ['another day', one, { ...one, published_at: '2026-11-21' }, false],
  ['another type', one, { ...one, type: 'job' }, false],
  ['another company', one, { ...one, domain: 'globex.example' }, false],
  [
    'the same id with other words',
    { ...one, id: 7 },
    { ...one, id: '7', title: 'x', published_at: '' },
    true,
  ],
  ['another id', { ...one, id: 7 }, { ...one, id: 8 }, false],
  [
    'no date, other order and time of sending',
    { domain: 'acme.example', type: 'x', a: [1] },
    { a: [1], sent_at: 'y', type: 'x', domain: 'acme.example' },
    true,
  ],
  ['no date, other text', { domain: 'acme.example', a: 1 }, { domain: 'acme.example', a: 2 }, false],
])('a meaning is the same or not: %s', (_, first, second, isSame) => {
  const [a, b] = meanings(first, second)
  expect(a === b).toBe(isSame)
})

test.each([{ is_test: true }, { is_validation: true }, { event: 'validation' }, { type: 'test' }])(
  '%j marks a delivery that spends nothing',
  (mark) => expect(readDelivery({ ...mark, signals: [one] }, 'profnet').isTest).toBe(true),
)
