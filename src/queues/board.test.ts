import { describe, expect, test } from 'vitest'
import { maskText, maskValue } from './board.ts'

describe('a text on the board of queues', () => {
  test.each([
    ['contact.lookup|jane.doe@acme.test', /^contact\.lookup\|#[0-9a-f]{8}$/],
    ['person.profile|profnet.test/in/jane-doe', /^person\.profile\|#[0-9a-f]{8}$/],
    ['contact.lookup|jane|doe|acme inc', /^contact\.lookup\|#[0-9a-f]{8}$/],
    ['no answer for jane.doe@acme.test in time', /^no answer for \(e-mail\) in time$/],
    ['the number +49 170 123 45 67 is taken', /^the number \(phone\) is taken$/],
    ['GET https://api.test/people?email=x failed', /^GET \(address\) failed$/],
    [
      'the budget of this day (100.000000 USD) is used up',
      /^the budget of this day \(100\.000000 USD\) is used up$/,
    ],
    ['kc0ffee', /^kc0ffee$/],
  ])('%s', (text, shown) => {
    expect(maskText(text)).toMatch(shown)
  })

  test('has the same digest for the same key, and another one for another key', () => {
    expect(maskText('company.profile|a')).toBe(maskText('company.profile|a'))
    expect(maskText('company.profile|a')).not.toBe(maskText('company.profile|b'))
  })

  test('is masked at any depth', () => {
    const job = {
      data: { key: 'contact.lookup|jane@acme.test' },
      opts: { of: [{ note: 'jane@acme.test' }] },
      n: 1,
      x: null,
    }
    expect(JSON.stringify(maskValue(job))).not.toContain('jane')
    expect(maskValue(job)).toMatchObject({ n: 1, x: null })
  })
})
