import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { applyPlan, readPlan, withinPlan } from '../../src/app/runs/apply-plan.ts'
import type { FileConfig } from '../../src/app/config/file.ts'
import { enrichCsv, openInput, planCsv } from '../../src/app/runs/enrich-csv.ts'
import { newPlanId } from '../../src/app/context/new-id.ts'
import { parseUsd } from '../../src/domain/money.ts'
import type { ObjectKind } from '../../src/domain/words.ts'
import { API_KEY, API_KEY_HEADER } from '../../src/sandbox/accounts.ts'
import { contactsOf, personUrl } from '../../src/sandbox/data/contacts.ts'
import { DIRECTORY_SIZE, member, type Member } from '../../src/sandbox/data/directory.ts'
import { createDice, type Dice } from '../../src/sandbox/random.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openHouse, type House } from '../support/house.ts'
import { testSeed } from '../support/seed.ts'

const redemption = ['contact.lookup', 'contact.redeem'] as const
const config: FileConfig = {
  payment: {
    maxPricesUsd: {
      'contact.redeem:email-work': '0.15',
      'contact.redeem:email-personal': '0.15',
      'contact.redeem:phone': '0.30',
      'company.enrich': '0.05',
    },
  },
  recipes: {
    mail: { person: { fields: ['email'], steps: [...redemption] } },
    private: { person: { fields: ['email', 'email_personal'], steps: [...redemption] } },
    capped: { person: { fields: ['email', 'phone'], steps: [...redemption], priceCeilingUsd: '0.20' } },
    dear: {
      person: {
        fields: ['headline', 'email', 'phone'],
        steps: ['person.profile', ...redemption],
        priceCeilingUsd: '0.31',
      },
    },
    either: { person: { fields: ['email', 'phone'], steps: [...redemption], stopWhen: ['email'] } },
    alike: { person: { fields: ['email', 'phone'], steps: [...redemption], similaritySearch: true } },
  },
}

interface Row {
  profnet_url?: string
  email?: string
  phone?: string
  first_name?: string
  last_name?: string
  domain?: string
  company?: string
}
const columns = ['profnet_url', 'email', 'phone', 'first_name', 'last_name', 'domain', 'company'] as const
const csvOf = (rows: readonly Row[]) =>
  [columns.join(','), ...rows.map((row) => columns.map((name) => row[name] ?? '').join(','))].join('\n') +
  '\n'

const byUrl = ({ slug }: Member): Row => ({ profnet_url: personUrl(slug) })
const byName = ({ firstName, lastName, employer }: Member): Row => ({
  first_name: firstName,
  last_name: lastName,
  domain: employer.domain,
})
const byCompany = ({ firstName, lastName, employer }: Member): Row => ({
  first_name: firstName.toUpperCase(),
  last_name: lastName,
  company: `${employer.name} GmbH`,
})
const emails = ({ slug }: Member, wanted: string) =>
  contactsOf(slug)
    .emails.filter(({ type }) => type === wanted)
    .map(({ value }) => value)
const byEmail = (one: Member): Row => ({ email: emails(one, 'work')[0] ?? '' })
const byPhone = (one: Member): Row => ({ phone: contactsOf(one.slug).phones[0]?.value ?? '' })

let met = 0
/** Somebody whom no case before has asked for. */
function somebody(fits: (one: Member) => boolean): Member {
  for (;;) {
    const one = member(met++)
    if (fits(one)) return one
  }
}
const isKnown = (one: Member) => !one.unknown
const hasBoth = (one: Member) => emails(one, 'work').length > 0 && contactsOf(one.slug).phones.length > 0
const hasNoMail = (one: Member) => isKnown(one) && contactsOf(one.slug).emails.length === 0
const isUnknown = (one: Member) => one.unknown

let sandbox: Sandbox
let house: House
let ahead = 0
beforeAll(async () => {
  sandbox = await startSandbox()
  house = await openHouse(sandbox, {
    config,
    overrides: { now: () => new Date(Date.now() + ahead) },
  })
}, 60_000)
afterAll(async () => {
  await house.close()
  await sandbox.stop()
})

const signal = new AbortController().signal
let files = 0

async function inputOf({ context }: House, rows: readonly Row[] | string, object: ObjectKind) {
  const path = join(context.config.dataDir, '..', `in-${files++}.csv`)
  await writeFile(path, typeof rows === 'string' ? rows : csvOf(rows))
  return { csv: await openInput(context.config, { input: path, object }), out: `${path}.out` }
}

async function enrich(rows: readonly Row[], recipe: string): Promise<void> {
  const { csv, out } = await inputOf(house, rows, 'person')
  const { end } = await enrichCsv(house.context, csv, { out, signal, recipe })
  expect(end).toBe('finished')
}

