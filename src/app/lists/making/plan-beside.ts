import type { CompanyOfRow } from '../../../domain/lists/list-row.ts'
import type { PlannedRow, PlannedRows } from '../../../store/lists/planned-rows.ts'
import type { ListSettings } from '../../config/lists.ts'
import type { Context } from '../../context/context.ts'
import type { MakingConnector } from './fit-row.ts'
import { assertOwners, knownOwners, ownerAt } from './owners.ts'
import { companyEntityOf, rowCompanies, type Tie } from './row-companies.ts'

/** The companies to which the people of a plan are tied. */
export interface PlannedAssociation {
  entity: string
  /** People whose company is there. */
  existing: number
  /** People whose company is made first, and the number of these companies. */
  made: number
  creates: number
  /** People who are tied to none, by reason. */
  none: Record<string, number>
}

/** The records that an owner gets. Null: the CRM decides. */
export interface PlannedOwner {
  owner: string | null
  name: string | null
  records: number
}

/** A row for which a record is made, with the company at which the person was found. */
interface DraftRow {
  row: PlannedRow
  at?: CompanyOfRow | undefined
}

/** The part of a plan that stands beside its rows: their companies and owners. */
export interface PlanBeside {
  /** Returns the rows with company and owner, and the companies that have to be made for them. */
  complete(drafts: readonly DraftRow[]): Promise<{ rows: PlannedRow[]; companies: PlannedRow[] }>
  association(): PlannedAssociation | null
  owners(): PlannedOwner[]
}

/** Plans companies and owners, batch by batch in the order of the rows. Throws ConfigError for owners who cannot own records. */
export async function planBeside(
  context: Context,
  connector: MakingConnector,
  list: { name: string; settings: ListSettings; planId: string; planned: PlannedRows },
): Promise<PlanBeside> {
  const { settings, planned, planId } = list
  const { owner } = settings.into
  const known = knownOwners(connector, settings.into.entity)
  await assertOwners(known, settings, list.name)
  const entity = companyEntityOf(connector, settings)
  const companies =
    entity === undefined
      ? undefined
      : await rowCompanies(context, connector, { name: list.name, settings, entity })
  const association = entity === undefined ? null : { entity, existing: 0, made: 0, creates: 0, none: {} }
  const owners = new Map<string | null, PlannedOwner>()
  let place = 0

  /** Returns the owners of the companies that are there. One whose user has left is no owner of anything new. */
  async function ownersOf(ties: readonly (Tie | undefined)[]): Promise<(string | undefined)[]> {
    const ids = ties.map((tie) =>
      tie && 'company' in tie && 'recordId' in tie.company ? tie.company.recordId : '',
    )
    const asked = [...new Set(ids.filter((id) => id !== ''))]
    const found =
      entity === undefined || asked.length === 0
        ? new Map<string, string>()
        : await connector.maker.ownersOf(entity, asked)
    const active = await known.find([...new Set(found.values())])
    return ids.map((id) => {
      const of = found.get(id)
      return of !== undefined && active.get(of)?.isActive ? of : undefined
    })
  }

  return {
    async complete(drafts) {
      const rows = drafts.map(({ row }) => row)
      const people = drafts.map(({ row, at }) => ({ ...row, page: row.page ?? 0, company: at }))
      const found = companies
        ? await companies.find(people, (keys) => planned.known(planId, keys))
        : { ties: [], companies: [] }
      const fromCompany =
        typeof owner === 'object' && 'fromCompany' in owner ? await ownersOf(found.ties) : undefined
      const named = await known.find(rows.flatMap((_, at) => ownerAt(owner, place + at) ?? []))
      const completed = rows.map((row, at): PlannedRow => {
        const tie = found.ties[at]
        const ownerId = fromCompany ? fromCompany[at] : ownerAt(owner, place + at)
        count(tie, ownerId)
        return {
          ...row,
          ...(tie && 'company' in tie ? { company: tie.company } : {}),
          ...(ownerId === undefined ? {} : { owner: ownerId }),
        }
      })
      place += rows.length
      if (association) association.creates += found.companies.length
      for (const [id, { name }] of [
        ...named,
        ...(await known.find(completed.flatMap((row) => row.owner ?? []))),
      ])
        owners.get(id)!.name = name
      return { rows: completed, companies: found.companies }
    },
    association: () => association,
    owners: () => [...owners.values()],
  }

  function count(tie: Tie | undefined, ownerId: string | undefined): void {
    const own = owners.get(ownerId ?? null) ?? { owner: ownerId ?? null, name: null, records: 0 }
    owners.set(ownerId ?? null, { ...own, records: own.records + 1 })
    if (!association || !tie) return
    if ('reason' in tie) {
      const none: Record<string, number> = association.none
      none[tie.reason] = (none[tie.reason] ?? 0) + 1
    } else if ('key' in tie.company) association.made += 1
    else association.existing += 1
  }
}
