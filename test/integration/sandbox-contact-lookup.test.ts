import { describe, expect, test } from 'vitest'
import { contactsOf, personUrl } from '../../src/sandbox/data/contacts.ts'
import { employersAt, member } from '../../src/sandbox/data/directory.ts'
import { personAnswer } from '../../src/sandbox/data/person.ts'
import { PRICE } from './sandbox-fixture.ts'
import {
  useContacts,
  someMember,
  workEmail,
  withEmail,
  withPhone,
  known,
  stranger,
  named,
  atDomain,
  atCompany,
  peoples,
  cost,
  slugs,
} from './sandbox-contacts.fixture.ts'

const { world, single, bulk, ask } = useContacts()

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