/** Plans and carries out, as the commands do: the plan's bounds are in the settings before anything is bought. */
async function planAndApply(
  { context }: House,
  rows: readonly Row[] | string,
  recipe: string,
  paid: () => Promise<bigint>,
  object: ObjectKind = 'person',
) {
  const { csv, out } = await inputOf({ context } as House, rows, object)
  const before = await paid()
  const { planId = '', cost } = await planCsv(context, csv, { planId: newPlanId(context), recipe })
  expect(await paid()).toBe(before)
  const plan = await readPlan(context, planId)
  const { policy, caps } = context.config
  const bounds = withinPlan(context.config, plan)
  Object.assign(context.config, { policy: bounds.policy, caps: bounds.caps })
  try {
    const applied = await applyPlan(context, plan, {
      out,
      signal,
      openConnector: () => Promise.reject(new Error('a file needs no CRM')),
    })
    expect(applied).toMatchObject({ end: 'finished', summary: { tasks: { parked: 0 } } })
    return { low: parseUsd(cost.low), high: parseUsd(cost.high), paid: (await paid()) - before }
  } finally {
    Object.assign(context.config, { policy, caps })
  }
}

const onChain = async () =>
  (await house.transfers()).reduce((sum, { amountAtomic }) => sum + amountAtomic, 0n)
const cents = (count: number) => BigInt(count) * 10_000n

interface Case {
  recipe: string
  rows: () => readonly Row[] | Promise<readonly Row[]>
  /** In cents. */
  low: number
  high: number
  paid: number
}

describe('a plan of several steps is kept to the cent', () => {
  test.each<[what: string, Case]>([
    [
      'by profile URL both kinds are asked for, whatever is found',
      { recipe: 'contact', rows: () => [byUrl(somebody(hasBoth))], low: 45, high: 45, paid: 45 },
    ],
    [
      'also where nothing is',
      { recipe: 'contact', rows: () => [byUrl(somebody(hasNoMail))], low: 45, high: 45, paid: 45 },
    ],
    [
      'what the record has is not asked for',
      {
        recipe: 'contact',
        rows: () => {
          const [one, other] = [somebody(hasBoth), somebody(hasBoth)]
          return [
            { ...byUrl(one), ...byEmail(one) },
            { ...byUrl(other), ...byPhone(other) },
          ]
        },
        low: 45,
        high: 45,
        paid: 45,
      },
    ],
    [
      'by name the match decides',
      { recipe: 'contact', rows: () => [byName(somebody(hasBoth))], low: 1, high: 46, paid: 46 },
    ],
    [
      'and whom the service does not know costs the asking',
      { recipe: 'contact', rows: () => [byName(somebody(isUnknown))], low: 1, high: 46, paid: 1 },
    ],
    [
      'by e-mail and by phone the other kind is left',
      {
        recipe: 'contact',
        rows: () => [byEmail(somebody(hasBoth)), byPhone(somebody(hasBoth))],
        low: 2,
        high: 1 + 30 + 1 + 15,
        paid: 1 + 30 + 1 + 15,
      },
    ],
    [
      'rows of one person in several spellings count once',
      {
        recipe: 'contact',
        rows: () => {
          const [one, other] = [somebody(hasBoth), somebody(isKnown)]
          const url = byUrl(one).profnet_url ?? ''
          return [
            { profnet_url: url },
            { profnet_url: `${url.replace('www.', 'de.').toUpperCase().replace('/IN/', '/in/')}/?x=1` },
            { profnet_url: url, ...byEmail(one) },
            byName(other),
            { ...byName(other), domain: `https://www.${other.employer.domain}/about` },
          ]
        },
        low: 46,
        high: 45 + 46,
        paid: 45 + 46,
      },
    ],
    [
      'the same by domain and by company may be two, and is bought as one',
      {
        recipe: 'contact',
        rows: () => {
          const one = somebody(isKnown)
          return [byName(one), byCompany(one)]
        },
        low: 2,
        high: 92,
        paid: 47,
      },
    ],
    [
      'a ceiling leaves what fits below it',
      { recipe: 'capped', rows: () => [byName(somebody(hasBoth))], low: 1, high: 16, paid: 16 },
    ],
    [
      'and is no doubt where it rules a step out at once',
      { recipe: 'capped', rows: () => [byUrl(somebody(hasBoth))], low: 15, high: 15, paid: 15 },
    ],
    [
      'a ceiling that one of two fits below',
      { recipe: 'dear', rows: () => [byUrl(somebody(hasBoth))], low: 1, high: 31, paid: 16 },
    ],
    [
      'an early end that comes',
      { recipe: 'either', rows: () => [byUrl(somebody(hasBoth))], low: 15, high: 45, paid: 15 },
    ],
    [
      'and one that does not',
      { recipe: 'either', rows: () => [byUrl(somebody(hasNoMail))], low: 15, high: 45, paid: 45 },
    ],
    [
      'steps that the ledger has cost nothing',
      {
        recipe: 'contact',
        async rows() {
          const [url, name] = [somebody(hasBoth), somebody(hasBoth)]
          await enrich([byUrl(url), byName(name)], 'mail')
          return [byUrl(url), byName(name)]
        },
        low: 60,
        high: 60,
        paid: 60,
      },
    ],
    [
      'also behind a step that is bought',
      {
        recipe: 'private',
        async rows() {
          const one = somebody(hasBoth)
          // Its phone is known, its work e-mail is not; the private one was asked for and is.
          await enrich([{ ...byUrl(one), ...byEmail(one) }], 'private')
          return [byUrl(one)]
        },
        low: 15,
        high: 15,
        paid: 15,
      },
    ],
    [
      'nothing is bought where the ledger knows that nobody is there',
      {
        recipe: 'contact',
        async rows() {
          const one = somebody(isUnknown)
          await enrich([byName(one)], 'mail')
          return [byName(one), { first_name: 'Half' }]
        },
        low: 0,
        high: 0,
        paid: 0,
      },
    ],
    [
      'an employer’s profile may be there already',
      {
        recipe: 'full',
        async rows() {
          const one = somebody(hasBoth)
          await enrich([byUrl(one)], 'full')
          return [byUrl(one), byUrl(somebody(isUnknown))]
        },
        low: 1,
        high: 47,
        paid: 1,
      },
    ],
    [
      'all steps of the recipe full',
      { recipe: 'full', rows: () => [byName(somebody(hasBoth))], low: 1, high: 48, paid: 48 },
    ],
    [
      'two searches for one address are one input',
      {
        recipe: 'alike',
        rows: () => {
          const one = somebody(hasBoth)
          return [
            { ...byName(one), ...byEmail(one) },
            { ...byCompany(one), ...byEmail(one) },
          ]
        },
        low: 1,
        high: 62,
        paid: 31,
      },
    ],
  ])('%s', async (_, { recipe, rows, low, high, paid }) => {
    const costs = await planAndApply(house, await rows(), recipe, onChain)
    expect(costs).toEqual({ low: cents(low), high: cents(high), paid: cents(paid) })
  })

  test('a price that nobody knows counts with its cap', async () => {
    const domain = somebody(isKnown).employer.domain
    const costs = await planAndApply(house, `domain\n${domain}\n`, 'full', onChain, 'company')
    expect(costs).toEqual({ low: 0n, high: cents(7), paid: cents(5) })
  })

  test('what has gone stale is bought again, and counted', async () => {
    const [one, other] = [somebody(hasNoMail), somebody(hasBoth)]
    const rows = [byUrl(one), byUrl(other)]
    await enrich(rows, 'mail')
    // Nothing found is good for thirty days, and what was found for ninety.
    ahead += 31 * 86_400_000
    const month = await planAndApply(house, rows, 'mail', onChain)
    expect(month).toEqual({ low: cents(15), high: cents(15), paid: cents(15) })
    ahead += 65 * 86_400_000
    const quarter = await planAndApply(house, rows, 'mail', onChain)
    expect(quarter).toEqual({ low: cents(30), high: cents(30), paid: cents(30) })
  })
})

