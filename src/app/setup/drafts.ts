import { crmNames, crmOf, type CrmName } from '../../connectors/definitions.ts'
import { noteOf, type SettingNote } from '../../domain/setting.ts'
import { readEnvironment, variableSchemas } from '../config/environment.ts'
import type { EnvLine } from './env-file.ts'

/** Variables by name, as `.env` has them. */
export type Draft = Readonly<Record<string, string>>

/** The way lookups are paid. */
export type Payment = 'wallet' | 'api-key'

export interface Choices {
  payment: Payment
  crms: readonly CrmName[]
}

const always = ['PAYDIRT_SERVICE_URL', 'PAYDIRT_LOGO_URL']
const ofPayment: Record<Payment, readonly string[]> = {
  wallet: ['PAYDIRT_WALLET_KEY', 'PAYDIRT_RPC_URL', 'PAYDIRT_PAY_TO'],
  'api-key': ['PAYDIRT_API_KEY', 'PAYDIRT_API_KEY_HEADER'],
}
export const caps = ['PAYDIRT_MAX_PRICE_USD', 'PAYDIRT_BUDGET_RUN_USD', 'PAYDIRT_BUDGET_DAY_USD'] as const

/** Returns the choices that a set of variables already stands for. */
export function choicesOf(draft: Draft): Choices {
  return {
    payment: draft['PAYDIRT_API_KEY'] ? 'api-key' : 'wallet',
    crms: crmNames.filter((name) => Object.keys(crmOf(name).variables).some((variable) => draft[variable])),
  }
}

/** Returns the variables that a choice needs and that the draft lacks. A wallet's key may be in its file instead. */
export function missingIn(draft: Draft, { payment, crms }: Choices): string[] {
  const needed = ['PAYDIRT_SERVICE_URL', ...(payment === 'api-key' ? ['PAYDIRT_API_KEY'] : [])]
  // Another way to connect counts as set up: its own checks follow.
  const open = crms.filter((name) => !isConnected(draft, name))
  return [...needed, ...open.flatMap((name) => crmOf(name).needs)].filter((name) => !draft[name])
}

function isConnected(draft: Draft, name: CrmName): boolean {
  try {
    const crm = crmOf(name)
    const env = readEnvironment(
      Object.fromEntries(Object.keys(crm.variables).map((each) => [each, draft[each]])),
    )
    return crm.readSettings(env, undefined) !== undefined
  } catch {
    return false
  }
}

/**
 * Returns the lines of `.env`, in the order of the choices. Variables that were not asked about stay as they were. Throws
 * ConfigError for a value that is not valid.
 */
export function envLines(draft: Draft, choices: Choices, before: Draft): EnvLine[] {
  const { payment, crms } = choices
  const asked = [
    ...always,
    ...ofPayment[payment],
    ...caps,
    ...crms.flatMap((name) => crmOf(name).needs),
    ...crms.flatMap((name) => Object.keys(crmOf(name).variables).filter((variable) => draft[variable])),
    'PAYDIRT_DATA_DIR',
  ]
  // A key would go before the wallet.
  const dropped = payment === 'wallet' ? ofPayment['api-key'] : []
  const names = [...new Set([...asked, ...besides(draft, before, dropped)])]
  const kept = Object.entries(before).filter(([name]) => !names.includes(name) && !dropped.includes(name))
  readEnvironment({ ...Object.fromEntries(kept), ...draft }, new Set(Object.keys(before)))
  const missing = missingIn(draft, choices)
  return [
    ...names.map((name) => {
      const note = variableNote(name)
      const isMissing = missing.includes(name)
      return {
        name,
        means: `${plain(note.means)}${isMissing ? ' (must be set)' : ''}`,
        value: draft[name] ?? (isMissing ? '' : undefined),
        offered: draft[name] === undefined && note.default !== undefined ? String(note.default) : undefined,
      }
    }),
    ...kept.map(([name, value], at) => ({
      name,
      means: at === 0 ? 'kept from the .env that was here before' : undefined,
      value,
    })),
  ]
}

/** Returns what is set besides what is asked about, such as the secret of a CRM's buttons: it was set to be taken. */
function besides(draft: Draft, before: Draft, dropped: readonly string[]): string[] {
  const others = [...ofPayment.wallet, ...ofPayment['api-key'], ...dropped]
  return Object.keys(draft).filter(
    (name) => name.startsWith('PAYDIRT_') && !Object.hasOwn(before, name) && !others.includes(name),
  )
}

export function variableNote(name: string): SettingNote {
  const schema = variableSchemas[name]
  return (schema && noteOf(schema)) ?? { means: name }
}

/** Returns a note without its links. */
export function plain(text: string): string {
  return text.replace(/\[([^\]]+)\]\([^)]*\)/g, '$1').replaceAll('`', '')
}
