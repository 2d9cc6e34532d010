import { z } from 'zod'
import { cronProblem } from '../../queues/cron.ts'
import { described, ofType, setting } from '../../domain/setting.ts'
import { crmNames, type CrmName } from '../../connectors/definitions.ts'
import { ConfigError } from '../../domain/errors.ts'
import { formatUsd, type Atomic } from '../../domain/money.ts'
import { usd } from '../../domain/usd-schema.ts'
import type { ListsConfig } from './lists.ts'
import type { ChampionsConfig } from './watching/champions.ts'
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
      means:
        'the CRM that a [schedule](operations.md) syncs; this, `list`, `signals`, `signalsReport` or `champions` must be set',
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
      means: 'the most that one run of its list, pipeline or champions spends',
      defaultText: '`budgetUsd` of the list, pipeline or champions',
      example: '2.50',
    }),
    reachableOnly: setting(z.boolean(), {
      means: 'go on though some rows of its list are behind the last page that the service answers',
      default: false,
      example: true,
    }),
    signals: setting(z.string().min(1), {
      means: 'the pipeline of [signals](signals.md#on-a-schedule) that it runs, in place of a sync',
      defaultText: 'none: it syncs a CRM',
      example: 'pipeline',
    }),
    signalsReport: setting(z.string().min(1), {
      means:
        'the pipeline of [signals](signals.md#on-a-schedule) whose report it sends to the alert webhook, in place of a sync',
      defaultText: 'none: it syncs a CRM',
      example: 'pipeline',
    }),
    champions: setting(z.string().min(1), {
      means: 'the [champions](champions.md#on-a-schedule) that it looks up again, in place of a sync',
      defaultText: 'none: it syncs a CRM',
      example: 'customers',
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
    const kinds = (['connector', 'list', 'signals', 'signalsReport', 'champions'] as const).filter(
      (key) => given[key] !== undefined,
    )
    const [kind] = kinds
    if (kind === undefined || kinds.length > 1) {
      context.addIssue({
        code: 'custom',
        message:
          'needs one of `connector`, which it syncs, `list`, `signals`, `signalsReport` and `champions`',
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
  budgetUsd: ['list', 'signals', 'champions'],
  reachableOnly: ['list'],
  object: ['connector'],
  recipe: ['connector'],
  limit: ['connector'],
  refresh: ['connector'],
  stopAt: ['connector', 'list', 'signals', 'champions'],
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
export const ledgerSource = 'ledger'

export interface Schedule extends Omit<z.output<typeof schedule>, 'connector' | 'budgetUsd'> {
  name: string
  /** The CRM that it syncs, into which its list goes, or whose companies or people it watches; a report is made from the ledger. */
  connector: CrmName | typeof ledgerSource
  /** The most that a run of its list, pipeline or champions spends, in USD. */
  budgetUsd?: string
}

/**
 * Returns the schedules; the one of a list, pipeline or champions has its CRM and object. Throws ConfigError for a name that is not there,
 * and for one without a budget.
 */
export function schedulesOf(
  schedules: z.output<typeof schedulesSchema> = {},
  lists: ListsConfig = {},
  signals: SignalsConfig = {},
  champions: ChampionsConfig = {},
): Schedule[] {
  return Object.entries(schedules).map(([name, { connector, budgetUsd: own, ...settings }]) => {
    const { list, signals: pipeline, signalsReport, champions: watch } = settings
    const place = `schedules.${name}`
    if (signalsReport !== undefined) {
      namedOf(signals, signalsReport, { place: `${place}.signalsReport`, code: 'no_such_pipeline' })
      return { name, ...settings, connector: ledgerSource }
    }
    if (pipeline !== undefined) {
      const { accounts, budgetUsd } = namedOf(signals, pipeline, {
        place: `${place}.signals`,
        code: 'no_such_pipeline',
      })
      const crm: Pick<Schedule, 'connector' | 'object'> =
        'list' in accounts
          ? { connector: ledgerSource }
          : {
              connector: accounts.connector,
              ...(accounts.entity !== undefined && { object: accounts.entity }),
            }
      return { name, ...settings, ...crm, budgetUsd: budgetFor(place, 'signals', pipeline, own ?? budgetUsd) }
    }
    if (watch !== undefined) {
      const given = namedOf(champions, watch, { place: `${place}.champions`, code: 'no_champions' })
      return {
        name,
        ...settings,
        connector: given.connector,
        ...(given.entity !== undefined && { object: given.entity }),
        budgetUsd: budgetFor(place, 'champions', watch, own ?? given.budgetUsd),
      }
    }
    if (list === undefined) return { name, connector: connector!, ...settings }
    const { into, budgetUsd } = namedOf(lists, list, { place: `${place}.list`, code: 'no_list' })
    const { connector: crm, entity } = into
    return {
      name,
      ...settings,
      connector: crm,
      object: entity,
      budgetUsd: budgetFor(place, 'lists', list, own ?? budgetUsd),
    }
  })
}

const kindOf = { no_list: 'list', no_such_pipeline: 'pipeline', no_champions: 'watch of champions' } as const

function namedOf<Settings>(
  known: Record<string, Settings>,
  name: string,
  { place, code }: { place: string; code: keyof typeof kindOf },
): Settings {
  const found = Object.hasOwn(known, name) ? known[name] : undefined
  if (found !== undefined) return found
  const names = Object.keys(known)
  throw new ConfigError(
    code,
    `${place}: there is no ${kindOf[code]} ${name}; there ${names.length === 0 ? 'is none' : `are ${names.join(', ')}`}`,
  )
}

function budgetFor(
  place: string,
  room: 'lists' | 'signals' | 'champions',
  name: string,
  given: Atomic | undefined,
): string {
  if (given !== undefined) return formatUsd(given)
  throw new ConfigError(
    'no_budget',
    `${place}: name the most that one run of ${name} may spend, as budgetUsd here or in ${room}.${name}`,
  )
}
