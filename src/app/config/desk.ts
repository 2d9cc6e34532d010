import { z } from 'zod'
import { ConfigError } from '../../domain/errors.ts'
import { addressMatcher, loopbackHosts, type DeskAccess } from '../../http/desk/access/access.ts'
import { isPasswordHash } from '../../http/desk/access/password.ts'
import { deskRoles } from '../../store/access/sessions.ts'
import type { Environment } from './environment.ts'

const role = z.enum(deskRoles)
const passwordHash = z.string().refine(isPasswordHash, 'is not a hash that `paydirt password` printed')
const network = z.string().refine((text) => {
  try {
    addressMatcher([text])
    return true
  } catch {
    return false
  }
}, 'is not an address or a network such as 10.0.0.0/8')

/** The `desk` of `paydirt.config.ts`: who may look, and who may act. */
export const deskSchema = z.strictObject({
  users: z
    .array(z.strictObject({ name: z.string().min(1).max(100), passwordHash, role: role.default('viewer') }))
    .optional(),
  /** A proxy that stands before the desk. Only from its addresses are its headers believed. */
  proxy: z
    .strictObject({
      addresses: z.array(network).min(1),
      /** The header in which it names whom it has signed in, such as `x-forwarded-user`. */
      userHeader: z
        .string()
        .regex(/^[A-Za-z0-9-]+$/, 'is not the name of a header')
        .optional(),
      roles: z.record(z.string(), role).optional(),
      /** Of users who are not in `roles`. Absent: they are turned away. */
      defaultRole: role.optional(),
    })
    .optional(),
  /** Names under which the desk answers, without port. Default: on the loopback its own names, else any. */
  hosts: z.array(z.string().min(1).toLowerCase()).optional(),
  /** A session ends when it was not used for so long, and after so long in any case. */
  idleMinutes: z
    .number()
    .min(1)
    .max(7 * 1440)
    .optional(),
  sessionHours: z
    .number()
    .min(0.1)
    .max(30 * 24)
    .optional(),
})

export interface DeskConfig {
  users: DeskAccess['users']
  proxy: NonNullable<z.output<typeof deskSchema>['proxy']> | undefined
  hosts: string[] | undefined
  idleMs: number
  lifetimeMs: number
}

export function deskConfig(env: Environment, file: z.output<typeof deskSchema> = {}): DeskConfig {
  const { users = [], proxy, hosts, idleMinutes = 60, sessionHours = 12 } = file
  const hash = env.PAYDIRT_ADMIN_PASSWORD_HASH
  if (hash !== undefined && !isPasswordHash(hash)) {
    throw new ConfigError(
      'bad_environment',
      'PAYDIRT_ADMIN_PASSWORD_HASH is not a hash that `paydirt password` printed',
    )
  }
  const all = [
    ...(hash === undefined ? [] : [{ name: 'admin', passwordHash: hash, role: 'admin' as const }]),
    ...users,
  ]
  const twice = all.find(({ name }, index) => all.findIndex((user) => user.name === name) !== index)
  if (twice) throw new ConfigError('bad_config', `desk.users: ${twice.name} is there twice`)
  if (proxy?.userHeader !== undefined && hosts === undefined) {
    throw new ConfigError(
      'bad_config',
      'desk.proxy.userHeader needs desk.hosts: the names that the proxy serves',
    )
  }
  return {
    users: all,
    proxy,
    hosts,
    idleMs: idleMinutes * 60_000,
    lifetimeMs: sessionHours * 3_600_000,
  }
}

/**
 * Who gets in, where the server listens on this host and the outside calls it by that address. Throws ConfigError when
 * the desk would stand open to others than those who sit at this machine. Where nobody signs in and something says that a
 * proxy on this machine makes it public, the desk is closed: the routes beside it have doors of their own and go on.
 */
export function deskAccess(
  { users, proxy, hosts }: DeskConfig,
  host: string,
  publicUrl?: string,
): DeskAccess {
  const isLocal = isLoopback(host)
  const signsIn = users.length > 0 || proxy?.userHeader !== undefined
  if (!isLocal && !signsIn) {
    throw new ConfigError(
      'desk_unprotected',
      `PAYDIRT_HOST is ${host}, and nobody would have to sign in to the desk: set PAYDIRT_ADMIN_PASSWORD_HASH (\`paydirt password\` makes one), or listen on 127.0.0.1`,
    )
  }
  // From such a proxy everybody comes from this machine, often under the name 127.0.0.1 and without a header of its own.
  const isPublished =
    (publicUrl !== undefined && !isLoopback(new URL(publicUrl).hostname)) ||
    proxy !== undefined ||
    (hosts ?? []).some((name) => !isLoopback(name))
  return {
    mode: signsIn ? 'sign_in' : isPublished ? 'closed' : 'open',
    users,
    proxy: proxy && {
      isTrusted: addressMatcher(proxy.addresses),
      userHeader: proxy.userHeader,
      roles: proxy.roles ?? {},
      defaultRole: proxy.defaultRole,
    },
    hosts: hosts ?? (isLocal ? loopbackHosts : []),
  }
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || addressMatcher(['127.0.0.0/8', '::1'])(host.replace(/^\[|\]$/g, ''))
}
