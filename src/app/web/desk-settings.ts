import { wholeCredits } from '../../domain/credits.ts'
import type { Windows } from '../../domain/freshness.ts'
import type { CrmMapping } from '../../domain/mapping/mapping.ts'
import { resolveMapping } from '../../domain/mapping/schema.ts'
import { capsOf, stepPrices } from '../../domain/planning/prices.ts'
import { fieldNames } from '../../domain/fields.ts'
import { objectKinds } from '../../domain/words.ts'
import { connectorName, stamp, stepName, usd } from '../../http/desk/view/format.ts'
import type { SettingsSection } from '../../http/desk/model/ports.ts'
import { createApiTokenLedger } from '../../store/access/api-tokens.ts'
import { connectorNames, crmNames, crmOf, isCrmName } from '../../connectors/definitions.ts'
import { configuredCrms } from '../context/connectors.ts'
import type { Context } from '../context/context.ts'
import { ruleOf } from '../config/policies.ts'

/** Returns the settings in force as tables. Credentials appear only as set or not set, never by value. */
export async function settingsSections(context: Context): Promise<SettingsSection[]> {
  return [
    service(context),
    prices(context),
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
      ['Access', config.apiKey ? 'API key, paid in credits' : 'payment per lookup'],
      ['Payment protocols', policy.order.join(', then ')],
      ['Network', policy.network],
      [
        'Recipients',
        policy.recipients.length > 0
          ? policy.recipients.join(', ')
          : 'the first recipient of each host is pinned',
      ],
      ['Maximum price of a step without its own', usd(policy.maxPriceAtomic)],
      ['Authorization lifetime', `${config.authorizationSeconds} s`],
      ['Repeat purchase after a loss', config.rebuyLost ? 'once' : 'never'],
      ['Answer freshness', freshFor(freshness)],
      ['Answer retention', keptFor(config.keptDays.answers)],
      ['Signal retention', keptFor(config.keptDays.signals)],
      ['Record retention', keptFor(config.keptDays.records)],
      ['Message retention', keptFor(config.keptDays.messages)],
      ['Audit retention', keptFor(config.keptDays.audit)],
      ['Concurrency', `${config.concurrency} lookups`],
    ],
  }
}

function keptFor(days: number | undefined): string {
  return days === undefined ? 'unlimited' : `${days} days`
}

function prices({ config }: Context): SettingsSection {
  return {
    title: 'Prices',
    note: 'A step whose price is above its maximum price is not bought',
    columns: ['Step', 'Price of one lookup', 'Maximum price', 'State'],
    rows: stepPrices(config.prices, capsOf(config.policy)).map(
      ({ step, priceAtomic, capAtomic, isStopped }) => [
        stepName(step),
        priceAtomic === undefined ? 'not published' : usd(priceAtomic),
        usd(capAtomic),
        isStopped ? 'not bought' : 'allowed',
      ],
    ),
  }
}

function budgets({ config: { caps } }: Context): SettingsSection {
  return {
    title: 'Budgets',
    note: 'When one is used up, work is parked until the window ends',
    columns: ['Window', 'Budget'],
    rows: [
      ['Run', usd(caps.runAtomic)],
      ['Day', usd(caps.dayAtomic)],
      ['Month', caps.monthAtomic === undefined ? 'none' : usd(caps.monthAtomic)],
      ...Object.entries(caps.connectorDayAtomic ?? {}).map(([name, cap]) => [`${name}, per day`, usd(cap)]),
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
      note: 'The default recipe and those of schedules',
      columns: ['Recipe', 'Steps', 'Fields', 'Maximum cost per record'],
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
    return rules.some((rule, index) => rule !== usual[index]) ? [[field, ...rules.map(ruleText)]] : []
  })
  return {
    title: 'Field policies',
    note: 'When a field of the CRM may be overwritten',
    columns: ['Field', ...connectors.map(connectorName)],
    rows: [
      [
        special.length > 0 ? 'all other fields' : 'all fields',
        ...connectors.map((connector) => ruleText(ruleOf(config.policies, connector, ''))),
      ],
      ...special.map(([field = '', ...rules]) => [field.replaceAll('_', ' '), ...rules]),
    ],
  }
}

function mappings({ config }: Context): SettingsSection[] {
  return configuredCrms(config).map((name) => ({
    title: `Mapping of ${connectorName(name)}`,
    columns: ['Paydirt field', 'Object', 'CRM field'],
    rows: mappingRows(resolveMapping(crmOf(name).mapping, config.connectors[name]?.mapping)),
  }))
}

function mappingRows(mapping: CrmMapping): string[][] {
  return Object.entries(mapping.entities).flatMap(([entity, { fields }]) =>
    Object.entries(fields).map(([field, { property }]) => [field.replaceAll('_', ' '), entity, property]),
  )
}

async function tokens(context: Context): Promise<SettingsSection> {
  const all = await createApiTokenLedger(context.database.db, { now: context.now }).list()
  return {
    title: 'API tokens',
    note: 'Names and scopes only; the tokens themselves are not stored',
    columns: ['Name', 'Scopes', 'Calls per minute', 'Spend per day', 'Last used', 'State'],
    rows: all.map((token) => [
      token.name,
      token.scopes.join(', '),
      String(token.perMinute),
      token.dayCapAtomic === null ? 'as the budgets allow' : usd(token.dayCapAtomic),
      token.lastUsedAt ? stamp(token.lastUsedAt, context.now()) : 'never',
      token.revokedAt ? 'revoked' : 'active',
    ]),
  }
}

function access({ config }: Context): SettingsSection {
  const { users, proxy, hosts, idleMs, lifetimeMs } = config.desk
  return {
    title: 'Access to this desk',
    columns: ['Setting', 'Value'],
    rows: [
      ...users.map(({ name, role }) => [name, `${role}, by password`]),
      ...(users.length === 0 && !proxy?.userHeader
        ? [['anyone at this machine', 'admin, without a password']]
        : []),
      ...(proxy
        ? [
            [
              'proxy',
              `${proxy.addresses.join(', ')}${proxy.userHeader ? `, names users in ${proxy.userHeader}` : ''}`,
            ],
          ]
        : []),
      ['Host names', hosts?.join(', ') ?? 'by listening address'],
      ['Session lifetime', `${idleMs / 60_000} min idle, ${lifetimeMs / 3_600_000} h in total`],
    ],
  }
}

const rules: Record<string, string> = {
  fill_blank: 'fill blank fields',
  overwrite_ours: 'overwrite our own values',
  overwrite: 'overwrite',
  never: 'never',
}

function ruleText(rule: string): string {
  return rules[rule] ?? rule
}

/** Formats the windows for found and not found, and those that differ by operation. */
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
