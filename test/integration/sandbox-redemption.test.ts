import { describe, expect, test } from 'vitest'
import { contactTypes } from '../../src/service/schema/contact.ts'
import { creditsOf } from '../../src/service/schema/metadata.ts'
import { prepareBatch, prepareQuery, resumeBatch } from '../../src/service/batch.ts'
import { prepareRequest } from '../../src/service/client.ts'
import type { Operation } from '../../src/domain/words.ts'
import type { Fact } from '../../src/domain/record.ts'
import { API_KEY, API_KEY_HEADER } from '../../src/sandbox/accounts.ts'
import { searchIdOf } from '../../src/sandbox/data/contact-answer.ts'
import { contactsOf, personUrl } from '../../src/sandbox/data/contacts.ts'
import type { Reply } from './x402-buyer.ts'
import { company, PRICE, useSandbox } from './sandbox-fixture.ts'
import {
  workEmail,
  withEmail,
  withAll,
  withNothing,
  known,
  atDomain,
  peoples,
  cost,
} from './sandbox-contacts.fixture.ts'

const world = useSandbox()
const direct = { [API_KEY_HEADER]: API_KEY }
const single = () => `${world.sandbox.serviceUrl}/redeem/people/contact/lookup`

/** Asks by API key: what is tested of the search itself need not be paid for on the chain. */
async function ask(url: string, body: unknown): Promise<Reply> {
  return (await world.funded(0n)).ask(url, body, direct)
}

describe('redemption', () => {
  const url = () => `${world.sandbox.serviceUrl}/redeem/people`

  test('gives the types that are asked for, absent what is not, and null for nothing found', async () => {
    const buyer = await world.funded(1_000n * PRICE)
    const { emails, phones } = contactsOf(withAll.slug)
    const id = searchIdOf(withAll.slug)
    const work = await buyer.buy(url(), { people_search_id: id, people_contact_types: ['email-work'] })
    expect(peoples(work.reply)).toEqual([
      expect.objectContaining({ people_search_id: id, emails: emails.filter(({ type }) => type === 'work') }),
    ])
    expect(peoples(work.reply)[0]).not.toHaveProperty('phones')
    expect(work.reply.body).toMatchObject({ data: { profile: { total_credit_cost: 15 } } })

    const all = await buyer.buy(url(), {
      profnet_url: personUrl(withAll.slug),
      people_contact_types: contactTypes,
    })
    expect(peoples(all.reply)[0]).toMatchObject({ emails, phones })
    expect(cost(all.reply)).toBe(60)

    const none = await buyer.buy(url(), {
      profnet_url: personUrl(withNothing.slug),
      people_contact_types: contactTypes,
    })
    expect(peoples(none.reply)[0]).toMatchObject({ emails: null, phones: null })
    expect(cost(none.reply)).toBe(0)
    expect((await buyer.transfers()).map(({ amountAtomic }) => amountAtomic)).toEqual([
      15n * PRICE,
      60n * PRICE,
      60n * PRICE,
    ])
  })

  test('answers an unknown type with success, null and no cost, and it is refused here before it is sent', async () => {
    const reply = await ask(url(), {
      people_search_id: searchIdOf(withAll.slug),
      people_contact_types: ['work_email'],
    })
    expect(peoples(reply)[0]).toMatchObject({ emails: null })
    expect(cost(reply)).toBe(0)
    expect(() =>
      prepareRequest(world.sandbox.serviceUrl, 'contact.redeem', {
        people_search_id: searchIdOf(withAll.slug),
        people_contact_types: ['work_email'],
      }),
    ).toThrow(/people_contact_types/)
  })

  test('in a batch is started, asked for until it is complete, and read again after a restart', async () => {
    const buyer = await world.funded(1_000n * PRICE)
    const people = [withAll, withNothing, withEmail]
    const prepared = prepareBatch(
      world.sandbox.serviceUrl,
      'contact.redeem',
      [...people, withAll].map(({ slug }) => ({
        people_search_id: searchIdOf(slug),
        people_contact_types: ['email-work'],
      })),
    )
    const { reply } = await buyer.buy(prepared.url, prepared.body)
    expect((await buyer.transfers()).map(({ amountAtomic }) => amountAtomic)).toEqual([45n * PRICE])
    const started = prepared.started?.(JSON.stringify(reply.body))
    expect(started).toMatchObject({ isCompleted: false, estimatedMs: 1_000 })

    const query = prepareQuery(world.sandbox.serviceUrl, 'contact.redeem', started!.queryId)
    const early = await buyer.ask(query.url, query.body)
    expect(prepared.started?.(JSON.stringify(early.body))?.isCompleted).toBe(false)
    const late = await buyer.ask(query.url, query.body)
    expect(prepared.started?.(JSON.stringify(late.body))?.isCompleted).toBe(true)

    const facts = prepared.decode(JSON.stringify(late.body))
    expect([...facts.keys()].sort()).toEqual([0, 1, 2, 3])
    expect(facts.get(0)?.data?.['emails']).toEqual(
      contactsOf(withAll.slug)
        .emails.filter(({ type }) => type === 'work')
        .map((email) => ({ ...email, type: 'email-work' })),
    )
    expect(facts.get(3)).toEqual(facts.get(0))
    expect(facts.get(1)).toMatchObject({
      outcome: 'not_found',
      data: { revealed: { emails: 'nothing_found', phones: 'not_asked' } },
    })
    const resumed = resumeBatch(world.sandbox.serviceUrl, 'contact.redeem', prepared.request)
    expect(resumed.decode(JSON.stringify(late.body)).get(2)).toEqual(facts.get(2))
    expect(resumed.body).toBe(prepared.body)
    expect(creditsOf(late.body)?.totalCreditCost).toBe(30)
    expect((await buyer.transfers()).length).toBe(1)
  })

  test('tells null from an empty list', async () => {
    world.sandbox.faults.set({ nothingAsEmptyList: true })
    const request = prepareRequest(world.sandbox.serviceUrl, 'contact.redeem', {
      profnet_url: personUrl(withNothing.slug),
      people_contact_types: ['phone', 'email-work'],
    })
    const reply = await ask(request.url, request.body)
    expect(request.decode(JSON.stringify(reply.body))).toMatchObject({
      outcome: 'not_found',
      data: { revealed: { emails: 'empty', phones: 'empty' } },
    })
  })
})

