import { ConfigError } from '../../domain/errors.ts'
import { formatUsd } from '../../domain/money.ts'
import type { HttpMethod } from '../../domain/ports/transport.ts'
import { operations, type Operation } from '../../domain/words.ts'
import { account } from './account.ts'
import { companies } from './companies.ts'
import type { Access, CatalogueEntry, Claim, Family } from './entry.ts'
import { expansions } from './expansions.ts'
import { market } from './market.ts'
import { monitors } from './monitors.ts'
import { pathNames, type EndpointName, type FurtherPath, type Paths } from './path-names.ts'
import { people } from './people.ts'

export const families = { companies, people, market, expansions, monitors, account } satisfies Record<
  string,
  Family
>
export type FamilyName = keyof typeof families

/** The setting of `service.operations` for one operation. */
export interface OperationSetting {
  method?: HttpMethod | undefined
  path?: string | undefined
  access?: Access | undefined
  /** Places in the answer: `{ rows: 'data.jobs', total: 'data.pagination.total', id: 'job_id', at: 'data' }`. */
  fields?: Readonly<Record<string, string>> | undefined
  /** By key of the catalogue: the service's own name of it. */
  rename?: Readonly<Record<string, string>> | undefined
  priceUsd?: bigint | undefined
}
export type OperationSettings = Readonly<Partial<Record<Operation, OperationSetting>>>

/** An entry with the settings applied. */
export interface Contract extends CatalogueEntry {
  family: FamilyName
  setting: OperationSetting
  /** By key of the catalogue: the name under which it leaves. */
  wireNames: Readonly<Record<string, string>>
}

export interface Catalogue {
  of(operation: Operation): Contract
  /** Every operation, in the order of the families. */
  all(): readonly Contract[]
}

/** Every operation: one that no family has does not compile. */
const entries: Readonly<Record<Operation, Omit<CatalogueEntry, 'operation'>>> = {
  ...companies,
  ...people,
  ...market,
  ...expansions,
  ...monitors,
  ...account,
}

const familyOf = Object.fromEntries(
  Object.entries(families).flatMap(([family, members]) =>
    Object.keys(members).map((operation) => [operation, family]),
  ),
) as Record<Operation, FamilyName>

/** Returns the names that the settings can give to what is read from an operation's answer. */
export function fieldSettings(operation: Operation): string[] {
  return entries[operation].answer.rows ? ['rows', 'id', 'total'] : ['at']
}

/** Returns the catalogue with the settings applied. `paths` are those of `service.paths`; `settings` win over them. */
export function createCatalogue(settings: OperationSettings = {}, paths: Paths = {}): Catalogue {
  const contracts = new Map(
    operations.map((operation) => [operation, contractOf(operation, settings[operation], paths)]),
  )
  return {
    of: (operation) => contracts.get(operation) as Contract,
    all: () => (Object.keys(entries) as Operation[]).map((operation) => contracts.get(operation) as Contract),
  }
}

/** The catalogue without settings. */
export const publishedCatalogue = createCatalogue()

/** Returns the path that has a name in `service.paths`. */
export function pathNamed(catalogue: Catalogue, name: EndpointName): string {
  const [operation, more]: readonly [Operation, more?: FurtherPath] = pathNames[name]
  const contract = catalogue.of(operation)
  return more === undefined ? contract.path.value : furtherPath(contract, more)
}

/** Returns a further path of an operation. Throws ConfigError for an operation without it. */
export function furtherPath({ operation, more }: Contract, name: FurtherPath): string {
  const claim = more?.[name]
  if (!claim) throw new ConfigError('no_path', `${operation} has no path for ${name}`)
  return claim.value
}

function contractOf(operation: Operation, setting: OperationSetting = {}, paths: Paths): Contract {
  const entry = entries[operation]
  const named = Object.entries(paths).flatMap(([name, path]) => {
    const [of, more]: readonly [Operation, more?: FurtherPath] = pathNames[name as EndpointName]
    return of === operation && path !== undefined ? [{ more, path }] : []
  })
  const own = setting.path ?? named.find(({ more }) => more === undefined)?.path
  const { answer } = entry
  const { rows, id, total, at } = setting.fields ?? {}
  return {
    ...entry,
    operation,
    family: familyOf[operation],
    setting: { ...setting, ...(own !== undefined && { path: own }) },
    method: replaced(entry.method, setting.method),
    path: replaced(entry.path, own),
    access: replaced(entry.access, setting.access),
    price: replaced(entry.price, setting.priceUsd === undefined ? undefined : formatUsd(setting.priceUsd)),
    answer: {
      ...answer,
      at: replaced(answer.at, rows ?? at),
      ...(answer.rows && {
        rows: { id: replaced(answer.rows.id, id), total: replaced(answer.rows.total, total) },
      }),
    },
    ...(entry.more && {
      more: Object.fromEntries(
        Object.entries(entry.more).map(([name, claim]) => [
          name,
          replaced(claim, named.find(({ more }) => more === name)?.path),
        ]),
      ),
    }),
    wireNames: setting.rename ?? {},
  }
}

function replaced<T>(claim: Claim<T>, value: T | undefined): Claim<T> {
  return value === undefined ? claim : { ...claim, value }
}
