import { wholeCredits } from '../../domain/credits.ts'
import type { Windows } from '../../domain/freshness.ts'
import type { CrmMapping } from '../../domain/mapping/mapping.ts'
import { resolveMapping } from '../../domain/mapping/schema.ts'
import { fieldNames } from '../../domain/fields.ts'
import { objectKinds } from '../../domain/words.ts'
import { connectorName, usd } from '../../http/desk/view/format.ts'
import type { SettingsSection } from '../../http/desk/model/ports.ts'
import { createApiTokenLedger } from '../../store/access/api-tokens.ts'
import { connectorNames, crmNames, crmOf, isCrmName } from '../../connectors/definitions.ts'
import { configuredCrms } from '../context/connectors.ts'
import type { Context } from '../context/context.ts'
import { ruleOf } from '../config/policies.ts'

/** The settings in force, as tables. No secret is among them: of credentials only that they are set. */
export async function settingsSections(context: Context): Promise<SettingsSection[]> {
  return [
    service(context),
    budgets(context),
    ...recipes(context),
    policies(context),
    ...mappings(context),
    await tokens(context),
    access(context),
  ]
}

function service({ config }: Context): SettingsSection {
  const { policy, freshness } = config
  return {
    title: 'Service and payment',
    columns: ['Setting', 'Value'],
    rows: [
      ['Data service', config.serviceUrl ?? 'not set'],
      ['Way in', config.apiKey ? 'API key, paid in credits' : 'paid a lookup'],
      ['Ways of paying', policy.order.join(', then ')],
      ['Network', policy.network],
      [
        'Recipients',
        policy.recipients.length > 0
          ? policy.recipients.join(', ')
          : 'the first one seen of a host is pinned',
      ],
      ['Dearest lookup', usd(policy.maxPriceAtomic)],
      ['An authorization lives for', `${config.authorizationSeconds} s`],
      ['Bought again after a loss', config.rebuyLost ? 'once' : 'never'],
      ['Answers are fresh for', freshFor(freshness)],
      [
        'Answers are kept for',
        config.answersKeptDays === undefined ? 'ever' : `${config.answersKeptDays} days`,
      ],
      ['At the same time', `${config.concurrency} lookups`],
    ],
  }
}

function budgets({ config: { caps } }: Context): SettingsSection {
  return {
    title: 'Budgets',
    note: 'At a cap work is parked until its window ends',
    columns: ['Window', 'Cap'],
    rows: [
      ['Run', usd(caps.runAtomic)],
      ['Day', usd(caps.dayAtomic)],
      ['Month', caps.monthAtomic === undefined ? 'none' : usd(caps.monthAtomic)],
      ...Object.entries(caps.connectorDayAtomic ?? {}).map(([name, cap]) => [`${name}, a day`, usd(cap)]),
      ...(caps.creditsRun === undefined ? [] : [['Run, in credits', String(wholeCredits(caps.creditsRun))]]),
      ...(caps.creditsDay === undefined ? [] : [['Day, in credits', String(wholeCredits(caps.creditsDay))]]),
    ],
  }
}

function recipes({ config }: Context): SettingsSection[] {
  const names = [
    ...new Set([config.defaultRecipe, ...config.schedules.flatMap(({ recipe }) => recipe ?? [])]),
  ]
  const rows = names.flatMap((name) =>
    objectKinds.flatMap((object) => {
      const recipe = attempt(() => config.recipes(object, name))
      return recipe
        ? [
            [
              `${name}, ${object}`,
              recipe.steps.map((step) => step.replace('.', ' ')).join(', '),
              recipe.fields.map((field) => field.replaceAll('_', ' ')).join(', '),
              recipe.priceCeilingAtomic === undefined ? 'none' : usd(recipe.priceCeilingAtomic),
            ],
          ]
        : []
    }),
  )
  return [
    {
      title: 'Recipes',
      note: 'Those that runs and schedules use',
      columns: ['Recipe', 'Steps', 'Fields', 'Ceiling a record'],
      rows,
    },
  ]
}

