import { randomUUID } from 'node:crypto'
import type { LookupKey } from '../../src/domain/keys.ts'
import type { LookupWanted } from '../../src/domain/planning/planner.ts'
import { defaultPrices } from '../../src/domain/planning/prices.ts'
import { builtInRecipes } from '../../src/domain/planning/recipes.ts'
import type { Fact, Identity } from '../../src/domain/record.ts'
import type { ObjectKind } from '../../src/domain/words.ts'
import { createStepPlanner } from '../../src/planning/step-planner.ts'
import { companyByDomain } from '../../src/sandbox/data/company-by-domain.ts'
import { companyAnswer } from '../../src/sandbox/data/company.ts'
import { contactAnswer, searchIdOf, slugOfSearchId } from '../../src/sandbox/data/contact-answer.ts'
import { searchContact } from '../../src/sandbox/data/contact-search.ts'
import { contactsOf, revealed } from '../../src/sandbox/data/contacts.ts'
import { member, type Member } from '../../src/sandbox/data/directory.ts'
import { personAnswer } from '../../src/sandbox/data/person.ts'
import { profileKey } from '../../src/sandbox/data/profile-url.ts'
import { newRun, now, unlimited } from './ledger.fixture.ts'

/** Returns the service's answer, from the stand-in's own data and not through the client. */
function answerOf({ operation, request }: LookupWanted): Fact {
  const text = (name: string) => String(request[name] ?? '')
  const foundOr = (data: object | null): Fact =>
    data === null ? { outcome: 'not_found', data } : { outcome: 'found', data: { ...data } }
  switch (operation) {
    case 'person.profile':
      return foundOr(personAnswer(text('profnet_url')).data)
    case 'company.profile':
      return foundOr(companyAnswer(text('profnet_url')).data)
    case 'company.lookup':
      return foundOr(companyByDomain(text('domain')).data)
    case 'company.enrich': {
      const { data } =
        request['domain'] === undefined ? companyAnswer(text('profnet_url')) : companyByDomain(text('domain'))
      return foundOr(data && { ...data, jobs: [], news: [], advertisements: [] })
    }
    case 'contact.lookup': {
      const match = searchContact(request as never, false)
      return foundOr(match && contactAnswer(match, { index: 0, isDuplicate: false }))
    }
    case 'contact.redeem': {
      const slug = slugAsked(request)
      const { data } = personAnswer(`https://www.profnet.example/in/${slug}`)
      const lists = revealed(slug, request['people_contact_types'] as never)
      const isFound = Object.values(lists).some((list) => list !== null)
      const named = { people_search_id: searchIdOf(slug), profnet_url: data?.profnet_url ?? null }
      return { outcome: isFound ? 'found' : 'not_found', data: { ...named, ...lists } }
    }
    default:
      return { outcome: 'not_found', data: null }
  }
}

function slugAsked(request: LookupWanted['request']): string {
  const id = request['people_search_id']
  if (typeof id === 'string') return slugOfSearchId(id) ?? ''
  return (profileKey('person', String(request['profnet_url'])) ?? '').slice('in/'.length)
}

/** The fact that a lookup asks for, by the stand-in's own names: what was paid for twice was paid for the same. */
function factOf({ operation, request, key }: LookupWanted): string {
  const type = operation === 'contact.redeem' ? key.slice(key.lastIndexOf('|')) : ''
  const url = String(request['profnet_url'] ?? '')
  if (operation === 'contact.redeem') return `redeem in/${slugAsked(request)} ${type}`
  if (operation === 'person.profile') return `profile ${profileKey('person', url)}`
  if (operation.startsWith('company.')) {
    const { data } =
      request['domain'] === undefined ? companyAnswer(url) : companyByDomain(String(request['domain']))
    const what = operation === 'company.enrich' ? 'enrich' : 'profile'
    return `${what} ${data === null ? key : profileKey('company', String(data.profnet_url))}`
  }
  return key
}

interface Bought {
  fact: string
  wanted: LookupWanted
}

/** An enricher on the ledger: plans, asks, pays and stores as workers do, one record at a time. */
export async function openEnricher() {
  const world = await newRun(0)
  const { lookups, journal, run, connector } = world
  const bought: Bought[] = []
  const planner = createStepPlanner({
    lookups,
    recipes: builtInRecipes,
    prices: { ...defaultPrices, 'company.enrich': 50_000n },
    suppressed: async () => new Set(),
    now,
  })

  async function obtain(wanted: LookupWanted): Promise<void> {
    const { key, operation } = wanted
    await lookups.want([wanted], { id: run.id, connector, hot: false })
    if ((await lookups.get(key))?.state === 'answered') return
    const fact = answerOf(wanted)
    const answer = { ...fact, freshUntil: new Date('2026-08-01') }
    if (operation === 'company.logo') return lookups.storeFree(key, answer)
    const charge = await world.reserve(
      key,
      [{ scope: `run:${run.id}`, capAtomic: unlimited }],
      10_000n,
      randomUUID(),
    )
    await journal.settleCharge(charge, { transaction: '0x1', at: now() }, answer)
    bought.push({ fact: factOf(wanted), wanted })
  }

  /** Enriches one record, and returns the answers that it was planned from. */
  async function enrich(object: ObjectKind, identity: Identity, recipe: string) {
    const steps: LookupKey[] = []
    for (;;) {
      const [decision] = await planner.decide([{ object, identity, runId: run.id, recipe, steps }])
      if (decision?.kind !== 'lookup') return { decision, facts: await lookups.facts(steps) }
      steps.push(decision.lookup.key)
      await obtain(decision.lookup)
    }
  }
  return { ...world, enrich, bought }
}

const people = Array.from({ length: 3_000 }, (_, index) => member(index)).filter(
  ({ slug, unknown }) => !unknown && contactsOf(slug).emails.length > 0 && contactsOf(slug).phones.length > 0,
)
let used = 0
export const somebody = (fits: (one: Member) => boolean = () => true): Member => {
  for (;;) {
    const one = people[used++]
    if (!one) throw new Error('nobody is left')
    if (fits(one)) return one
  }
}
export const atUrl = (path: string): Identity => ({ profileUrl: `https://www.profnet.com/${path}` })
export const byName = ({ firstName, lastName, employer }: Member): Identity => ({
  firstName,
  lastName,
  domain: employer.domain,
})
