import { describe, expect, test } from 'vitest'
import { lookupKey } from '../../src/domain/keys.ts'
import { openHouse } from '../support/house.ts'
import { contactTypes } from '../../src/service/schema/contact.ts'
import { prepareBatch } from '../../src/service/batch.ts'
import type { Operation } from '../../src/domain/words.ts'
import type { Fact } from '../../src/domain/record.ts'
import { searchIdOf } from '../../src/sandbox/data/contact-answer.ts'
import { contactsOf } from '../../src/sandbox/data/contacts.ts'
import { PRICE, useSandbox } from './sandbox-fixture.ts'
import { workEmail, withAll, known, atDomain, atCompany, cost } from './sandbox-contacts.fixture.ts'

const world = useSandbox()
const single = () => `${world.sandbox.serviceUrl}/redeem/people/contact/lookup`
const bulk = () => `${single()}/batch`

describe.each(['x402', 'mpp'] as const)('our own client and payer, by %s', (protocol) => {
  test('buy a contact and its redemption, each for the price of its own challenge', async () => {
    world.sandbox.faults.set({ challengeProtocols: protocol })
    const house = await openHouse(world.sandbox, {
      env: { PAYDIRT_MAX_PRICE_USD: '1', PAYDIRT_BUDGET_RUN_USD: '5' },
      config: { payment: { protocols: [protocol] } },
    })
    try {
      const { context } = house
      const { payer, prepare } = await context.openEngine()
      const { run } = await context.runs.open({
        id: `run-${protocol}`,
        connector: 'csv',
        object: 'person',
        entity: 'person',
        recipe: 'contact',
        trigger: 'csv',
        fingerprint: protocol,
        source: {},
      })
      const typesOf = ({ people_contact_types: types }: Record<string, unknown>) =>
        Array.isArray(types) ? (types as string[]) : ['']
      const buy = async (operation: Operation, request: Record<string, unknown>): Promise<Fact> => {
        const prepared = prepare(operation, request as never)
        const key = lookupKey(operation, prepared.body)
        const wanted = { key, operation, request: JSON.parse(prepared.body) as never }
        await context.lookups.want([wanted], { id: run.id, connector: 'csv', hot: false })
        return payer.buy({
          key,
          // A redemption of several types is what each of them alone would be.
          buys: typesOf(request).map((type) => lookupKey(operation, `${prepared.body}|${type}`)),
          runId: run.id,
          connector: 'csv',
          lane: 'hot',
          request: prepared,
        })
      }
      const contact = await buy('contact.lookup', { email: workEmail(withAll) })
      expect(contact).toMatchObject({
        outcome: 'found',
        data: { people_search_id: searchIdOf(withAll.slug) },
      })
      const person = { people_search_id: contact.data?.['people_search_id'] }
      const phones = await buy('contact.redeem', { ...person, people_contact_types: ['phone'] })
      expect(phones.data).toMatchObject({
        phones: contactsOf(withAll.slug).phones,
        revealed: { emails: 'not_asked' },
      })
      // Dearer than the one before: its terms are not those that were remembered for phones alone.
      const all = await buy('contact.redeem', { ...person, people_contact_types: contactTypes })
      expect(all.outcome).toBe('found')
      expect((await house.transfers()).map(({ amountAtomic }) => amountAtomic)).toEqual([
        PRICE,
        30n * PRICE,
        60n * PRICE,
      ])
    } finally {
      await house.close()
    }
  })
})

describe('a bulk request of the client', () => {
  test('serves every lookup once, the duplicates too, and names what it leaves out', async () => {
    const buyer = await world.funded()
    const [one, two] = [known(800), known(900)]
    const requests = [
      atDomain(one),
      { first_name: 'Maria' },
      { ...atDomain(one), domain: `https://www.${one.employer.domain}/` },
      { email: 'nobody.at.all@nowhere.example' },
      atCompany(two),
      // Another spelling for us, the same input for the service: it is flagged, and has the fact of the first.
      { ...atCompany(two), company: `${two.employer.name}, Inc.` },
    ]
    const prepared = prepareBatch(world.sandbox.serviceUrl, 'contact.lookup', requests)
    expect(prepared.sent).toEqual([[0, 2], [3], [4], [5]])
    expect(prepared.skipped.map(({ index }) => index)).toEqual([1])
    const { reply } = await buyer.buy(prepared.url, prepared.body)
    expect(cost(reply)).toBe(2)
    const facts = prepared.decode(JSON.stringify(reply.body))
    const ids = [0, 2, 4, 5].map((index) => facts.get(index)?.data?.['people_search_id'])
    expect(ids).toEqual([one, one, two, two].map(({ slug }) => searchIdOf(slug)))
    expect(facts.get(3)).toEqual({ outcome: 'not_found', data: null })
    expect(facts.has(1)).toBe(false)
    expect(prepared.endpoint).toBe(`POST ${bulk()} (4 entries)`)
    expect((await buyer.transfers()).map(({ amountAtomic }) => amountAtomic)).toEqual([4n * PRICE])
  })
})
