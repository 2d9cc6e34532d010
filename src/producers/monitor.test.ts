import { expect, test } from 'vitest'
import { companiesIn } from './monitor.ts'

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
