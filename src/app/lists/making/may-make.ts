import type { Connector } from '../../../connectors/connector.ts'
import { ConfigError } from '../../../domain/errors.ts'
import { objectOfList, type ListSettings } from '../../config/lists.ts'
import type { Context } from '../../context/context.ts'
import { indexOfList } from '../judging/judge-list.ts'
import type { MakingConnector } from './fit-row.ts'
import { companyEntityOf, companySettings } from './row-companies.ts'

/** Returns the connector as one in which a list's records can be made. Throws ConfigError where they cannot. */
export function assertMaking(
  connector: Connector,
  { search, people, into: { entity, owner, associate } }: ListSettings,
  list: string,
): MakingConnector {
  const { maker, entities, name } = connector
  if (!maker) throw new ConfigError('makes_no_records', `no records can be made in ${name}`)
  const object = objectOfList({ search, people })
  if (entities[entity] !== object) {
    const known = Object.keys(entities).filter((each) => entities[each] === object)
    throw new ConfigError(
      'unknown_entity',
      `lists.${list}.into.entity: ${name} has no object ${entity} for ${object === 'company' ? 'companies' : 'people'}; there is ${known.join(', ')}`,
    )
  }
  const companies = maker.companiesOf(entity)
  const isFromCompany = typeof owner === 'object' && 'fromCompany' in owner
  if (companies === undefined && (associate === true || associate === 'existing'))
    throw new ConfigError(
      'no_association',
      `lists.${list}.into.associate: ${name} ties no ${entity} to a company: leave it out`,
    )
  if (isFromCompany && (companies === undefined || associate === false))
    throw new ConfigError(
      'no_company_owner',
      `lists.${list}.into.owner: records of ${entity} that are tied to no company have no owner from it: name an id, or { roundRobin: [ID, …] }`,
    )
  return { ...connector, maker }
}

/** Throws ConfigError while the index lacks records that a row could be, or the companies of people. */
export async function assertIndexed(
  context: Context,
  connector: Pick<MakingConnector, 'maker'>,
  settings: ListSettings,
): Promise<void> {
  const companies = objectOfList(settings) === 'person' ? companyEntityOf(connector, settings) : undefined
  const needed = [settings, ...(companies === undefined ? [] : [companySettings(settings, companies)])]
  for (const each of needed)
    if ((await indexOfList(context, each))?.isComplete !== true) throw indexIncomplete(settings)
}

function indexIncomplete({ into: { connector } }: ListSettings): ConfigError {
  return new ConfigError(
    'index_incomplete',
    `no records are made while the index of ${connector} is not complete, because one that is there could be overlooked: \`paydirt index ${connector}\` reads it, at no cost`,
  )
}

/** Returns the reasons why the CRM would refuse new records, by its fields and rights. */
export async function refusalsOf(connector: MakingConnector, entity: string): Promise<string[]> {
  const fields = await connector.ensureFields(entity, { dryRun: true, forCreating: true })
  const isMadeByApply = fields.some(({ status }) => status === 'would_create')
  const problems = (await connector.maker.check?.(entity)) ?? []
  return [
    ...fields.flatMap(({ name, status, reason }) =>
      status === 'missing' || status === 'conflict'
        ? [`${name} ${reason ?? 'is missing, and cannot be created'}`]
        : [],
    ),
    ...problems.flatMap(({ code, message, todo }) =>
      isMadeByApply && code.endsWith('key_missing') ? [] : [`${message}. ${todo}`],
    ),
  ]
}
