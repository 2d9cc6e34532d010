// Values of options and arguments whose own modules are large: help and completion need no more of those than the names.
// The types hold each list against its module: it neither lacks a value nor has one too many.
import type { Payment } from '../../app/setup/drafts.ts'
import type { Role } from '../../app/start.ts'
import type { CrmName } from '../../connectors/definitions.ts'
import type { StandInName } from '../../sandbox/stand-ins.ts'
import type { TokenScope } from '../../store/access/api-tokens.ts'
import type { ActionVerdict } from '../../store/contract/service-actions.ts'
import type { Verdict } from '../../store/ledger/close-charges.ts'
import type { SpendGroup } from '../../store/views/spend.ts'

export const crmNames = all<CrmName>()(['hubspot', 'salesforce'])
/** The CRMs' own names of objects, which a test holds against the mappings. */
export const entityNames = ['companies', 'contacts', 'Account', 'Contact', 'Lead']
export const standInNames = all<StandInName>()(['hubspot', 'salesforce'])
export const roles = all<Role>()(['all', 'web', 'worker', 'scheduler'])
export const spendGroups = all<SpendGroup>()(['day', 'run', 'connector', 'endpoint', 'field', 'list'])
export const verdicts = all<Verdict>()(['declined', 'lost', 'settled'])
export const actionVerdicts = all<ActionVerdict>()(['done', 'not-done'])
export const tokenScopes = all<TokenScope>()(['enrich', 'read', 'admin'])
export const payments = all<Payment>()(['wallet', 'api-key'])

export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

/** Returns a function that takes a list of every value of the type, and no other list. */
function all<Value extends string>() {
  return <const List extends readonly Value[]>(
    list: List &
      ([Exclude<Value, List[number]>] extends [never] ? unknown : { lacks: Exclude<Value, List[number]> }),
  ): readonly Value[] => list
}
