import { z } from 'zod'
import { cronProblem } from '../../queues/cron.ts'
import { described, ofType, setting } from '../../domain/setting.ts'
import { crmNames, type CrmName } from '../../connectors/definitions.ts'
import { ConfigError } from '../../domain/errors.ts'
import { formatUsd } from '../../domain/money.ts'
import { usd } from '../../domain/usd-schema.ts'
import type { ListsConfig } from './lists.ts'
import type { SignalsConfig } from './watching/signals.ts'

const timeOfDay = ofType(
  'time of day',
  z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'is not a time of day such as 04:00'),
)

const periodSchema = ofType(
  'days or weeks',
  z.string().regex(/^[1-9]\d{0,2}[dw]$/, 'is not a number of days or weeks, such as 7d or 2w'),
)

const schedule = z
  .strictObject({
    connector: setting(z.enum(crmNames), {
      means: 'the CRM that a [schedule](operations.md) syncs; this, `list` or `signalsReport` must be set',
      defaultText: 'that of its list',
      example: 'hubspot',
    }),
    list: setting(z.string().min(1), {
      means:
        'the [list](lists.md#on-a-schedule) that it runs, in place of a sync: page 1 is bought, and the rest when something has changed',
      defaultText: 'none: it syncs a CRM',
      example: 'fintechs',
    }),
    budgetUsd: setting(usd, {
      means: 'the most that one run of its list spends',
      defaultText: '`budgetUsd` of the list',
      example: '2.50',
    }),
    reachableOnly: setting(z.boolean(), {
      means: 'go on though some rows of its list are behind the last page that the service answers',
      default: false,
      example: true,
    }),
    signalsReport: setting(z.string().min(1), {
      means:
        'the pipeline of [signals](signals.md#on-a-schedule) whose report it sends to the alert webhook, in place of a sync',
      defaultText: 'none: it syncs a CRM',
      example: 'pipeline',
    }),
    since: setting(periodSchema, {
      means: 'the period of its report: days or weeks',
      default: '7d',
      example: '1d',
    }),
    object: setting(z.string().min(1), {
      means: "company, person, or the CRM's own name",
      defaultText: 'every object, each in a run of its own',
      example: 'contacts',
    }),
    cron: described(ofType('cron, five fields or six', z.string()), {
      means: 'when it begins, in its time zone; of six fields the first is seconds',
      example: '0 2 * * *',
    }),
    timeZone: described(z.string().default('UTC'), {
      means: 'the time zone of all its times',
      example: 'Europe/Berlin',
    }),
    startNoLaterThan: setting(timeOfDay, {
      means: 'a run that could not begin by then is missed',
      defaultText: 'no limit',
      example: '03:00',
    }),
    stopAt: setting(timeOfDay, {
      means: 'no lookups are started from then on; the next run continues the rest',
      defaultText: 'no limit',
      example: '06:00',
    }),
    recipe: setting(z.string().min(1), {
      means: 'its recipe',
      defaultText: '`recipe`',
      example: 'contact',
    }),
    limit: setting(z.number().int().positive(), {
      means: 'at most so many records in each run; the next one continues behind them',
      defaultText: 'no limit',
      example: 1000,
    }),
    refresh: setting(z.boolean(), {
      means: 'read records whose answers are no longer fresh, the oldest first, instead of changed ones',
      default: false,
      example: true,
    }),
  })
  .superRefine((given, context) => {
    const { cron, timeZone } = given
    const problem = cronProblem({ cron, timeZone }, new Date())
    if (problem) context.addIssue({ code: 'custom', message: problem })
    const kinds = (['connector', 'list', 'signalsReport'] as const).filter((key) => given[key] !== undefined)
    const [kind] = kinds
    if (kind === undefined || kinds.length > 1) {
      context.addIssue({
        code: 'custom',
        message: 'needs one of `connector`, which it syncs, `list` and `signalsReport`',
      })
      return
    }
    const foreign = Object.entries(ofKinds).flatMap(([key, allowed]) =>
      given[key as keyof typeof ofKinds] === undefined || allowed.includes(kind) ? [] : [key],
    )
    if (foreign.length > 0)
      context.addIssue({
        code: 'custom',
        message: `${foreign.join(', ')}: not for schedules with \`${kind}\``,
      })
  })

/** The settings that only some kinds of schedules have. */
const ofKinds = {
  budgetUsd: ['list'],
  reachableOnly: ['list'],
  object: ['connector'],
  recipe: ['connector'],
  limit: ['connector'],
  refresh: ['connector'],
  stopAt: ['connector', 'list'],
  since: ['signalsReport'],
} as const satisfies Record<string, readonly string[]> as Record<
  'budgetUsd' | 'reachableOnly' | 'object' | 'recipe' | 'limit' | 'refresh' | 'stopAt' | 'since',
  readonly string[]
>

/** `{ nightly: { connector: 'hubspot', cron: '0 2 * * *', timeZone: 'Europe/Berlin', stopAt: '06:00' } }` */
export const schedulesSchema = z.record(
  z.string().regex(/^[A-Za-z][\w-]{0,39}$/, 'is not a name of letters, digits, _ and -'),
  schedule,
)

/** Stands where a CRM stands in a schedule, for one that reads the ledger alone. */
const ledgerSource = 'ledger'

export interface Schedule extends Omit<z.output<typeof schedule>, 'connector' | 'budgetUsd'> {
  name: string
  /** The CRM that it syncs, or into which its list goes; a report is made from the ledger. */
  connector: CrmName | typeof ledgerSource
  /** The most that a run of its list spends, in USD. */
  budgetUsd?: string
}

/** Returns the schedules; the one of a list has the list's CRM and object. Throws ConfigError for a list or pipeline that is not there. */
export function schedulesOf(
  schedules: z.output<typeof schedulesSchema> = {},
  lists: ListsConfig = {},
  signals: SignalsConfig = {},
): Schedule[] {
  return Object.entries(schedules).map(([name, { connector, budgetUsd, ...settings }]) => {
    const { list, signalsReport } = settings
    if (signalsReport !== undefined) {
      if (!Object.hasOwn(signals, signalsReport))
        throw new ConfigError(
          'no_such_pipeline',
          `schedules.${name}.signalsReport: there is no pipeline ${signalsReport}; there ${Object.keys(signals).length === 0 ? 'is none' : `are ${Object.keys(signals).join(', ')}`}`,
        )
      return { name, ...settings, connector: ledgerSource }
    }
    if (list === undefined) return { name, connector: connector!, ...settings }
    const found = Object.hasOwn(lists, list) ? lists[list] : undefined
    if (!found)
      throw new ConfigError(
        'no_list',
        `schedules.${name}.list: there is no list ${list}; there ${Object.keys(lists).length === 0 ? 'is none' : `are ${Object.keys(lists).join(', ')}`}`,
      )
    const budget = budgetUsd ?? found.budgetUsd
    if (budget === undefined)
      throw new ConfigError(
        'no_budget',
        `schedules.${name}: name the most that one run of ${list} may spend, as budgetUsd here or in lists.${list}`,
      )
    const { connector: crm, entity } = found.into
    return { name, ...settings, connector: crm, object: entity, budgetUsd: formatUsd(budget) }
  })
}
