import { describe, expect, test } from 'vitest'
import { createTransport } from '../../src/service/transport.ts'
import type { ServiceRequest } from '../../src/domain/ports/transport.ts'
import { startSandbox } from '../../src/sandbox/sandbox.ts'
import { lookupKey } from '../../src/domain/keys.ts'
import { openHouse } from '../support/house.ts'
import { contactTypes } from '../../src/service/schema/contact.ts'
import { creditsOf, warningsOf } from '../../src/service/schema/metadata.ts'
import { prepareBatch, prepareQuery, resumeBatch } from '../../src/service/batch.ts'
import { prepareRequest, prepareUsage } from '../../src/service/client.ts'
import type { Operation } from '../../src/domain/words.ts'
import type { Fact } from '../../src/domain/record.ts'
import { API_KEY, API_KEY_HEADER } from '../../src/sandbox/accounts.ts'
import { searchIdOf } from '../../src/sandbox/data/contact-answer.ts'
import { companyByDomain } from '../../src/sandbox/data/company-by-domain.ts'
import { contactsOf, personUrl, type Contacts } from '../../src/sandbox/data/contacts.ts'
import { DIRECTORY_SIZE, employersAt, member, type Member } from '../../src/sandbox/data/directory.ts'
import { personAnswer } from '../../src/sandbox/data/person.ts'
import type { Reply } from './x402-buyer.ts'
import { company, PRICE, useSandbox } from './sandbox-fixture.ts'

const world = useSandbox()
const direct = { [API_KEY_HEADER]: API_KEY }
const single = () => `${world.sandbox.serviceUrl}/redeem/people/contact/lookup`
const bulk = () => `${single()}/batch`

/** The first member of the directory of whom something is true. */
function someMember(is: (member: Member, contacts: Contacts) => boolean, from = 0): Member {
  for (let index = from; index < DIRECTORY_SIZE; index++) {
    const each = member(index)
    if (is(each, contactsOf(each.slug))) return each
  }
  throw new Error('nobody')
}

const workEmail = ({ slug }: Member) => contactsOf(slug).emails.find(({ type }) => type === 'work')!.value
const withEmail = someMember((_, { emails }) => emails.some(({ type }) => type === 'work'))
const withPhone = someMember((_, { phones }) => phones.length > 0)
const withAll = someMember(
  (_, { emails, phones }) => phones.length > 1 && new Set(emails.map(({ type }) => type)).size === 2,
)
const withNothing = someMember(
  ({ unknown }, { emails, phones }) => !unknown && emails.length + phones.length === 0,
)
const known = (from: number) => someMember(({ unknown }) => !unknown, from)
const stranger = someMember(({ unknown }) => unknown)

const named = ({ firstName, lastName }: Member) => ({ first_name: firstName, last_name: lastName })
const atDomain = (each: Member) => ({ ...named(each), domain: each.employer.domain })
const atCompany = (each: Member) => ({ ...named(each), company: each.employer.name })

interface Matched {
  match: { input_index: number; confidence: string; is_duplicate_input: boolean; input: object }
  people_search_id: string
  profnet_url: string
  name: string
}

function peoples(reply: Reply): Matched[] {
  expect(reply.status).toBe(200)
  return (reply.body as { data: { peoples: Matched[] } }).data.peoples
}

const cost = (reply: Reply) => creditsOf(reply.body)?.totalCreditCost
const slugs = (reply: Reply) => peoples(reply).map(({ profnet_url: url }) => url.split('/in/')[1])

/** Asks by API key: what is tested of the search itself need not be paid for on the chain. */
async function ask(url: string, body: unknown): Promise<Reply> {
  return (await world.funded(0n)).ask(url, body, direct)
}