describe('whatever is planned, what is paid stays inside', () => {
  const recipes = ['contact', 'full', 'profile', 'capped', 'dear', 'either', 'private', 'alike']
  const ways = [byUrl, byName, byCompany, byEmail, byPhone]

  test.each([0, 1, 2, 3, 4, 5])('mixture %i', async (number) => {
    const dice = createDice(`mixture ${testSeed()} ${number}`)
    const crowd = Array.from({ length: 6 }, () => member(dice.integer(0, DIRECTORY_SIZE - 1)))
    const row = () => mixed(dice, dice.pick(crowd))
    // A part of them is in the ledger from another recipe.
    await enrich(Array.from({ length: 4 }, row), dice.pick(recipes))
    const recipe = dice.pick(recipes)
    const rows = Array.from({ length: 12 }, row)
    const { low, high, paid } = await planAndApply(house, rows, recipe, onChain)
    expect(paid).toBeGreaterThanOrEqual(low)
    expect(paid).toBeLessThanOrEqual(high)
  })

  function mixed(dice: Dice, one: Member): Row {
    return { ...dice.pick(ways)(one), ...(dice.percent(30) ? dice.pick(ways)(one) : {}) }
  }
})

test('with direct access nothing is sure that is only charged when it is found, and a match is paid as it comes', async () => {
  const direct = await openHouse(sandbox, {
    config,
    env: { PAYDIRT_API_KEY: API_KEY, PAYDIRT_API_KEY_HEADER: API_KEY_HEADER },
  })
  const spent = async () => BigInt(sandbox.account(API_KEY)?.spent ?? 0) * 10_000n
  try {
    const [one, other] = [somebody(hasBoth), somebody(isUnknown)]
    const contact = await planAndApply(direct, [byName(one), byName(other)], 'contact', spent)
    expect(contact).toEqual({ low: 0n, high: cents(92), paid: cents(46) })
    const mail = await planAndApply(direct, [byUrl(somebody(hasNoMail))], 'contact', spent)
    expect([mail.low, mail.high]).toEqual([0n, cents(45)])
    expect(mail.paid).toBeLessThan(cents(45))
    const profile = await planAndApply(direct, [byUrl(one), byUrl(other)], 'profile', spent)
    expect(profile).toEqual({ low: cents(2), high: cents(2), paid: cents(2) })
  } finally {
    await direct.close()
  }
})
