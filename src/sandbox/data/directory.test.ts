import { parsePhoneNumberFromString } from 'libphonenumber-js/max'
import { describe, expect, test } from 'vitest'
import { personSchema } from '../../service/schema/person.ts'
import { contactAnswer, searchIdOf, slugOfSearchId } from './contact-answer.ts'
import { contactSchema } from '../../service/schema/contact.ts'
import { searchContact } from './contact-search.ts'
import { contactsOf, personUrl, slugOfEmail, slugOfPhone } from './contacts.ts'
import { DIRECTORY_SIZE, member, memberOfSlug } from './directory.ts'
import { companyByDomain } from './company-by-domain.ts'
import { personAnswer } from './person.ts'

// Every seventh member: all names and several namesakes of each are among them.
const members = Array.from({ length: Math.floor(DIRECTORY_SIZE / 7) }, (_, index) => member(index * 7))

describe('the directory', () => {
  test('finds each member by slug, e-mail or phone alone', () => {
    expect(new Set(members.map(({ slug }) => slug)).size).toBe(members.length)
    for (const { slug, index } of members) {
      expect(memberOfSlug(slug)?.index).toBe(index)
      expect(slugOfSearchId(searchIdOf(slug))).toBe(slug)
      const { emails, phones } = contactsOf(slug)
      for (const { value } of emails) expect(slugOfEmail(value)).toBe(slug)
      for (const { value } of phones) {
        expect(slugOfPhone(value.slice(1))).toBe(slug)
        expect(parsePhoneNumberFromString(value)?.isValid()).toBe(true)
      }
    }
  })

  test('has one in ten members unknown to the service, and one in ten without e-mail and phone', () => {
    const unknown = members.filter((each) => each.unknown)
    expect(unknown.length / members.length).toBeGreaterThan(0.07)
    expect(unknown.length / members.length).toBeLessThan(0.13)
    for (const { slug } of unknown) {
      expect(personAnswer(personUrl(slug)).data).toBeNull()
      expect(contactsOf(slug)).toEqual({ emails: [], phones: [] })
    }
    const known = members.filter((each) => !each.unknown).map(({ slug }) => contactsOf(slug))
    const bare = known.filter(({ emails, phones }) => emails.length + phones.length === 0)
    expect(bare.length / known.length).toBeGreaterThan(0.07)
    expect(bare.length / known.length).toBeLessThan(0.17)
    expect(known.some(({ emails }) => emails.length > 2)).toBe(true)
    expect(
      known.some(({ emails: [first, second] }) => first?.status === null && second?.status === 'Verified'),
    ).toBe(true)
    expect(
      known.some(({ phones: [first, second] }) => first?.type === 'landline' && second?.type === 'mobile'),
    ).toBe(true)
  })

  test('has a profile for every known member, at the company of the directory', () => {
    for (const each of members.filter(({ unknown }) => !unknown).slice(0, 100)) {
      const data = personSchema.parse(personAnswer(personUrl(each.slug)).data)
      expect(data.name).toBe(`${each.firstName} ${each.lastName}`)
      expect(data.company?.profnet_name).toBe(each.employer.slug)
      expect(companyByDomain(each.employer.domain).data?.domain).toBe(each.employer.domain)
      const found = searchContact(
        {
          first_name: each.firstName.toUpperCase(),
          last_name: each.lastName,
          company: `${each.employer.name} Ltd.`,
        },
        false,
      )
      expect(found?.slug).toBe(each.slug)
      contactSchema.parse(contactAnswer(found!, { index: 0, isDuplicate: false }))
    }
  })

  test('is found by names in Latin letters too, and not by half a name', () => {
    const each = members.find(({ unknown, firstName }) => !unknown && firstName === '愛子')!
    const [latin = ''] = each.slug.split('-')
    const { domain } = each.employer
    expect(searchContact({ first_name: latin, last_name: each.lastName, domain }, false)?.slug).toBe(
      each.slug,
    )
    expect(searchContact({ first_name: latin, domain }, false)).toBeNull()
    expect(searchContact({ first_name: latin, last_name: 'Nobody', domain }, false)).toBeNull()
  })
})

test('records outside the directory find a person too, the same one by e-mail and by name with the domain', () => {
  const first = ['ada', 'bo', 'cy', 'dee', 'eve'].map((name) => {
    const byEmail = searchContact({ email: `${name}.young@customer.com` }, false)
    const byName = searchContact({ first_name: name, last_name: 'Young', domain: 'www.customer.com' }, false)
    expect(byName?.slug).toBe(byEmail?.slug)
    return byEmail
  })
  expect(first.filter((each) => each !== null).length).toBeGreaterThan(2)
})
