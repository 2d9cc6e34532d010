import { describe, expect, test } from 'vitest'
import { prepareRequest } from '../client.ts'
import { redemption, redemptionBatch } from './redemption.ts'

const base = 'https://service.example'
const types = { people_contact_types: ['email-work'] }
const mail = { value: 'a@b.example', type: 'work', status: 'Verified' }
const phone = { value: '+15124001234', type: 'mobile', status: null }
const of = (person: object) =>
  redemption.decode(JSON.stringify({ data: { peoples: [{ people_search_id: 'a', ...person }] } }))

describe('a redemption distinguishes requested types from others', () => {
  test.each<[person: object, outcome: string, emails: string, phones: string]>([
    [{ emails: [mail], phones: [phone] }, 'found', 'found', 'found'],
    [{ emails: [mail] }, 'found', 'found', 'not_asked'],
    [{ phones: [phone], emails: null }, 'found', 'nothing_found', 'found'],
    [{ emails: null }, 'not_found', 'nothing_found', 'not_asked'],
    [{ emails: [], phones: null }, 'not_found', 'empty', 'nothing_found'],
    [{ phones: [] }, 'not_found', 'not_asked', 'empty'],
    [{ emails: [{ value: ' ' }] }, 'not_found', 'empty', 'not_asked'],
  ])('%j', (person, outcome, emails, phones) => {
    expect(of(person)).toMatchObject({
      outcome,
      data: { people_search_id: 'a', revealed: { emails, phones } },
    })
  })

  test('keeps order, status and type of all values, with the types of the vocabulary', () => {
    const emails = [
      { ...mail, type: 'personal', status: null },
      mail,
      { ...mail, type: 'email-work', score: 3 },
    ]
    expect(of({ emails }).data?.['emails']).toEqual([
      { ...mail, type: 'email-personal', status: null },
      { ...mail, type: 'email-work' },
      { ...mail, type: 'email-work', score: 3 },
    ])
  })

  test.each([
    ['no list', '{"data":{}}'],
    ['no JSON', '<html>'],
    ['neither e-mails nor phones', '{"data":{"peoples":[{"people_search_id":"a"}]}}'],
    ['two people', '{"data":{"peoples":[{"emails":null},{"emails":null}]}}'],
    ['a list that is a text', '{"data":{"peoples":[{"emails":"a@b.example"}]}}'],
  ])('%s is unreadable: it was paid for', (_, body) => {
    expect(redemption.decode(body).outcome).toBe('unreadable')
  })

  test.each(['{"data":null}', '{"data":{"peoples":null}}', '{"data":{"peoples":[]}}'])(
    '%s is nothing found',
    (body) => {
      expect(redemption.decode(body)).toEqual({ outcome: 'not_found', data: null })
    },
  )
})

describe('a redemption', () => {
  test('asks for each type once and in one order, and its price depends on the types', () => {
    const request = prepareRequest(base, 'contact.redeem', {
      people_search_id: 'a',
      people_contact_types: ['phone', 'email-work', 'phone'],
    })
    expect(JSON.parse(request.body)).toEqual({
      people_search_id: 'a',
      people_contact_types: ['email-work', 'phone'],
    })
    expect(request.endpoint).toBe(`POST ${base}/redeem/people (email-work, phone)`)
  })

  test.each<[request: Record<string, unknown>]>([
    [{ people_search_id: 'a' }],
    [{ people_search_id: 'a', people_contact_types: [] }],
    [{ people_search_id: 'a', people_contact_types: ['email'] }],
    [{ people_search_id: 'a', people_contact_types: ['Email-Work'] }],
    [{ people_search_id: 'a', people_contact_types: ['email-work', 'work_email'] }],
    [{ people_search_id: 'a', people_contact_types: 'email-work' }],
    [types],
    [{ people_search_id: 'a', profnet_url: 'https://profnet.example/in/a', ...types }],
    [{ profnet_url: 'https://profnet.example/company/a', ...types }],
    [{ people_search_id: ' ', ...types }],
    [{ people_search_id: 'a', ...types, extra: 1 }],
  ])('%j is refused before it is sent', (request) => {
    expect(() => prepareRequest(base, 'contact.redeem', request)).toThrow(
      expect.objectContaining({ name: 'InputError', code: 'bad_lookup' }),
    )
  })
})

describe('a batch of redemptions', () => {
  const asked = [{ people_search_id: 'a' }, { people_search_id: 'b' }, { people_search_id: 'c' }]

  test('is assigned by id', () => {
    const peoples = [
      { people_search_id: 'c', emails: [mail] },
      { people_search_id: 'a', emails: null },
    ]
    const facts = redemptionBatch.decode(JSON.stringify({ data: { peoples } }), asked)
    expect([0, 1, 2].map((index) => facts.get(index)?.outcome)).toEqual(['not_found', 'not_found', 'found'])
  })

  test('with people that were not asked for marks the missing ones as unreadable', () => {
    const peoples = [
      { people_search_id: 'z', emails: [mail] },
      { people_search_id: 'a', emails: [mail] },
    ]
    const facts = redemptionBatch.decode(JSON.stringify({ data: { peoples } }), asked)
    expect([0, 1, 2].map((index) => facts.get(index)?.outcome)).toEqual(['found', 'unreadable', 'unreadable'])
  })

  test.each([
    [
      '{"data":{"redeem_query_id":"q","is_completed":false,"estimated_time":5}}',
      { queryId: 'q', isCompleted: false, estimatedMs: 5000 },
    ],
    [
      '{"redeem_query_id":7,"is_completed":true,"estimated_time":"12 seconds"}',
      { queryId: '7', isCompleted: true, estimatedMs: 12_000 },
    ],
    ['{"data":{"redeem_query_id":"q"}}', { queryId: 'q', isCompleted: false, estimatedMs: undefined }],
    [
      '{"data":{"is_completed":true,"peoples":[]}}',
      { queryId: '', isCompleted: true, estimatedMs: undefined },
    ],
    ['{"data":{}}', undefined],
    ['<html>', undefined],
  ])('%s', (body, started) => expect(redemptionBatch.started(body)).toEqual(started))
})
