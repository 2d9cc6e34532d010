import { isContactType } from '../contact-types.ts'
import type { LookupKey } from '../keys.ts'
import { slotRow } from '../operations.ts'
import { nextStep, slotOf, type Facts, type PlannedRecord, type PriceTable } from '../planning/planner.ts'
import { defaultPrices, isFreeSlot } from '../planning/prices.ts'
import { builtInRecipes, type Recipe } from '../planning/recipes.ts'
import type { Fact, Identity } from '../record.ts'
import type { ObjectKind } from '../words.ts'
import { createCosts } from './costs.ts'
import { createExpected } from './expected.ts'
import { createExperience, type SeenAnswer } from './experience.ts'
import { forecast, type Means } from './forecast.ts'
import { withinLimits, type Limit } from './limits.ts'

/** A number in [0, 1) for each seed and text, always the same. */
export function chance(seed: number, text: string): number {
  let hash = 2166136261 ^ seed
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 16777619)
  hash = Math.imul(hash ^ (hash >>> 16), 2246822507)
  hash = Math.imul(hash ^ (hash >>> 13), 3266489909)
  return ((hash ^ (hash >>> 16)) >>> 0) / 4294967296
}

/** A service, a recipe and people of which nobody knows yet what will be found. */
export interface World {
  seed: number
  recipe: Recipe
  object: ObjectKind
  prices: PriceTable
  inCredits: boolean
  answer: (key: LookupKey) => Fact
  record: (number: number) => PlannedRecord
}

const contacts = ['contact.lookup', 'contact.redeem'] as const

export function makeWorld(seed: number): World {
  const is = (name: string, share: number) => chance(seed, name) < share
  const pick = <T>(name: string, of: readonly T[]): T => of[Math.floor(chance(seed, name) * of.length)] as T
  const object: ObjectKind = is('object', 0.25) ? 'company' : 'person'
  const base = pick<Recipe>('recipe', [
    ...['profile', 'contact', 'full'].map((name) => builtInRecipes(object, name)),
    ...(object === 'company'
      ? []
      : ([
          { name: 'both', fields: ['email', 'email_personal', 'phone'], steps: contacts },
          { name: 'dear', fields: ['headline', 'email', 'phone'], steps: ['person.profile', ...contacts] },
        ] as const)),
  ])
  const recipe: Recipe = {
    ...base,
    ...(is('ceiling', 0.2)
      ? { priceCeilingAtomic: pick('ceiling is', [10_000n, 160_000n, 310_000n, 460_000n]) }
      : {}),
    ...(is('stop', 0.15)
      ? { stopWhen: [pick('stop at', object === 'person' ? ['email', 'profnet_url'] : ['domain'])] }
      : {}),
    similarity: is('similarity', 0.2),
  }
  const rate = (name: string) => 0.2 + 0.75 * chance(seed, `rate ${name}`)
  const subjects = 400 + Math.floor(chance(seed, 'subjects') * 4_000)
  const employers = 20 + Math.floor(chance(seed, 'employers') * 800)

  function answer(key: LookupKey): Fact {
    const slot = slotOf(key)
    const roll = (name: string) => chance(seed, `${key} ${name}`)
    const nothing: Fact = { outcome: 'not_found', data: null }
    if (roll('unreadable') < 0.01) return { outcome: 'unreadable', data: null }
    if (roll('found') > rate(slot)) return nothing
    const found = (data: Record<string, unknown>): Fact => ({ outcome: 'found', data })
    const some = (name: string, share: number, value: unknown) => (roll(name) < share ? value : null)
    switch (slot) {
      case 'contact.lookup': {
        const person = Math.floor(roll('who') * subjects)
        return found({
          name: 'Ada',
          other_matches: some('several', 0.05, 2),
          profnet_url: some('named', 0.9, `https://profnet.example/in/p${person}`),
          people_search_id: some('id', 0.5, `${person}`),
          emails: some('mail', rate('free mail') / 3, [{ value: `p${person}@acme.example`, type: 'work' }]),
        })
      }
      case 'person.profile': {
        const employer = Math.floor(roll('employer') ** 2 * employers)
        const company = { company_name: 'Acme', profnet_url: `https://profnet.example/company/c${employer}` }
        const own = `https://profnet.example/in/${key.slice(key.lastIndexOf('/') + 1)}`
        return found({
          name: 'Ada',
          headline: some('headline', 0.8, 'CTO'),
          profnet_url: roll('renamed') < 0.02 ? `${own}-new` : own,
          company: some('employed', rate('employed'), company),
        })
      }
      case 'company.lookup':
      case 'company.enrich':
        return found({
          profnet_url: some(
            'named',
            0.9,
            `https://profnet.example/company/c${Math.floor(roll('who') * subjects)}`,
          ),
          ...(roll('full') < rate('full')
            ? { company_name: 'Acme', domain: 'acme.example', industry: null }
            : {}),
        })
      case 'company.profile':
        return found({ company_name: 'Acme', domain: some('domain', 0.5, 'acme.example') })
      case 'company.logo':
        return found({ url: 'https://logo.example/x' })
      default: {
        const type = slot.slice(slot.indexOf(':') + 1)
        if (!isContactType(type)) return nothing
        if (type === 'phone') return found({ phones: some('listed', 0.9, [{ value: '+33612345678' }]) })
        const stated = roll('other kind') < 0.1 ? 'personal' : type
        return found({ emails: [{ value: 'ada@acme.example', type: stated, status: 'verified' }] })
      }
    }
  }

  function record(number: number): PlannedRecord {
    const roll = (name: string) => chance(seed, `record ${number} ${name}`)
    const who = Math.floor(roll('who') * subjects)
    const identity: Identity =
      object === 'company'
        ? roll('by') < rate('by url')
          ? { profileUrl: `https://profnet.example/company/c${who}` }
          : { domain: `c${who}.example` }
        : roll('by') < rate('by url')
          ? { profileUrl: `https://profnet.example/in/p${who}` }
          : roll('by mail') < 0.5
            ? { email: `p${who}@acme.example` }
            : { firstName: 'Ada', lastName: `P${who}`, domain: 'acme.example' }
    return {
      object,
      identity,
      closed: roll('closed') < 0.2 ? { email: 'filled', headline: 'filled', industry: 'filled' } : {},
    }
  }

  const priceOf = (name: string) => BigInt(1 + Math.floor(chance(seed, `price ${name}`) * 30)) * 10_000n
  const prices: PriceTable = is('own prices', 0.3)
    ? Object.fromEntries(Object.keys(defaultPrices).map((slot) => [slot, priceOf(slot)]))
    : defaultPrices
  return {
    seed,
    recipe,
    object,
    prices: { ...prices, 'company.enrich': priceOf('enrich') },
    inCredits: is('credits', 0.2),
    answer,
    record,
  }
}