describe('the seven rules of contact lookup, each paid for with the official client', () => {
  test('1: an entry with neither e-mail nor phone is searched by name, without a switch', async () => {
    const buyer = await world.funded()
    for (const [entry, confidence] of [
      [atDomain(withPhone), 'similarity_domain'],
      [atCompany(withPhone), 'similarity_company'],
    ] as const) {
      const { reply } = await buyer.buy(single(), entry)
      expect(slugs(reply)).toEqual([withPhone.slug])
      expect(peoples(reply)[0]?.match).toMatchObject({
        input_index: 0,
        confidence,
        is_duplicate_input: false,
      })
      expect(cost(reply)).toBe(1)
    }
    const off = await buyer.buy(single(), { ...atDomain(withPhone), is_enable_similarity_search: false })
    expect(slugs(off.reply)).toEqual([withPhone.slug])
    expect((await buyer.transfers()).map(({ amountAtomic }) => amountAtomic)).toEqual([PRICE, PRICE, PRICE])
  })

  test('2: the switch decides only whether an entry whose e-mail or phone finds nobody is searched by name', async () => {
    const buyer = await world.funded()
    const wrong = { ...atDomain(withEmail), email: 'nobody.at.all@nowhere.example' }
    const off = await buyer.buy(single(), wrong)
    expect(peoples(off.reply)).toEqual([])
    expect(cost(off.reply)).toBe(0)
    const on = await buyer.buy(single(), { ...wrong, is_enable_similarity_search: true })
    expect(slugs(on.reply)).toEqual([withEmail.slug])
    expect(peoples(on.reply)[0]?.match.confidence).toBe('similarity_domain')
    const other = known(200)
    const right = { ...atDomain(other), email: workEmail(withEmail), is_enable_similarity_search: true }
    const exact = await buyer.buy(single(), right)
    expect(slugs(exact.reply)).toEqual([withEmail.slug])
    expect(peoples(exact.reply)[0]?.match.confidence).toBe('exact')
  })

  test('3: a website address is read as its bare domain', async () => {
    const buyer = await world.funded()
    const { domain } = withPhone.employer
    for (const website of [
      `https://www.${domain}/team?x=1`,
      `WWW.${domain.toUpperCase()}`,
      `http://${domain}:80`,
    ]) {
      const { reply } = await buyer.buy(single(), { ...named(withPhone), domain: website })
      expect(slugs(reply)).toEqual([withPhone.slug])
    }
  })

  test('4: a bulk request in which no entry is searchable is refused with 400, as the single lookup is', async () => {
    const buyer = await world.funded()
    const nothing = [{}, { first_name: 'Maria', domain: 'a.example' }, named(withPhone), { email: ' ' }]
    for (const entry of nothing) {
      const { reply } = await buyer.buy(single(), entry)
      expect(reply).toMatchObject({ status: 400, body: { code: 41847, details: {} } })
    }
    const { reply } = await buyer.buy(bulk(), { peoples: nothing })
    expect(reply).toMatchObject({ status: 400, body: { code: 41847 } })
    expect(await buyer.transfers()).toEqual([])

    const mixed = await buyer.buy(bulk(), { peoples: [...nothing, atDomain(withPhone)] })
    expect(peoples(mixed.reply).map(({ match }) => match.input_index)).toEqual([4])
  })

  test('5: what is sent twice in one bulk request is flagged and charged once, by name, e-mail or phone', async () => {
    const buyer = await world.funded()
    const [email, phone] = [workEmail(withEmail), contactsOf(withPhone.slug).phones[0]!.value]
    const named = known(300)
    const entries = [
      { email },
      { email: ` ${email.toUpperCase()} ` },
      { phone },
      { phone: phone.replace('+', '00').replace(/(\d{4})/, '$1 ') },
      atCompany(named),
      { ...atCompany(named), company: `${named.employer.name.toUpperCase()} GmbH` },
      { email: 'nobody.at.all@nowhere.example' },
      { email: 'nobody.at.all@nowhere.example' },
    ]
    const { reply } = await buyer.buy(bulk(), { peoples: entries })
    const flags = new Map(peoples(reply).map(({ match }) => [match.input_index, match.is_duplicate_input]))
    expect([...flags].sort(([one], [other]) => one - other)).toEqual([
      [0, false],
      [1, true],
      [2, false],
      [3, true],
      [4, false],
      [5, true],
    ])
    expect(cost(reply)).toBe(3)
    // The chain moves the ceiling that the challenge names; the credit block has the truth.
    expect((await buyer.transfers()).map(({ amountAtomic }) => amountAtomic)).toEqual([8n * PRICE])
  })

  test('6: each match has the position of the entry that it answers, whatever order they come in', async () => {
    const buyer = await world.funded()
    const people = [known(400), stranger, known(500), known(600), known(700)]
    const { reply } = await buyer.buy(bulk(), { peoples: people.map(atDomain) })
    const indexes = peoples(reply).map(({ match }) => match.input_index)
    expect(indexes).toHaveLength(4)
    expect(indexes).not.toEqual([...indexes].sort((one, other) => one - other))
    for (const { match, profnet_url: url } of peoples(reply)) {
      expect(url.split('/in/')[1]).toBe(people[match.input_index]?.slug)
    }
    expect(cost(reply)).toBe(4)
  })

  test('7: a name is searched for at all company records with the domain', async () => {
    const buyer = await world.funded()
    const second = someMember(({ employer, unknown }) => !unknown && employer.slug.endsWith('-holding'))
    const records = employersAt(second.employer.domain)
    expect(records.map(({ slug }) => slug)).toEqual([
      second.employer.slug.replace('-holding', ''),
      second.employer.slug,
    ])
    const first = someMember(({ employer, unknown }) => !unknown && employer.slug === records[0]?.slug)
    for (const each of [first, second]) {
      const { reply } = await buyer.buy(single(), atDomain(each))
      expect(slugs(reply)).toEqual([each.slug])
    }
  })
})

