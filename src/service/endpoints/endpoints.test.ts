import { describe, expect, test } from 'vitest'
import type { Operation } from '../../domain/words.ts'
import { prepareRequest } from '../client.ts'
import { companyProfile } from './company-profile.ts'
import { personProfile } from './person-profile.ts'

describe('a request', () => {
  test.each<[operation: Operation, url: string, path: string]>([
    ['company.profile', 'https://www.profnet.example/company/acme', '/companies/profnet/lookup'],
    ['person.profile', 'https://www.profnet.example/in/ada', '/people/profnet/lookup'],
    ['person.profile', 'http://profnet.example/pub/ada/1/2/3', '/people/profnet/lookup'],
  ])('for %s of %s goes to its path with nothing but the URL', (operation, profnet_url, path) => {
    for (const base of ['https://service.example/v', 'https://service.example/v/']) {
      const request = prepareRequest(base, operation, { profnet_url, secret: 1 })
      expect(request).toMatchObject({
        method: 'POST',
        url: `https://service.example/v${path}`,
        endpoint: `POST https://service.example/v${path}`,
      })
      expect(JSON.parse(request.body)).toEqual({ profnet_url })
    }
  })

  test.each<[operation: Operation, request: object]>([
    ['company.profile', {}],
    ['company.profile', { profnet_url: null }],
    ['company.profile', { profnet_url: 'www.profnet.example/company/acme' }],
    ['company.profile', { profnet_url: 'ftp://profnet.example/company/acme' }],
    ['company.profile', { profnet_url: 'https://profnet.example/in/ada' }],
    ['person.profile', { profnet_url: 'https://profnet.example/company/acme' }],
    ['person.profile', { profnet_url: 'https://profnet.example/ada' }],
  ])('for %s that is %j is refused before it is paid for', (operation, request) => {
    expect(() => prepareRequest('https://service.example', operation, request as never)).toThrow(
      expect.objectContaining({ name: 'InputError', code: 'bad_lookup' }),
    )
  })

  test('that no endpoint performs is refused', () => {
    expect(() => prepareRequest('https://service.example', 'company.logo', { domain: 'x.example' })).toThrow(
      expect.objectContaining({ name: 'ConfigError', code: 'no_endpoint' }),
    )
  })
})

describe.each([
  ['company', companyProfile],
  ['person', personProfile],
])('the answer of a %s lookup', (_, { decode }) => {
  test('that is null is nothing found', () => {
    expect(decode('{"data":null}')).toEqual({ outcome: 'not_found', data: null })
    expect(decode('{"data":null,"metadata":{"ignored_fields":[]}}')).toEqual({
      outcome: 'not_found',
      data: null,
    })
  })

  test('keeps null fields, absent fields and undocumented fields', () => {
    const data = { name: null, profnet_url: 'https://x', new_field: { deep: [1] }, company_name: null }
    expect(decode(JSON.stringify({ data }))).toEqual({ outcome: 'found', data })
    expect(decode('{"data":{}}')).toEqual({ outcome: 'found', data: {} })
  })

  test.each([
    '',
    'not json',
    '<html></html>',
    'null',
    '[]',
    '"text"',
    '{}',
    '{"data":"x"}',
    '{"data":[]}',
    '{"data":7}',
    '{"dat',
  ])('that is %j was paid for and is stored unchanged', (body) => {
    expect(decode(body)).toMatchObject({ outcome: 'unreadable', data: { raw: body } })
  })
})

describe('fields of another type than described', () => {
  test.each([
    ['company', companyProfile, { company_size: 'many' }],
    ['company', companyProfile, { company_name: 7 }],
    ['person', personProfile, { name: ['Ada'] }],
  ])('in a %s are kept too, with any outcome', (_, { decode }, data) => {
    const body = JSON.stringify({ data })
    const fact = decode(body)
    expect(JSON.stringify(fact.data)).toContain(Object.keys(data)[0])
  })

  test('a whole record of section 2.1 and of 2.2 is read', () => {
    const company = {
      title: 't',
      alumni: null,
      alumni_information: null,
      domain: 'd.example',
      unique_domain: 'd.example',
      company_url: 'https://d.example',
      company_name: 'D',
      profnet_name: 'd',
      profnet_uid: '1',
      profnet_url: 'https://p/company/d',
      industry: null,
      description: null,
      unformatted_description: null,
      company_size: 5,
      company_size_printed: '5',
      unformatted_company_size: '2-10',
      company_type: 'x',
      founded_year: 1999,
      headquarters: 'h',
      company_address: 'a',
      company_addresses: ['a'],
      unformatted_company_addresses: ['a'],
      company_address_directions: [{ directions_url: 'u' }],
      country_code: 'DE',
      country_codes: ['DE'],
      follower_size: 1,
      logo_url: 'u',
      image_url: 'u',
      created_at: '2026-01-01T00:00:00Z',
      additional_information: 'x',
      people: [{ name: 'n', logo_url: 'u', profnet_url: 'u' }],
      affiliated_pages: [{ title: 't', location: 'l', subtitle: 's', profnet_url: 'u' }],
      similar_companies: [{ industry: 'i', location: 'l', company_name: 'c', profnet_url: 'u' }],
      recent_activities: [
        {
          date: 'x',
          time: '1mo',
          text: 't',
          title: 't',
          images: [],
          post_id: '1',
          post_url: 'u',
          likes_count: 1,
          comments_count: 0,
          tagged_people: null,
          tagged_companies: [],
          repost: { images: null, repost_id: null, external_links: null },
        },
      ],
    }
    const person = {
      name: 'n',
      headline: 'h',
      description: 'd',
      city: 'c',
      location: null,
      country_code: 'DE',
      logo_url: 'u',
      image_url: 'u',
      created_at: 'x',
      profnet_uid: '1',
      profnet_url: 'u',
      profnet_name: 'n',
      follower_size: 1,
      connection_size: 2,
      education: null,
      honors_and_awards: [{}],
      bio: [{ url: 'u', title: 't' }],
      company: { location: null, company_name: 'c', profnet_url: 'u', profnet_name: 'c' },
      recommendations: ['r'],
      similar_profiles: [{ name: 'n', headline: null, profnet_url: 'u' }],
      people_also_viewed: [{ name: 'n', headline: null, location: 'l', profnet_url: 'u' }],
      recent_activities: [{ id: '1', title: 't', image_url: 'u', interaction: 'i', profnet_url: 'u' }],
      employment_history: [
        {
          title: 't',
          duration: 'd',
          logo_url: null,
          company_name: 'c',
          profnet_url: 'u',
          profnet_name: 'c',
          unformatted_description: null,
          positions: [
            {
              meta: 'm',
              title: 't',
              start_date: 's',
              end_date: 'Present',
              location: null,
              subtitle: 's',
              description_html: null,
            },
          ],
        },
      ],
    }
    expect(companyProfile.decode(JSON.stringify({ data: company }))).toEqual({
      outcome: 'found',
      data: company,
    })
    expect(personProfile.decode(JSON.stringify({ data: person }))).toEqual({ outcome: 'found', data: person })
  })
})
