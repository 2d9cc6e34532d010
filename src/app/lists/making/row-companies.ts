import { companyOfPerson, firstCompanyPlace } from '../../../domain/lists/company-of-person.ts'
import { recordKeyOf } from '../../../domain/lists/list-draft.ts'
import type { ListRow } from '../../../domain/lists/list-row.ts'
import type { JudgedRow } from '../../../domain/lists/judged-row.ts'
import type { PlannedCompany, PlannedRow } from '../../../store/lists/planned-rows.ts'
import type { ListSettings } from '../../config/lists.ts'
import type { Context } from '../../context/context.ts'
import { judgeLive } from '../judging/judge-live.ts'
import { rowFitter, type MakingConnector } from './fit-row.ts'

/** The company to which a person's record is tied, or the reason why it is tied to none. */
export type Tie = { company: PlannedCompany } | { reason: string }

type PersonRow = Parameters<typeof companyOfPerson>[0]

/** Finds the companies of people. */
export interface RowCompanies {
  /** The entity of the companies. */
  entity: string
  /**
   * Returns the tie of each row, and the companies that have to be made first. `known` returns those keys of which the plan has a
   * company already.
   */
  find(
    rows: readonly PersonRow[],
    known: (keys: readonly string[]) => Promise<ReadonlySet<string>>,
  ): Promise<{ ties: Tie[]; companies: PlannedRow[] }>
}

/** Returns the settings by which the companies of a list's people are judged. */
export function companySettings({ filters, exclude, into }: ListSettings, entity: string): ListSettings {
  return {
    search: 'company.search',
    filters,
    into: { connector: into.connector, entity },
    ...(exclude === undefined ? {} : { exclude }),
  }
}

/** Returns the entity of the companies to which the list's people are tied. Undefined: they are tied to none. */
export function companyEntityOf(
  { maker }: Pick<MakingConnector, 'maker'>,
  { into }: ListSettings,
): string | undefined {
  return into.associate === false ? undefined : maker.companiesOf(into.entity)
}

/**
 * Companies are found as the rows of a list of companies are: by the index and in the CRM as it is now, under every spelling. One that
 * is not there is made first, where something beside its name is known of it. In doubt a person is tied to none.
 */
export async function rowCompanies(
  context: Context,
  connector: MakingConnector,
  list: { name: string; settings: ListSettings; entity: string },
): Promise<RowCompanies> {
  const { entity } = list
  const settings = companySettings(list.settings, entity)
  const fit = await rowFitter(connector, settings, list.name)
  const hosts = context.config.networkHosts
  let place = firstCompanyPlace

  return {
    entity,
    async find(rows, known) {
      const companies = rows.map((row) => companyOfPerson(row, { hosts }))
      const distinct = new Map(companies.flatMap((each) => (each ? [[String(each.serviceId), each]] : [])))
      const judged = await judgeLive(context, connector, settings, [...distinct.values()])
      const ties = new Map<string, Tie>()
      const drafts = new Map<string, ListRow>()
      for (const each of judged) {
        const tie = tieOf(each, entity, list.settings, fit)
        ties.set(String(each.row.serviceId), tie)
        if ('company' in tie && 'key' in tie.company && !drafts.has(tie.company.key))
          drafts.set(tie.company.key, each.row)
      }
      const there = await known([...drafts.keys()])
      const made = [...drafts].filter(([key]) => !there.has(key))
      return {
        ties: companies.map(
          (each) => (each && ties.get(String(each.serviceId))) ?? { reason: 'the row names no company' },
        ),
        companies: made.map(([key, { identity, identities, values, page }]) => ({
          ordinal: (place += 1),
          key,
          identity,
          identities,
          values,
          // A row that was given stands on no page.
          page: page === 0 ? null : page,
          lookupKey: null,
        })),
      }
    },
  }
}

function tieOf(
  { verdict, reason, records, row }: JudgedRow,
  entity: string,
  { into }: ListSettings,
  fit: Awaited<ReturnType<typeof rowFitter>>,
): Tie {
  const [record] = records
  if (verdict === 'exists' && record) return { company: { entity, recordId: record.recordId } }
  if (verdict !== 'new') return { reason: `its company is ${verdict}: ${reason}` }
  if (into.associate === 'existing') return { reason: 'its company is not in the CRM' }
  const key = recordKeyOf(row)
  if (key === undefined) return { reason: 'nothing but a name is known of its company' }
  const { missing } = fit(row.values)
  if (missing.length > 0) return { reason: `the CRM needs ${missing.join(', ')} of its company` }
  return { company: { entity, key } }
}