describe('a contact that is found', () => {
  test('is the person of the profile, by every e-mail, phone, domain and company of 150 members', async () => {
    const members = Array.from({ length: 150 }, (_, index) => member(index * 31))
    const asked = members.flatMap((each) => {
      const { emails, phones } = contactsOf(each.slug)
      const entries = [
        ...emails.map(({ value }) => ({ email: value })),
        ...phones.map(({ value }) => ({ phone: value })),
        atDomain(each),
        atCompany(each),
      ]
      return entries.map((entry) => ({ entry, member: each }))
    })
    let unknown = 0
    for (let from = 0; from < asked.length; from += 100) {
      const page = asked.slice(from, from + 100)
      const found = new Map(
        peoples(await ask(bulk(), { peoples: page.map(({ entry }) => entry) })).map((each) => [
          each.match.input_index,
          each,
        ]),
      )
      for (const [index, { member: each }] of page.entries()) {
        const profile = personAnswer(personUrl(each.slug)).data
        expect(profile === null).toBe(each.unknown)
        if (profile === null) unknown += 1
        expect(found.get(index)?.profnet_url).toBe(profile?.profnet_url ?? undefined)
        expect(found.get(index)?.name).toBe(profile?.name ?? undefined)
      }
    }
    // The unknown ones have nothing but a name, so there are two entries of each.
    expect(unknown).toBeGreaterThan(10)
    expect(unknown).toBeLessThan(60)
  })
})

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
    const resumed = resumeBatch(world.sandbox.serviceUrl, 'contact.redeem', prepared.body)
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
    const usage = prepareUsage(world.sandbox.serviceUrl)
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

describe('people search', () => {
  const url = () => `${world.sandbox.serviceUrl}/people/search`
  const found = async (filters: object) =>
    (await ask(url(), filters)).body as { data: { pagination: Record<string, number>; peoples: Matched[] } }

  test('turns its pages, and answers 416 behind the limits of the plan', async () => {
    const { data } = await found({ departments: ['Sales'], per_page: 10, page: 2 })
    const { data: both } = await found({ departments: ['Sales'], per_page: 20 })
    expect(data.peoples).toEqual(both.peoples.slice(10))
    expect(data.pagination['total_entries']).toBeGreaterThan(400)
    expect(await ask(url(), { per_page: 25 })).toMatchObject({ status: 200 })
    expect(await ask(url(), { per_page: 26 })).toMatchObject({ status: 416, body: { code: 41675 } })
    expect(await ask(url(), { page: 100 })).toMatchObject({ status: 200 })
    expect(await ask(url(), { page: 101 })).toMatchObject({ status: 416, body: { code: 41676 } })
    expect(await ask(url(), { page: 0 })).toMatchObject({ status: 400, body: { code: 40001 } })
  })

  test('reads values without case, spaces and punctuation, a short form as its only entry, and nothing as nobody', async () => {
    const total = async (filters: object) => (await found(filters)).data.pagination['total_entries']
    const human = await total({ departments: ['Human Resources'] })
    expect(human).toBeGreaterThan(400)
    for (const value of ['human-resources', ' HUMANRESOURCES ', 'Resources']) {
      expect(await total({ departments: [value] })).toBe(human)
    }
    // Two entries have the word, so it names neither.
    expect(await total({ departments: ['and'] })).toBe(0)
    expect(await total({ departments: ['Astrology'] })).toBe(0)
    expect(await total({ exclude_departments: ['Astrology'] })).toBe(await total({}))
    const levels = await total({ management_levels: ['c level'] })
    expect(levels).toBeGreaterThan(400)
    expect(await total({ management_levels: ['c level'], domains: ['no-firm.example'] })).toBe(0)
  })

  test('does not refuse an unknown type of contact: no e-mails, and no cost', async () => {
    const reply = await ask(url(), { people_contact_types: ['fax'], per_page: 2 })
    expect(peoples(reply).map((each) => (each as { emails?: unknown }).emails)).toEqual([null, null])
    expect(cost(reply)).toBe(0)
  })
})

