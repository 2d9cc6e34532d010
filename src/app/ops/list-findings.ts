import type { Connector } from '../../connectors/connector.ts'
import type { ListSettings } from '../config/lists.ts'
import type { Config } from '../config/config.ts'
import { givenLists, placeOfList, withPlace, type MatchConfig } from '../config/watching/match-lists.ts'
import { makingRefusals } from '../lists/making/making-refusals.ts'
import type { IndexAge } from '../records/index-ages.ts'
import type { Finding } from './finding.ts'

type ListsConfig = Pick<Config, 'lists'> & MatchConfig

/** Returns the lists of the settings, and those by which matches of monitors and champions are worked. */
function allLists(config: ListsConfig): Record<string, ListSettings> {
  return { ...config.lists, ...givenLists(config) }
}

/** True where a list makes records in this CRM. */
export function hasLists(config: ListsConfig, crm: string): boolean {
  return Object.values(allLists(config)).some(({ into }) => into.connector === crm)
}

/**
 * Says of each list of a CRM what a run of it would be refused for: its records by the CRM, and all of it while the index is not
 * complete. Asks the CRM alone, and buys nothing. `indexes` is undefined where the ledger could not be asked.
 */
export async function listFindings(
  config: ListsConfig,
  connector: Connector,
  indexes: readonly IndexAge[] | undefined,
): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const [list, settings] of Object.entries(allLists(config))) {
    if (settings.into.connector !== connector.name) continue
    const name = placeOfList(list)
    const refusals = await makingRefusals(connector, list, settings)
    for (const refusal of refusals)
      findings.push({
        name,
        status: 'problem',
        message: 'nothing can be made of it',
        todo: withPlace(list, refusal.replace(`lists.${list}: `, '')),
      })
    const unread = indexFinding(name, settings, indexes)
    if (unread) findings.push(unread)
    else if (refusals.length === 0)
      findings.push({
        name,
        status: 'ok',
        message: `${connector.name} takes its new ${settings.into.entity}`,
      })
  }
  return findings
}

/** The age of the index has a line of its own. */
function indexFinding(
  name: string,
  { into: { connector, entity } }: ListSettings,
  indexes: readonly IndexAge[] | undefined,
): Finding | undefined {
  if (
    !indexes ||
    indexes.some((age) => age.connector === connector && age.entity === entity && age.isComplete)
  )
    return undefined
  return {
    name,
    status: 'warning',
    message: `nothing is made of it while the index of ${entity} is not complete`,
    todo: `\`paydirt index ${connector}\` reads what identifies them, at no cost`,
  }
}

/** Names the lists of a CRM that is not set up. */
export function listsWithoutCrm(config: ListsConfig, crm: string): Finding[] {
  return Object.entries(allLists(config)).flatMap(([list, { into }]): Finding[] =>
    into.connector === crm
      ? [
          {
            name: placeOfList(list),
            status: 'problem',
            message: `its rows are compared with ${crm}, which is not set up`,
            todo: `set the credentials of ${crm}`,
          },
        ]
      : [],
  )
}
