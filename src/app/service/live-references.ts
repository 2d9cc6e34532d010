import { identifierOf, type Identifier } from '../../domain/subjects/identifiers.ts'
import type { Operation } from '../../domain/words.ts'
import { valueAt } from '../../service/calls/json-path.ts'
import { readPage } from '../../service/calls/read-answer.ts'
import type { Catalogue } from '../../service/catalogue/catalogue.ts'
import { lastFoundDomain } from '../../store/contract/known-company.ts'
import { newestFound } from '../../store/contract/newest-found.ts'
import type { Context } from '../context/context.ts'

/** The subjects that the requests of live checks can name. */
export interface References {
  /** The website of a company. */
  domain: string | undefined
  /** The profile URL of a company. */
  company: string | undefined
  /** The service's ids of companies. */
  companyIds: readonly string[]
  person: { profnet_url?: string; people_search_id?: string } | undefined
  monitorId: string | undefined
}

/** The searches whose rows have what a request needs, the one that finds most first. */
export const sourcesOf = {
  company: ['company.search'],
  companyIds: ['company.similar', 'company.search', 'expansion.search', 'expansion.lookup'],
  person: ['people.search'],
  monitorId: ['monitor.list'],
} as const satisfies Partial<Record<keyof References, readonly Operation[]>>
export type Sourced = keyof typeof sourcesOf

const searches = [...new Set([...Object.values(sourcesOf).flat(), 'people.similar'] as Operation[])]
/** Operations of which the ledger keeps the record of the company itself. */
const lookups = ['company.profile', 'company.lookup', 'company.enrich'] as const

/**
 * Reads from the answers in the ledger what requests can name. What a person has named counts before it. Nobody on the list of
 * suppressed people and companies is among it.
 */
export async function readReferences(
  {
    config: { catalogue },
    database: { db },
    suppressions,
  }: Pick<Context, 'config' | 'database' | 'suppressions'>,
  named: { company: string | undefined; person: string | undefined },
): Promise<References> {
  const rows = await rowsOf(db, catalogue)
  const people = rows.filter(({ operation }) => operation.startsWith('people.'))
  const companies = rows.filter(({ operation }) => !operation.startsWith('people.'))
  const isAllowed = async (kind: 'profile_url' | 'domain', value: string | undefined) => {
    if (value === undefined) return false
    const canonical = identifierOf(kind, value)
    const own: Identifier[] = canonical.ok ? [{ kind, value: canonical.value }] : []
    return canonical.ok && (await suppressions.match([own])).size === 0
  }
  // An id alone does not tell whose it is.
  const isListEmpty = (await suppressions.list()).length === 0
  const allowed = async (each: Row) =>
    each.profile === undefined ? each.id !== undefined && isListEmpty : isAllowed('profile_url', each.profile)
  const person = named.person === undefined ? await firstOf(people, allowed) : { profile: named.person }
  const company = await firstOf(companies, (each) => isAllowed('profile_url', each.profile))
  return {
    domain:
      named.company ??
      (await lastFoundDomain(db)) ??
      (await firstOf(companies, (each) => isAllowed('domain', each.domain)))?.domain,
    company: company?.profile,
    companyIds: [...new Set(rows.flatMap(({ companyId }) => companyId ?? []))],
    person: person && {
      ...(person.profile !== undefined && { profnet_url: person.profile }),
      ...('id' in person && person.id !== undefined && { people_search_id: person.id }),
    },
    monitorId: rows.find(({ operation }) => operation === 'monitor.list')?.id,
  }
}

interface Row {
  operation: Operation
  id?: string | undefined
  profile?: string | undefined
  domain?: string | undefined
  companyId?: string | undefined
}

async function rowsOf(db: Context['database']['db'], catalogue: Catalogue): Promise<Row[]> {
  const answers = await newestFound(db, [...searches, ...lookups])
  return answers.flatMap(({ operation, answer }): Row[] => {
    const contract = catalogue.of(operation)
    const { rows } = contract.answer
    // A row of a search that ignored a filter is a stranger's, and is as good: only the form of the answer is asked for.
    const documents = rows ? readPage(contract, answer).rows : [answer]
    return documents.map((each) => ({
      operation,
      id: rows && textAt(each, rows.id.value),
      profile: textAt(each, 'profnet_url'),
      domain: textAt(each, 'domain'),
      companyId: textAt(each, 'domain_search_id'),
    }))
  })
}

function textAt(value: unknown, path: string): string | undefined {
  const found = valueAt(value, path)
  if (typeof found === 'number') return String(found)
  return typeof found === 'string' && found !== '' ? found : undefined
}

async function firstOf<T>(
  values: readonly T[],
  test: (value: T) => Promise<boolean>,
): Promise<T | undefined> {
  for (const value of values) if (await test(value)) return value
  return undefined
}
