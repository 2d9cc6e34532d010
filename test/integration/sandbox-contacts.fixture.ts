import { expect } from 'vitest'
import { API_KEY, API_KEY_HEADER } from '../../src/sandbox/accounts.ts'
import { creditsOf } from '../../src/service/schema/metadata.ts'
import { contactsOf, type Contacts } from '../../src/sandbox/data/contacts.ts'
import { DIRECTORY_SIZE, member, type Member } from '../../src/sandbox/data/directory.ts'
import { useSandbox } from './sandbox-fixture.ts'
import type { Reply } from './x402-buyer.ts'

/** The first member of the directory of whom something is true. */
export function someMember(is: (member: Member, contacts: Contacts) => boolean, from = 0): Member {
  for (let index = from; index < DIRECTORY_SIZE; index++) {
    const each = member(index)
    if (is(each, contactsOf(each.slug))) return each
  }
  throw new Error('nobody')
}

export const workEmail = ({ slug }: Member) =>
  contactsOf(slug).emails.find(({ type }) => type === 'work')!.value
export const withEmail = someMember((_, { emails }) => emails.some(({ type }) => type === 'work'))
export const withPhone = someMember((_, { phones }) => phones.length > 0)

export const withAll = someMember(
  (_, { emails, phones }) => phones.length > 1 && new Set(emails.map(({ type }) => type)).size === 2,
)

export const withNothing = someMember(
  ({ unknown }, { emails, phones }) => !unknown && emails.length + phones.length === 0,
)

export const known = (from: number) => someMember(({ unknown }) => !unknown, from)
export const stranger = someMember(({ unknown }) => unknown)
export const named = ({ firstName, lastName }: Member) => ({ first_name: firstName, last_name: lastName })
export const atDomain = (each: Member) => ({ ...named(each), domain: each.employer.domain })
export const atCompany = (each: Member) => ({ ...named(each), company: each.employer.name })

export interface Matched {
  match: { input_index: number; confidence: string; is_duplicate_input: boolean; input: object }
  people_search_id: string
  profnet_url: string
  name: string
}

export function peoples(reply: Reply): Matched[] {
  expect(reply.status).toBe(200)
  return (reply.body as { data: { peoples: Matched[] } }).data.peoples
}

export const cost = (reply: Reply) => creditsOf(reply.body)?.totalCreditCost
export const slugs = (reply: Reply) => peoples(reply).map(({ profnet_url: url }) => url.split('/in/')[1])

/** Opens one sandbox for the tests of the calling file, with the two addresses of contact lookup. */
export function useContacts() {
  const world = useSandbox()
  const direct = { [API_KEY_HEADER]: API_KEY }
  const single = () => `${world.sandbox.serviceUrl}/redeem/people/contact/lookup`
  return {
    world,
    direct,
    single,
    bulk: () => `${single()}/batch`,
    /** Asks by API key: what is tested of the search itself need not be paid for on the chain. */
    ask: async (url: string, body: unknown): Promise<Reply> =>
      (await world.funded(0n)).ask(url, body, direct),
  }
}