/** The lookups that were asked, and their answers. */
export interface Ledger {
  facts: Map<LookupKey, Fact>
  answers: SeenAnswer[]
  chains: LookupKey[][]
}

export const emptyLedger = (): Ledger => ({ facts: new Map(), answers: [], chains: [] })

/** Carries a run out as the workers would: each lookup is bought once, and parks its records where it does not fit. */
export function carryOut(
  world: World,
  records: readonly PlannedRecord[],
  ledger: Ledger,
  leftAtomic?: bigint,
): bigint {
  const { recipe, prices, inCredits } = world
  let spent = 0n
  const paid = new Map<LookupKey, bigint>()
  for (const record of records) {
    let facts: Facts = {}
    const chain: LookupKey[] = []
    for (;;) {
      const step = nextStep(record, recipe, facts, { prices, isFresh: (key) => ledger.facts.has(key) })
      if (step.kind !== 'lookup') break
      const { key } = step.lookup
      const slot = slotOf(key)
      let fact = ledger.facts.get(key)
      if (!fact) {
        const price = isFreeSlot(slot) ? 0n : (prices[slot] as bigint)
        fact = world.answer(key)
        // Reserved with the whole price, and settled with what it has cost.
        if (leftAtomic !== undefined && spent + price > leftAtomic) break
        const cost = inCredits && slotRow(slot).isChargedWhenFound && fact.outcome !== 'found' ? 0n : price
        spent += cost
        paid.set(key, cost)
        ledger.facts.set(key, fact)
        if (price > 0n) ledger.answers.unshift({ key, ...fact })
      }
      chain.push(key)
      facts = { ...facts, [slot]: { ...fact, priceAtomic: paid.get(key) ?? 0n } }
    }
    if (chain.length > 1) ledger.chains.push(chain)
  }
  return spent
}

/** Plans a run as `--plan` does. */
export function plan(
  { recipe, prices, inCredits }: World,
  records: readonly PlannedRecord[],
  ledger: Ledger,
  leftAtomic?: bigint,
) {
  const means: Means = {
    prices,
    caps: { otherAtomic: 1_000_000n, bySlot: {} },
    inCredits,
    known: (key) => {
      const fact = ledger.facts.get(key)
      return fact && { ...fact, priceAtomic: 0n }
    },
  }
  const costs = createCosts(recipe)
  const experience = createExperience({ answers: ledger.answers.slice(0, 1_000), chains: ledger.chains })
  const expected = createExpected(recipe, means, experience)
  for (const record of records) {
    let facts: Facts = {}
    for (;;) {
      const step = nextStep(record, recipe, facts, { prices, isFresh: (key) => ledger.facts.has(key) })
      if (step.kind !== 'lookup') break
      const { key } = step.lookup
      const fact =
        means.known(key) ??
        (isFreeSlot(slotOf(key)) ? ({ outcome: 'not_found', data: null } as const) : undefined)
      if (!fact) {
        const cost = forecast(record, recipe, facts, means)
        costs.add(cost)
        expected.add(record, facts, cost, means.known)
        break
      }
      facts = { ...facts, [slotOf(key)]: fact }
    }
  }
  const { lowAtomic, highAtomic } = costs.sum()
  const mean = [...expected.sum().values()].reduce((sum, { atomic }) => sum + atomic, 0)
  const run: Limit = { name: 'run', capAtomic: leftAtomic, usedAtomic: 0n, leftAtomic }
  return withinLimits(
    { lowAtomic, expectedAtomic: BigInt(Math.round(mean)), highAtomic },
    [run],
    Object.values(prices),
  )
}
