import { z } from 'zod'
import { cronProblem } from '../../queues/cron.ts'
import { described, ofType, setting } from '../../domain/setting.ts'
import { crmNames } from '../../connectors/definitions.ts'

const timeOfDay = ofType(
  'time of day',
  z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'is not a time of day such as 04:00'),
)

const schedule = z
  .strictObject({
    connector: described(z.enum(crmNames), {
      means: 'the CRM that a [schedule](operations.md) syncs',
      example: 'hubspot',
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
  .superRefine(({ cron, timeZone }, context) => {
    const problem = cronProblem({ cron, timeZone }, new Date())
    if (problem) context.addIssue({ code: 'custom', message: problem })
  })

/** `{ nightly: { connector: 'hubspot', cron: '0 2 * * *', timeZone: 'Europe/Berlin', stopAt: '06:00' } }` */
export const schedulesSchema = z.record(
  z.string().regex(/^[A-Za-z][\w-]{0,39}$/, 'is not a name of letters, digits, _ and -'),
  schedule,
)

export interface Schedule extends z.output<typeof schedule> {
  name: string
}

export function schedulesOf(schedules: z.output<typeof schedulesSchema> = {}): Schedule[] {
  return Object.entries(schedules).map(([name, settings]) => ({ name, ...settings }))
}