function policies({ config }: Context): SettingsSection {
  const connectors = [...crmNames, ...connectorNames.filter((name) => !isCrmName(name))]
  const fields = [...new Set(objectKinds.flatMap((object) => fieldNames(object)))]
  const special = fields.flatMap((field) => {
    const rules = connectors.map((connector) => ruleOf(config.policies, connector, field))
    const usual = connectors.map((connector) => ruleOf(config.policies, connector, ''))
    return rules.some((rule, index) => rule !== usual[index]) ? [[field, ...rules.map(spoken)]] : []
  })
  return {
    title: 'Field policies',
    note: 'What may be written over what',
    columns: ['Field', ...connectors.map(connectorName)],
    rows: [
      [
        special.length > 0 ? 'all others' : 'all fields',
        ...connectors.map((connector) => spoken(ruleOf(config.policies, connector, ''))),
      ],
      ...special.map(([field = '', ...rules]) => [field.replaceAll('_', ' '), ...rules]),
    ],
  }
}

function mappings({ config }: Context): SettingsSection[] {
  return configuredCrms(config).map((name) => ({
    title: `Mapping of ${connectorName(name)}`,
    columns: ['Our field', 'Object', 'Their field'],
    rows: mappingRows(resolveMapping(crmOf(name).mapping, config.connectors[name]?.mapping)),
  }))
}

function mappingRows(mapping: CrmMapping): string[][] {
  return Object.entries(mapping.entities).flatMap(([entity, { fields }]) =>
    Object.entries(fields).map(([field, { property }]) => [field.replaceAll('_', ' '), entity, property]),
  )
}

async function tokens({ database, now }: Context): Promise<SettingsSection> {
  const all = await createApiTokenLedger(database.db, { now }).list()
  return {
    title: 'API tokens',
    note: 'Their names and scopes; the tokens themselves are kept by nobody',
    columns: ['Name', 'Scopes', 'Calls a minute', 'Spend a day', 'Last used', 'State'],
    rows: all.map((token) => [
      token.name,
      token.scopes.join(', '),
      String(token.perMinute),
      token.dayCapAtomic === null ? 'as the budgets allow' : usd(token.dayCapAtomic),
      token.lastUsedAt?.toISOString().slice(0, 16).replace('T', ' ') ?? 'never',
      token.revokedAt ? 'revoked' : 'valid',
    ]),
  }
}

function access({ config }: Context): SettingsSection {
  const { users, proxy, hosts, idleMs, lifetimeMs } = config.desk
  return {
    title: 'Access to this desk',
    columns: ['Who or what', 'Value'],
    rows: [
      ...users.map(({ name, role }) => [name, `${role}, by password`]),
      ...(users.length === 0 && !proxy?.userHeader
        ? [['whoever sits at this machine', 'admin, without a password']]
        : []),
      ...(proxy
        ? [
            [
              'proxy',
              `${proxy.addresses.join(', ')}${proxy.userHeader ? `, names users in ${proxy.userHeader}` : ''}`,
            ],
          ]
        : []),
      ['Names of the desk', hosts?.join(', ') ?? 'by where it listens'],
      ['A session ends', `after ${idleMs / 60_000} min without use, and after ${lifetimeMs / 3_600_000} h`],
    ],
  }
}

const rules: Record<string, string> = {
  fill_blank: 'fill blanks',
  overwrite_ours: 'replace what is ours',
  overwrite: 'replace all',
  never: 'never',
}

function spoken(rule: string): string {
  return rules[rule] ?? rule
}

/** Found, not found, and what differs by operation. */
function freshFor({ foundDays, notFoundDays, operations = {} }: Windows): string {
  const own = Object.entries(operations).map(
    ([operation, window]) =>
      `${operation}: ${window.foundDays ?? foundDays} and ${window.notFoundDays ?? notFoundDays} days`,
  )
  return [`${foundDays} days when found, ${notFoundDays} when not`, ...own].join('; ')
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
