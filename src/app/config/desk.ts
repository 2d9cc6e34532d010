import { z } from 'zod'
import { ConfigError } from '../../domain/errors.ts'
import { httpsUrl } from '../../domain/https-url.ts'
import { described, setting } from '../../domain/setting.ts'
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

const explorer = z.union([
  z.literal(false),
  httpsUrl.refine((text) => text.includes('{transaction}'), 'must contain {transaction}'),
])

/** The `desk` of `paydirt.config.ts`: who may read, and who may act. */
export const deskSchema = z.strictObject({
  users: z
    .array(
      z.strictObject({
        name: described(z.string().min(1).max(100), {
          means: 'who may sign in to [the desk](desk.md)',
          example: 'ada',
        }),
        passwordHash: described(passwordHash, { isSecret: true, means: 'what `paydirt password` printed' }),
        role: described(role.default('viewer'), {
          means: 'whether they read, act, or manage access too',
          example: 'operator',
        }),
      }),
    )
    .optional(),
  proxy: z
    .strictObject({
      // The headers of a proxy are trusted only from its addresses.
      addresses: described(z.array(network).min(1), {
        means: 'addresses of a proxy in front of the desk, as addresses or networks',
        example: ['10.0.0.0/8'],
      }),
      userHeader: setting(z.string().regex(/^[A-Za-z0-9-]+$/, 'is not the name of a header'), {
        means: 'the header that names the user whom the proxy has signed in',
        defaultText: 'the desk signs in itself',
        example: 'x-forwarded-user',
      }),
      roles: setting(z.record(z.string(), role), {
        type: 'role by name of the user',
        means: 'roles of such users',
        example: { ada: 'operator' },
      }),
      defaultRole: setting(role, {
        means: 'the role of users who are not in `roles`',
        defaultText: 'they are refused',
        example: 'viewer',
      }),
    })
    .optional(),
  hosts: setting(z.array(z.string().min(1).toLowerCase()), {
    means: 'host names under which the desk answers, without port',
    defaultText: 'the loopback names on the loopback, else any',
    example: ['paydirt.example.com'],
  }),
  explorers: setting(
    z.record(z.string().regex(/^eip155:\d+$/, 'is not a chain such as eip155:8453'), explorer),
    {
      type: '`https://…{transaction}`, or `false`, by chain',
      keys: 'CHAIN',
      means: "block explorers for the desk's links to transactions; `false` for none",
      defaultText:
        '`eip155:8453` at basescan.org; no link for other chains, nor where the RPC is on this machine',
      example: { 'eip155:8453': 'https://base.blockscout.com/tx/{transaction}' },
    },
  ),
  idleMinutes: setting(
    z
      .number()
      .min(1)
      .max(7 * 1440),
    { means: 'a session ends after so many minutes without use', default: 60, example: 30 },
  ),
  sessionHours: setting(
    z
      .number()
      .min(0.1)
      .max(30 * 24),
    { means: 'and after so many hours in any case', default: 12, example: 8 },
  ),
})

export interface DeskConfig {
  users: DeskAccess['users']
  proxy: NonNullable<z.output<typeof deskSchema>['proxy']> | undefined
  hosts: string[] | undefined
  /** By chain, as configured. */
  explorers: Readonly<Record<string, string | false>>
  idleMs: number
  lifetimeMs: number
}

export function deskConfig(env: Environment, file: z.output<typeof deskSchema> = {}): DeskConfig {
  const { users = [], proxy, hosts, explorers = {}, idleMinutes = 60, sessionHours = 12 } = file
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
  if (twice) throw new ConfigError('bad_config', `desk.users: ${twice.name} is defined twice`)
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
    explorers,
    idleMs: idleMinutes * 60_000,
    lifetimeMs: sessionHours * 3_600_000,
  }
}

/**
 * Returns who may use the desk, for the host that the server listens on and its public address. Throws ConfigError when the
 * desk would be open to other machines without a sign-in. When no sign-in is configured and a setting says that a proxy on
 * this machine makes the desk public, the desk is closed. The other routes authenticate their callers themselves and stay
 * open.
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
      `PAYDIRT_HOST is ${host}, and the desk has no sign-in: set PAYDIRT_ADMIN_PASSWORD_HASH (\`paydirt password\` makes one), or listen on 127.0.0.1`,
    )
  }
  // Behind such a proxy every request comes from this machine, often as 127.0.0.1 and without a forwarding header.
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