describe('a company by its domain', () => {
  test('is the one of the profile, and one that nobody knows is null', async () => {
    const buyer = await world.funded()
    const { domain, slug } = employersAt('amber-analytics.example')[0]!
    const { reply } = await buyer.buy(`${world.sandbox.serviceUrl}/companies/lookup`, {
      domain: `https://www.${domain}`,
    })
    expect((reply.body as { data: unknown }).data).toEqual(world.answerFor(company(slug)).data)
    const missing = await buyer.buy(`${world.sandbox.serviceUrl}/companies/lookup`, {
      domain: 'acme-missing.example',
    })
    expect(missing.reply.body).toMatchObject({ data: null, metadata: { profile: { total_credit_cost: 1 } } })
    expect(companyByDomain('customer-of-ours.com').data?.domain).toBe('customer-of-ours.com')
  })

  test('is enriched with its rows, as late as the switch says', async () => {
    world.sandbox.faults.set({ enrichmentLatency: { minMs: 150, maxMs: 150 } })
    const request = prepareRequest(world.sandbox.serviceUrl, 'company.enrich', {
      domain: 'amber-analytics.example',
    })
    expect(request.timeoutMs).toBe(90_000)
    const buyer = await world.funded()
    const startedAt = performance.now()
    const { reply } = await buyer.buy(request.url, request.body)
    expect(performance.now() - startedAt).toBeGreaterThan(149)
    const fact = request.decode(JSON.stringify(reply.body))
    expect(fact.outcome).toBe('found')
    for (const rows of ['jobs', 'news', 'advertisements', 'similar_companies']) {
      expect(Array.isArray(fact.data?.[rows])).toBe(true)
    }
    expect((await buyer.transfers()).map(({ amountAtomic }) => amountAtomic)).toEqual([5n * PRICE])
  })
})

describe('what the service says of a request', () => {
  test('keys that it does not know are named, and nothing is refused for them', async () => {
    const reply = await ask(bulk(), {
      peoples: [{ ...atDomain(withPhone), nickname: 'x' }],
      profile_id: 7,
    })
    expect(slugs(reply)).toEqual([withPhone.slug])
    expect(warningsOf(reply.body)).toEqual([
      { kind: 'ignored', field: 'profile_id' },
      { kind: 'ignored', field: 'peoples.nickname' },
    ])
  })

  test.each([
    ['no body', single, '[]', 400, 40001],
    ['a number for a name', single, { email: 5 }, 400, 40001],
    [
      'a switch that is no boolean',
      single,
      { email: 'a@b.example', is_enable_similarity_search: 'yes' },
      400,
      40001,
    ],
    ['no peoples', bulk, {}, 400, 41847],
    ['peoples that are no list', bulk, { peoples: 'all' }, 400, 40001],
    [
      'more entries than the limit',
      bulk,
      { peoples: Array.from({ length: 101 }, () => ({ email: 'a@b.example' })) },
      416,
      41675,
    ],
  ])('%s', async (_, url, body, status, code) => {
    expect(await ask(url(), body)).toMatchObject({
      status,
      body: { code, message: expect.any(String), details: {} },
    })
  })

  test('redemptions and companies that name nobody', async () => {
    const { serviceUrl } = world.sandbox
    const types = { people_contact_types: ['phone'] }
    for (const [path, body, code] of [
      ['/redeem/people', types, 41847],
      ['/redeem/people', { people_search_id: 'x', ...types }, 40001],
      ['/redeem/people', { people_search_id: searchIdOf('a-b') }, 41847],
      ['/redeem/people/batch', { peoples: [], ...types }, 41847],
      ['/redeem/people/batch', { peoples: [{}], ...types }, 40001],
      ['/redeem/people/batch/query', {}, 41847],
      ['/redeem/people/batch/query', { redeem_query_id: 'rq-none' }, 40001],
      ['/companies/lookup', {}, 41847],
      ['/companies/lookup', { domain: 'no domain' }, 40001],
    ] as const) {
      expect(await ask(`${serviceUrl}${path}`, body)).toMatchObject({ status: 400, body: { code } })
    }
  })
})

test('a network of another name stands in the fields of requests and answers, through our own transport', async () => {
  const own = await startSandbox({ networkName: 'guild' })
  const transport = createTransport({ userAgent: 'paydirt-tests/1', networkName: 'guild' })
  try {
    const send = async (request: Omit<ServiceRequest, 'headers'>) => {
      const headers = { 'content-type': 'application/json', ...direct }
      const { status, body } = await transport.send({ ...request, headers })
      expect(status).toBe(200)
      return body
    }
    const request = prepareRequest(own.serviceUrl, 'contact.redeem', {
      profnet_url: personUrl(withAll.slug),
      people_contact_types: ['phone'],
    })
    const url = personAnswer(personUrl(withAll.slug)).data?.profnet_url
    expect(request.decode(await send(request)).data?.['profnet_url']).toBe(url)

    own.faults.set({ batchPending: 0 })
    const wanted = { people_search_id: searchIdOf(withAll.slug), people_contact_types: ['phone'] }
    const prepared = prepareBatch(own.serviceUrl, 'contact.redeem', [wanted])
    const { queryId } = prepared.started!(await send(prepared))!
    const answer = await send(prepareQuery(own.serviceUrl, 'contact.redeem', queryId))
    expect(prepared.decode(answer).get(0)?.data?.['profnet_url']).toBe(url)
    expect(warningsOf(answer)).toEqual([])
  } finally {
    await transport.close()
    await own.stop()
  }
})

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