describe('direct access', () => {
  test('takes credits for what was found, and Profile and Profile Usage tell the same', async () => {
    const before = world.sandbox.account(API_KEY)!
    const facts: Fact[] = []
    const send = async (operation: Operation, request: Record<string, unknown>) => {
      const prepared = prepareRequest(world.sandbox.serviceUrl, operation, request)
      const reply = await ask(prepared.url, prepared.body)
      expect(reply.status).toBe(200)
      facts.push(prepared.decode(JSON.stringify(reply.body)))
      return reply
    }
    expect(cost(await send('contact.lookup', { email: workEmail(withEmail) }))).toBe(1)
    expect(cost(await send('contact.lookup', { email: 'nobody.at.all@nowhere.example' }))).toBe(0)
    const both = { profnet_url: personUrl(withAll.slug), people_contact_types: ['phone', 'email-work'] }
    expect(cost(await send('contact.redeem', both))).toBe(45)
    await send('company.profile', company('amber-analytics'))
    expect(cost(await send('company.lookup', { domain: withEmail.employer.domain }))).toBe(1)
    expect(cost(await send('company.enrich', { domain: withEmail.employer.domain }))).toBe(5)
    expect(facts.map(({ outcome }) => outcome)).toEqual([
      'found',
      'not_found',
      'found',
      'found',
      'found',
      'found',
    ])
    const after = world.sandbox.account(API_KEY)!
    expect(after.spent - before.spent).toBe(53)
    expect(before.credit + before.topupCredit - after.credit - after.topupCredit).toBe(53)

    await send('account.profile', {})
    expect(facts.at(-1)).toMatchObject({
      outcome: 'found',
      data: { credit: after.credit, topup_credit: after.topupCredit, max_search_per_page: 25 },
    })
    const usage = prepareRequest(world.sandbox.serviceUrl, 'account.usage', {})
    const told = usage.decode(JSON.stringify((await ask(usage.url, usage.body)).body))
    expect(told.data).toMatchObject({ credit: after.credit, total_credit_used: after.spent })
  })

  test('is refused without a known key, and when the credits would not cover it', async () => {
    const buyer = await world.funded(0n)
    const wrong = { [API_KEY_HEADER]: 'no-such-key' }
    expect((await buyer.ask(single(), atDomain(withEmail), wrong)).status).toBe(401)
    expect((await buyer.ask(`${world.sandbox.serviceUrl}/profile`, {})).status).toBe(401)
    world.sandbox.faults.set({ prices: { contact: 1_000_000 } })
    const poor = await ask(single(), atDomain(withEmail))
    expect(poor).toMatchObject({ status: 416, body: { code: 41691 } })
  })

  test('counts an answer that was taken and lost', async () => {
    world.sandbox.faults.set({ dropAfterSettlement: { next: 1 } })
    const before = world.sandbox.account(API_KEY)!.spent
    await expect(ask(single(), atDomain(known(40)))).rejects.toThrow('fetch failed')
    expect(world.sandbox.account(API_KEY)!.spent).toBe(before + 1)
  })
})
