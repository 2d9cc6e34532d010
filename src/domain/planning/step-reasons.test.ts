import { describe, expect, test } from 'vitest'
import { nextStep, type Facts } from './planner.ts'
import type { Recipe } from './recipes.ts'
import type { Identity } from '../record.ts'
import { full, mail, match, profile, url } from './person.fixture.ts'

describe('the reason of a step', () => {
  const why = (identity: Identity, facts: Facts, recipe: Recipe = full) => {
    const step = nextStep({ object: 'person', identity }, recipe, facts)
    return step.kind === 'lookup' ? step.why : step.reason
  }

  test('names the employer whose fields are wanted', () => {
    const facts: Facts = { 'contact.lookup': match(), 'person.profile': profile }
    expect(why(mail, facts)).toContain('employer')
  })

  test('names what the match does not have', () => {
    expect(why(mail, { 'contact.lookup': match() })).toContain('city')
    expect(why(url, {})).not.toContain('match')
  })

  test.each([
    [['phone', 'mobile_phone'], 'phone, mobile_phone are'],
    [['phone'], 'phone is'],
  ])('names the contacts %j that are wanted', (fields, words) => {
    expect(why(url, {}, { name: 'r', fields, steps: ['contact.redeem'] })).toContain(words)
  })

  test.each<[Identity, RegExp]>([
    [mail, /an e-mail/],
    [{ phone: '+33612345678' }, /a phone/],
    [{ firstName: 'Ada', lastName: 'Moreau', domain: 'acme.example' }, /a name and a domain/],
    [{ firstName: 'Ada', lastName: 'Moreau', company: 'Acme' }, /a name and a company/],
  ])('names what the person is found by: %j', (identity, words) => {
    expect(why(identity, {})).toMatch(words)
  })
})
