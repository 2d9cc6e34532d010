import { z } from 'zod'
import { ConfigError } from '../../../domain/errors.ts'
import { ofType, setting } from '../../../domain/setting.ts'
import type { Connections } from '../../../store/database/database.ts'
import type { Environment } from '../environment.ts'

/** A process by what it does: a role of `paydirt start`, or any other command and the library. */
export type ProcessRole = (typeof processRoles)[number]

const processRoles = ['all', 'web', 'worker', 'scheduler', 'command'] as const

const seconds = z.number().min(0).max(86_400)
const byRole = <Value extends z.ZodType>(value: Value) => z.partialRecord(z.enum(processRoles), value)
const roleNames = processRoles.map((role) => `\`${role}\``).join(', ')

/** The connections of each process to Postgres. The embedded database has one, without bounds. */
export const databaseSchema = z.strictObject({
  connections: setting(byRole(z.number().int().min(2).max(500)), {
    type: 'number by role',
    means: `the most connections of one process; a role is one of ${roleNames}`,
    defaultText: '10 each',
    example: { web: 20, worker: 5 },
  }),
  statementSeconds: setting(byRole(seconds), {
    type: 'seconds by role',
    means: 'the longest that one statement may take; 0: without end',
    defaultText: '`web` 30, `command` 900, others 300',
    example: { web: 10 },
  }),
  lockSeconds: setting(ofType('seconds', seconds), {
    means: 'the longest that a statement may wait for a lock; 0: without end',
    default: 30,
    example: 10,
  }),
  idleInTransactionSeconds: setting(ofType('seconds', seconds), {
    means: 'the longest that an open transaction may wait for its next statement; 0: without end',
    default: 60,
    example: 30,
  }),
  readBehindSeconds: setting(ofType('seconds', z.number().min(1).max(60)), {
    means: 'the most that the standby of `DATABASE_READ_URL` may be behind to be read',
    default: 3,
    example: 5,
  }),
})

/** Returns how each process connects, by its role. */
export function connectionsConfig(
  file: z.output<typeof databaseSchema> | undefined,
): (role: ProcessRole) => Connections {
  return (role) => ({
    most: file?.connections?.[role] ?? 10,
    applicationName: `paydirt-${role}`,
    limits: {
      statementSeconds: file?.statementSeconds?.[role] ?? statementSeconds(role),
      lockSeconds: file?.lockSeconds ?? 30,
      idleInTransactionSeconds: file?.idleInTransactionSeconds ?? 60,
    },
  })
}

/** The standby from which pages are read. */
export interface ReadsConfig {
  url: string
  mostBehindMs: number
}

/** @throws ConfigError for a standby without its primary */
export function readsConfig(
  { DATABASE_READ_URL: url, DATABASE_URL: primary }: Environment,
  file: z.output<typeof databaseSchema> | undefined,
): ReadsConfig | undefined {
  if (url === undefined) return undefined
  if (primary === undefined) {
    throw new ConfigError('bad_environment', 'DATABASE_READ_URL needs DATABASE_URL: it is a standby of that')
  }
  return { url, mostBehindMs: (file?.readBehindSeconds ?? 3) * 1_000 }
}

/**
 * @throws ConfigError for a process of one role without both servers: what it keeps inside, no other process sees, so that its
 *   work would be done by nobody
 */
export function assertShared(
  role: ProcessRole,
  { databaseUrl, redisUrl }: { databaseUrl: string | undefined; redisUrl: string | undefined },
): void {
  const missing = [
    ...(databaseUrl === undefined ? ['DATABASE_URL'] : []),
    ...(redisUrl === undefined ? ['REDIS_URL'] : []),
  ]
  if (role === 'all' || role === 'command' || missing.length === 0) return
  throw new ConfigError(
    'bad_environment',
    `a process with the role ${role} shares its work with others, which needs ${missing.join(' and ')}; without, use the role all`,
  )
}

/** A person waits for the web role. A command may read or erase a whole ledger. */
function statementSeconds(role: ProcessRole): number {
  if (role === 'web') return 30
  return role === 'command' ? 900 : 300
}
