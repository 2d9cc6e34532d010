import { z } from 'zod'
import { cronProblem } from '../../queues/cron.ts'
import { crmNames } from '../../connectors/definitions.ts'

const timeOfDay = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'is not a time of day such as 04:00')

const schedule = z
  .strictObject({
    connector: z.enum(crmNames),
    /** company, person, or the CRM's own name. Default: all its objects, each in a separate run. */
    object: z.string().min(1).optional(),
    /** Five fields, or six with seconds first; read in the time zone. */
    cron: z.string(),
    timeZone: z.string().default('UTC'),
    /** A run that could not begin by then is missed. Default: no limit. */
    startNoLaterThan: timeOfDay.optional(),
    /** No lookups are started from then on; the next run continues the rest. */
    stopAt: timeOfDay.optional(),
    recipe: z.string().min(1).optional(),
    /** At most so many records in each run; the next one continues behind them. */
    limit: z.number().int().positive().optional(),
    /** Reads records whose answers are no longer fresh, the oldest answer first, instead of changed records. */
    refresh: z.boolean().optional(),
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
