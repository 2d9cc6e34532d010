import { expect, test } from 'vitest'
import { recordIdentities, type RecordIdentity } from './record-identities.ts'

const texts = (identities: readonly RecordIdentity[]) =>
  identities.map(({ kind, value }) => `${kind} ${value}`)

test('a company is named by its profile, ids, registrable domains and folded name', () => {
  const found = recordIdentities({
    object: 'company',
    identity: {
      profileUrl: 'http://DE.profnet.com/company/Acme/about?x=1',
      domain: 'https://shop.ACME.co.uk/de',
      companyId: ' 4711 ',
      company: 'ACME Robotics, Inc.',
    },
    values: { website: 'www.acme.example' },
  })
  expect(texts(found)).toEqual([
    'profile company/acme',
    'service_id domain_search_id:4711',
    'domain acme.co.uk',
    'domain acme.example',
    'name_domain acme robotics@acme.co.uk',
    'name_domain acme robotics@acme.example',
    'name acme robotics',
  ])
})

test('a person has no domain, because colleagues share it', () => {
  const found = recordIdentities(
    {
      object: 'person',
      identity: { email: 'Ann <ANN@Acme.com>', phone: '030 12345678', firstName: 'Ann', lastName: 'Leé' },
      values: { email_personal: 'ann@gmail.com', company_domain: 'acme.com' },
    },
    { country: 'DE' },
  )
  expect(texts(found)).toEqual([
    'email ann@acme.com',
    'email ann@gmail.com',
    'phone +493012345678',
    'phone_name +493012345678|lee',
    'name_domain ann lee@acme.com',
    'name ann lee',
  ])
})

test.each([
  ['a mailbox provider', { object: 'company', identity: { domain: 'gmail.com' } }],
  ['values that cannot be read', { object: 'company', identity: { domain: 'n/a', profileUrl: '-' } }],
  ['a first name alone', { object: 'person', identity: { firstName: 'Ann' } }],
] as const)('%s names nothing', (_, record) => expect(recordIdentities(record)).toEqual([]))

test('a profile is the same on every host of the network', () => {
  const under = (url: string) =>
    recordIdentities(
      { object: 'person', identity: { profileUrl: url } },
      { hosts: ['profnet.com', 'guild.example'] },
    )
  expect(under('https://www.guild.example/in/ann')).toEqual(under('profnet.com/in/Ann/'))
})
