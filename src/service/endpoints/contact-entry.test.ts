import { describe, expect, test } from 'vitest'
import { prepareRequest } from '../client.ts'
import { contactEntrySchema, inputsOf, isSearchable, type ContactEntry } from './contact-entry.ts'

const send = (request: Record<string, unknown>) =>
  JSON.parse(prepareRequest('https://service.example', 'contact.lookup', request).body) as unknown

describe('a contact is sent', () => {
  test.each<[request: Record<string, unknown>, sent: Record<string, unknown>]>([
    [{ email: ' Ada@Acme.example ' }, { email: 'Ada@Acme.example' }],
    [{ phone: '+49 151 2345 678' }, { phone: '+49 151 2345 678' }],
    [
      { first_name: 'Ada', last_name: 'Moreau', company: 'Acme' },
      { first_name: 'Ada', last_name: 'Moreau', company: 'Acme' },
    ],
    [
      { first_name: 'Ada', last_name: 'Moreau', domain: 'https://www.Acme.example/team?x#y' },
      { first_name: 'Ada', last_name: 'Moreau', domain: 'acme.example' },
    ],
    [
      { first_name: '愛子', last_name: '田中', domain: 'acme.example' },
      { first_name: '愛子', last_name: '田中', domain: 'acme.example' },
    ],
    [
      { email: 'a@b.example', first_name: 'Ada', last_name: ' ', company: '' },
      { email: 'a@b.example', first_name: 'Ada' },
    ],
    [
      { email: 'a@b.example', is_enable_similarity_search: true },
      { email: 'a@b.example', is_enable_similarity_search: true },
    ],
    [
      { email: 'a@b.example', is_enable_similarity_search: 'false' },
      { email: 'a@b.example', is_enable_similarity_search: false },
    ],
  ])('%j', (request, sent) => expect(send(request)).toEqual(sent))
})

describe('a contact is refused before it is sent', () => {
  test.each<[request: Record<string, unknown>, why: RegExp]>([
    [{}, /nothing to search by/],
    [{ email: ' ', phone: '' }, /nothing to search by/],
    [{ first_name: 'Ada', last_name: 'Moreau' }, /nothing to search by/],
    [{ first_name: 'Ada', domain: 'acme.example' }, /nothing to search by/],
    [{ last_name: 'Moreau', company: 'Acme' }, /nothing to search by/],
    [{ domain: 'acme.example', company: 'Acme' }, /nothing to search by/],
    [{ email: 'ada' }, /email is not an e-mail address/],
    [{ email: 'a b@acme.example' }, /email/],
    [{ email: 7 }, /email/],
    [{ phone: 'n/a' }, /phone is not a phone number/],
    [{ phone: '123' }, /phone/],
    [{ first_name: 'Ada', last_name: 'Moreau', domain: 'no domain' }, /domain it is not a domain/],
    [{ email: 'a@b.example', nickname: 'x' }, /nickname/],
    [{ email: 'a@b.example', is_enable_similarity_search: 'perhaps' }, /is_enable_similarity_search/],
  ])('%j', (request, why) => {
    const problem = { name: 'InputError', code: 'bad_lookup', message: expect.stringMatching(why) as string }
    expect(() => send(request)).toThrow(expect.objectContaining(problem))
  })

  test('without its values in the message', () => {
    expect(() => send({ email: 'secret value' })).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('secret') }),
    )
  })
})

test('the first spelling of an entry is the value that is searched first', () => {
  const whole: ContactEntry = contactEntrySchema.parse({
    email: 'Ada@B.example',
    phone: '+1 (512) 400-1234',
    first_name: 'Ada',
    last_name: 'Moreau',
    domain: 'acme.example',
    company: 'Acme, Inc.',
  })
  expect(inputsOf(whole)).toEqual([
    'ada@b.example',
    '15124001234',
    'ada moreau acme.example',
    'ada moreau acme inc.',
  ])
  expect(isSearchable({ email: undefined, first_name: 'Ada', last_name: 'M' })).toBe(false)
})
