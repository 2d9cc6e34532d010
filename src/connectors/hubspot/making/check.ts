import { ConfigError } from '../../../domain/errors.ts'
import type { RecordMaker } from '../../creating.ts'
import type { HubspotEntity } from '../api/wire.ts'
import { grantedScopes } from '../check.ts'
import type { MakerDeps } from './deps.ts'
import { assertCreatable } from './draft.ts'
import { tiedScopes } from './scopes.ts'

type Problem = Awaited<ReturnType<NonNullable<RecordMaker['check']>>>[number]

/** Returns what the account lacks for making records and taking them back. */
export async function checkMaking(
  { api, properties, mapping, accessToken }: MakerDeps,
  entity: HubspotEntity,
): Promise<Problem[]> {
  const problems: Problem[] = []
  const fields = new Map((await properties.describe(entity)).map((field) => [field.name, field]))
  const hasKey = mapping.key !== undefined && fields.has(mapping.key)
  try {
    assertCreatable(mapping, entity, fields, [])
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const [message = '', todo = ''] = error.message.split(/: (?=add|delete)/)
    problems.push({ code: error.code, message, todo: `${todo[0]?.toUpperCase()}${todo.slice(1)}.` })
  }
  const granted = await grantedScopes(api, accessToken)
  const needed = [
    `crm.objects.${entity}.write`,
    ...tiedScopes,
    ...(hasKey ? [] : [`crm.schemas.${entity}.write`]),
  ]
  const missing = granted === undefined ? [] : needed.filter((scope) => !granted.includes(scope))
  if (missing.length > 0)
    problems.push({
      code: 'hubspot_missing_scopes',
      message: `making ${entity} and taking them back needs ${missing.join(', ')}`,
      todo: 'Add them to the scopes of the app, and install or rotate again.',
    })
  return problems
}
