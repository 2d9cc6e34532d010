import { z } from 'zod'
import { nearNames } from '../../../domain/normalise/near-names.ts'
import { ofType, setting } from '../../../domain/setting.ts'

/** The parts whose lines have a level of their own. */
const logModules = [
  'alerts',
  'monitors',
  'pay',
  'planning',
  'queues',
  'runs',
  'schedules',
  'service',
  'store',
  'web',
  'workers',
] as const
export type LogModule = (typeof logModules)[number]

const levels = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof levels)[number]
type ModuleLevels = { [name in LogModule]?: LogLevel | undefined }

export interface LogConfig {
  level: LogLevel
  modules: ModuleLevels
}

const level = z.enum(levels)

/** The `log` of `paydirt.config.ts`. */
export const logSchema = z.strictObject({
  level: setting(level, {
    means: 'how much is logged, as JSON lines on standard error; `PAYDIRT_LOG_LEVEL` goes before it',
    default: 'warn',
    example: 'info',
  }),
  modules: setting(
    ofType(
      `level by module (${logModules.join(', ')})`,
      z.strictObject(
        Object.fromEntries(logModules.map((name) => [name, level.optional()])) as Record<
          LogModule,
          z.ZodOptional<typeof level>
        >,
      ),
    ),
    {
      means: 'modules that log more or less than the others',
      defaultText: 'every module as `log.level`',
      example: { workers: 'debug' },
    },
  ),
})

/** `info`, `pay=debug`, or `info,pay=debug,web=error`. */
export const logLevels = ofType(
  `one of ${levels.join(', ')}, and \`MODULE=LEVEL\` for single modules, comma-separated`,
  z.string().transform((text, context): { level?: LogLevel; modules: ModuleLevels } => {
    const found: { level?: LogLevel; modules: ModuleLevels } = { modules: {} }
    for (const part of text.split(',').map((each) => each.trim())) {
      const [first = '', second] = part.split('=').map((each) => each.trim())
      const word = second ?? first
      const isLevel = (levels as readonly string[]).includes(word)
      if (!isLevel) context.addIssue(`has a part that names no level (${levels.join(', ')})`)
      else if (second === undefined) found.level = word as LogLevel
      else if ((logModules as readonly string[]).includes(first))
        found.modules[first as LogModule] = word as LogLevel
      else context.addIssue(unknownModule(first))
    }
    return found
  }),
)

/** The value is not repeated: a secret may have been put into the wrong variable. */
function unknownModule(name: string): string {
  const near = nearNames(name, logModules)
  return `names an unknown module; ${near.length > 0 ? `did you mean ${near.join(' or ')}?` : `there are ${logModules.join(', ')}`}`
}

/** The environment goes before the file, module by module. */
export function logConfig(
  env: z.output<typeof logLevels> | undefined,
  file: z.output<typeof logSchema> | undefined,
): LogConfig {
  return {
    level: env?.level ?? file?.level ?? 'warn',
    modules: { ...file?.modules, ...env?.modules },
  }
}
