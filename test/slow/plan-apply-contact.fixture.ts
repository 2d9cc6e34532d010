import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect } from 'vitest'
import { applyPlan, readPlan, withinPlan } from '../../src/app/runs/apply-plan.ts'
import type { FileConfig } from '../../src/app/config/file.ts'
import { enrichCsv, openInput, planCsv } from '../../src/app/runs/enrich-csv.ts'
import { newPlanId } from '../../src/app/context/new-id.ts'
import { parseUsd } from '../../src/domain/money.ts'
import type { ObjectKind } from '../../src/domain/words.ts'
import { contactsOf, personUrl } from '../../src/sandbox/data/contacts.ts'
import { member, type Member } from '../../src/sandbox/data/directory.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openHouse, type House } from '../support/house.ts'

const redemption = ['contact.lookup', 'contact.redeem'] as const

export const config: FileConfig = {
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

export interface Row {
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

export const byUrl = ({ slug }: Member): Row => ({ profnet_url: personUrl(slug) })

export const byName = ({ firstName, lastName, employer }: Member): Row => ({
  first_name: firstName,
  last_name: lastName,
  domain: employer.domain,
})

export const byCompany = ({ firstName, lastName, employer }: Member): Row => ({
  first_name: firstName.toUpperCase(),
  last_name: lastName,
  company: `${employer.name} GmbH`,
})

const emails = ({ slug }: Member, wanted: string) =>
  contactsOf(slug)
    .emails.filter(({ type }) => type === wanted)
    .map(({ value }) => value)

export const byEmail = (one: Member): Row => ({ email: emails(one, 'work')[0] ?? '' })
export const byPhone = (one: Member): Row => ({ phone: contactsOf(one.slug).phones[0]?.value ?? '' })
let met = 0

/** Returns a member whom no case before has asked for. */
export function somebody(fits: (one: Member) => boolean): Member {
  for (;;) {
    const one = member(met++)
    if (fits(one)) return one
  }
}

export const isKnown = (one: Member) => !one.unknown
export const hasBoth = (one: Member) =>
  emails(one, 'work').length > 0 && contactsOf(one.slug).phones.length > 0
export const hasNoMail = (one: Member) => isKnown(one) && contactsOf(one.slug).emails.length === 0
export const isUnknown = (one: Member) => one.unknown
export let sandbox: Sandbox
export let house: House
let aheadMs = 0

/** Moves the clock of the house. */
export function passDays(days: number): void {
  aheadMs += days * 86_400_000
}

/** Opens one house for the tests of the calling file, with its clock at the present. */
export function useContactHouse(): void {
  beforeAll(async () => {
    aheadMs = 0
    sandbox = await startSandbox()
    house = await openHouse(sandbox, {
      config,
      overrides: { now: () => new Date(Date.now() + aheadMs) },
    })
  }, 60_000)

  afterAll(async () => {
    await house.close()
    await sandbox.stop()
  })
}

const signal = new AbortController().signal
let files = 0

async function inputOf({ context }: House, rows: readonly Row[] | string, object: ObjectKind) {
  const path = join(context.config.dataDir, '..', `in-${files++}.csv`)
  await writeFile(path, typeof rows === 'string' ? rows : csvOf(rows))
  return { csv: await openInput(context.config, { input: path, object }), out: `${path}.out` }
}

export async function enrich(rows: readonly Row[], recipe: string): Promise<void> {
  const { csv, out } = await inputOf(house, rows, 'person')
  const { end } = await enrichCsv(house.context, csv, { out, signal, recipe })
  expect(end).toBe('finished')
}

/** Plans and carries out, as the commands do: the plan's bounds are in the settings before anything is bought. */
export async function planAndApply(
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

export const onChain = async () =>
  (await house.transfers()).reduce((sum, { amountAtomic }) => sum + amountAtomic, 0n)

export const cents = (count: number) => BigInt(count) * 10_000n

export interface Case {
  recipe: string
  rows: () => readonly Row[] | Promise<readonly Row[]>
  /** In cents. */
  low: number
  high: number
  paid: number
}
