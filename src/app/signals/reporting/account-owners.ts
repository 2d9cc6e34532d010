import { isCrmName } from '../../../connectors/definitions.ts'
import { ConfigError } from '../../../domain/errors.ts'
import type { ReportedName } from '../../../domain/signals/report.ts'
import type { Context } from '../../context/context.ts'
import { withConnector } from '../../context/connectors.ts'

/** A user or queue of the CRM to which accounts belong. */
export interface AccountOwner {
  id: string
  name: string
}

/** Returns the owners of accounts as the CRM has them now, by account. Rows of lists have none. */
export async function ownersOfAccounts(
  context: Pick<Context, 'config' | 'connectors'>,
  accounts: readonly ReportedName[],
): Promise<Map<ReportedName, AccountOwner>> {
  const found = new Map<ReportedName, AccountOwner>()
  const crms = new Map<string, ReportedName[]>()
  for (const account of accounts) {
    if (!isCrmName(account.connector)) continue
    crms.set(account.connector, [...(crms.get(account.connector) ?? []), account])
  }
  for (const [name, ofCrm] of crms)
    await withConnector(context, name, async ({ maker }) => {
      if (!maker) throw new ConfigError('no_owners', `${name} tells no owners: leave --owner out`)
      for (const entity of new Set(ofCrm.map((account) => account.entity))) {
        const asked = ofCrm.filter((account) => account.entity === entity)
        const byRecord = await maker.ownersOf(entity, [...new Set(asked.map(({ id }) => id))])
        const owners = await maker.owners(entity, [...new Set(byRecord.values())])
        for (const account of asked) {
          const id = byRecord.get(account.id)
          const owner = id === undefined ? undefined : owners.get(id)
          // The CRM tells the owner's id of a record also where it does not tell who that is.
          if (id !== undefined) found.set(account, { id, name: owner?.name ?? id })
        }
      }
    })
  return found
}
