import { expect, test } from 'vitest'
import type { LookupKey } from '../keys.ts'
import type { Identity } from '../record.ts'
import { namesAnotherSubject, type NamedBy } from './another-subject.ts'

const acme = 'https://www.profnet.com/company/acme'
const ann = 'https://www.profnet.com/in/ann'

type Case = Partial<NamedBy> & { asked: Identity; now: Identity; first: string }
const isAnother = ({ first, ...by }: Case): boolean =>
  namesAnotherSubject({ object: 'person', steps: [first as LookupKey], known: [], ...by })

const company = { object: 'company', first: 'company.profile|profnet.com/company/acme' } as const
const byDomain = { object: 'company', first: 'company.lookup|acme.com' } as const
const byMail = { first: 'contact.lookup|email:ann@acme.com' } as const
const byPhone = { first: 'contact.lookup|phone:+493012345678' } as const
const byName = { first: 'contact.lookup|name_domain:ann lee@acme.com' } as const
const asUrl = (now: string): Pick<Case, 'asked' | 'now'> => ({
  asked: { profileUrl: acme },
  now: { profileUrl: now },
})
const asMail = (now: Identity): Pick<Case, 'asked' | 'now'> => ({ asked: { email: 'ann@acme.com' }, now })

test.each<[string, Case]>([
  ['another profile', { ...company, ...asUrl('https://www.profnet.com/company/other') }],
  [
    'another domain',
    { ...byDomain, asked: { domain: 'acme.com' }, now: { domain: 'https://www.other.com/about' } },
  ],
  [
    'another page of a company',
    {
      object: 'company',
      first: 'company.lookup|tiktok_url:tiktok.com/@acme',
      asked: { tiktokUrl: 'https://www.tiktok.com/@acme' },
      now: { tiktokUrl: 'https://www.tiktok.com/@other' },
    },
  ],
  [
    'another domain, where it was that of an e-mail',
    { ...byDomain, asked: { email: 'info@acme.com' }, now: { domain: 'other.com' } },
  ],
  ['another e-mail', { ...byMail, ...asMail({ email: 'bob@acme.com' }) }],
  [
    'another e-mail under a similarity search',
    {
      ...asMail({ email: 'bob@acme.com' }),
      first: 'contact.lookup|email:ann@acme.com|name_company:ann lee@acme',
    },
  ],
  [
    'another phone',
    { ...byPhone, asked: { phone: '030 12345678' }, now: { phone: '030 87654321' }, country: 'DE' },
  ],
  [
    'another name',
    {
      ...byName,
      asked: { firstName: 'Ann', lastName: 'Lee', domain: 'acme.com' },
      now: { firstName: 'Bob', lastName: 'Lee', domain: 'acme.com' },
    },
  ],
  [
    'the profile of someone else beside the same e-mail',
    {
      ...byMail,
      ...asMail({ email: 'ann@acme.com', profileUrl: 'https://www.profnet.com/in/bob' }),
      known: [{ field: 'profnet_url', value: ann }],
    },
  ],
  [
    'the profile of someone else than an earlier step found',
    {
      ...asMail({ email: 'ann@acme.com', profileUrl: 'https://www.profnet.com/in/bob' }),
      first: '',
      steps: ['contact.lookup|email:ann@acme.com', 'person.profile|profnet.com/in/ann'] as LookupKey[],
    },
  ],
])('%s is another subject', (_, by) => expect(isAnother(by)).toBe(true))

test.each<[string, Case]>([
  ['nothing changed', { ...company, ...asUrl(acme) }],
  [
    'another spelling of the profile',
    { ...company, ...asUrl(' http://DE.profnet.com/company/Acme/about?x=1 ') },
  ],
  [
    'the same profile on another host of the network',
    {
      ...company,
      ...asUrl('https://guild.example/company/acme'),
      hosts: ['guild.example', 'profnet.com'],
    },
  ],
  ['a profile that was removed', { ...company, asked: { profileUrl: acme }, now: {} }],
  ['a profile that names nothing', { ...company, ...asUrl('n/a') }],
  [
    'another domain and name beside the same profile',
    {
      ...company,
      asked: { profileUrl: acme, domain: 'acme.com', company: 'Acme' },
      now: { profileUrl: acme, domain: 'other.com', company: 'Other' },
    },
  ],
  [
    'a profile that we wrote, or that the answer tells',
    {
      ...company,
      ...asUrl('https://www.profnet.com/company/acme-inc'),
      known: [{ field: 'profnet_url', value: 'https://profnet.com/company/acme-inc/' }],
    },
  ],
  [
    'another spelling of the domain',
    { ...byDomain, asked: { domain: 'www.acme.com' }, now: { domain: 'https://shop.ACME.com/de' } },
  ],
  [
    'a domain that we wrote as a website',
    {
      ...byDomain,
      asked: { domain: 'acme.com' },
      now: { domain: 'acme.example' },
      known: [{ field: 'website', value: 'https://www.acme.example/start' }],
    },
  ],
  ['another spelling of the e-mail', { ...byMail, ...asMail({ email: 'Ann <ANN@acme.com>' }) }],
  [
    'an e-mail of ours',
    {
      ...byMail,
      ...asMail({ email: 'ann@acme.example' }),
      known: [{ field: 'email', value: 'ann@acme.example' }],
    },
  ],
  [
    'another spelling of the phone',
    { ...byPhone, asked: { phone: '030 12345678' }, now: { phone: '+49 (30) 12345678' }, country: 'DE' },
  ],
  [
    'a profile that was entered, of which the answers say nothing',
    { ...byMail, ...asMail({ email: 'ann@acme.com', profileUrl: ann }) },
  ],
  [
    'the profile of the answer',
    {
      ...byMail,
      ...asMail({ email: 'ann@acme.com', profileUrl: 'profnet.com/in/ann' }),
      known: [{ field: 'profnet_url', value: ann }],
    },
  ],
  [
    'another spelling of the name, and another employer',
    {
      ...byName,
      asked: { firstName: 'Ann', lastName: 'Lee', domain: 'acme.com', company: 'Acme' },
      now: { firstName: 'ANN', lastName: 'Leé', domain: 'acme.com', company: 'Other' },
    },
  ],
  ['a task without lookups', { asked: { profileUrl: acme }, now: { profileUrl: ann }, first: '', steps: [] }],
])('%s is the same subject', (_, by) => expect(isAnother(by)).toBe(false))
