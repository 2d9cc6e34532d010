import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Context, MiddlewareHandler } from 'hono'
import { getCookie, setCookie } from 'hono/cookie'
import type { DeskRole, SessionLedger } from '../../../store/access/sessions.ts'
import { prefersPage, Problem } from '../../server/problem.ts'
import { arrivalOf, mayAct, type Arrival, type DeskAccess, type DeskUser } from './access.ts'

/** The person who made a request. */
export interface Visitor {
  /** Undefined when not signed in. */
  user: string | undefined
  role: DeskRole | undefined
  /** Part of every form; see `csrfOf`. */
  csrf: string
  address: string
  isSecure: boolean
  /** True when signed in by a password here, so that signing out is possible. */
  hasSession: boolean
  theme: 'auto' | 'light' | 'dark'
}

export interface DeskEnv {
  Variables: {
    visitor: Visitor
    /** The page was read from a standby, which may lack what is younger than this. */
    behindMs?: number | undefined
  }
  Bindings: { incoming?: { socket?: { remoteAddress?: string } } }
}

export type DeskContext = Context<DeskEnv>

export interface GateOptions {
  access: DeskAccess
  sessions: SessionLedger
  /** Called for each denied request with its kind, to be counted. Never gets personal data. */
  onDenied?: ((kind: string) => void) | undefined
}

const contentPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "form-action 'self'",
  "base-uri 'none'",
].join('; ')

const refusals: Record<Exclude<Arrival, 'local' | 'sign_in'>, string> = {
  unprotected:
    'The desk is closed: no user is set up, and other machines can reach it. Set PAYDIRT_ADMIN_PASSWORD_HASH (`npx paydirt password` prints one), then restart.',
  host: 'The desk does not accept this host name.',
  open_behind_proxy: 'The desk is behind a proxy and has no sign-in: set a password.',
}

/**
 * Guards every path of the desk. Checks, in this order, how the request arrived, the Origin of a change, and who the
 * visitor is. `requireRole` and `requireCsrf` check the rest.
 */
export function deskGate({ access, sessions, onDenied }: GateOptions): MiddlewareHandler<DeskEnv> {
  return async (context, next) => {
    setSecurityHeaders(context)
    const deny = (kind: string, text: string): never => {
      onDenied?.(kind)
      throw new Problem(403, `desk_${kind}`, text)
    }
    const host = (context.req.header('host') ?? new URL(context.req.url).host).toLowerCase()
    const arrival = arrivalOf(access, context.req.raw.headers, host)
    if (arrival !== 'local' && arrival !== 'sign_in') return deny(arrival, refusals[arrival])
    const address = context.env?.incoming?.socket?.remoteAddress
    const fromProxy = access.proxy?.isTrusted(address) ?? false
    const isChange = !['GET', 'HEAD', 'OPTIONS'].includes(context.req.method)
    if (isChange && !isSameOrigin(context.req.header('origin'), host)) {
      return deny('origin', 'This request did not come from a page of the desk.')
    }
    const isSecure = fromProxy
      ? context.req.header('x-forwarded-proto') === 'https'
      : new URL(context.req.url).protocol === 'https:'
    const client = fromProxy ? context.req.header('x-forwarded-for')?.split(',').at(-1)?.trim() : undefined
    const token = readToken(context, isSecure)
    const who = await identify(context, token, fromProxy)
    const visitor: Visitor = {
      ...who,
      csrf: csrfOf(token ?? giveToken(context, isSecure)),
      address: client ?? address ?? 'unknown',
      isSecure,
      theme: themeOf(getCookie(context, 'paydirt_theme')),
    }
    context.set('visitor', visitor)
    await next()
  }

  function findSession(context: DeskContext, token: string) {
    return context.req.path === livePath ? sessions.peek(token) : sessions.find(token)
  }

  async function identify(
    context: DeskContext,
    token: string | undefined,
    fromProxy: boolean,
  ): Promise<Pick<Visitor, 'user' | 'role' | 'hasSession'>> {
    if (access.mode === 'open') return { user: 'local', role: 'admin', hasSession: false }
    const { proxy } = access
    const named =
      fromProxy && proxy?.userHeader !== undefined ? context.req.header(proxy.userHeader) : undefined
    if (named !== undefined && named !== '') {
      const own = proxy && Object.hasOwn(proxy.roles, named) ? proxy.roles[named] : undefined
      return { user: named.slice(0, 200), role: own ?? proxy?.defaultRole, hasSession: false }
    }
    const known = token === undefined ? undefined : await userOf(context, token)
    return known
      ? { user: known.name, role: known.role, hasSession: true }
      : { user: undefined, role: undefined, hasSession: false }
  }

  /** Ends a session whose user was removed from the config, or has another password or role there now. */
  async function userOf(context: DeskContext, token: string): Promise<DeskUser | undefined> {
    const session = await findSession(context, token)
    if (!session) return undefined
    const known = access.users.find(({ name }) => name === session.user)
    if (known && isEqual(session.credential, credentialOf(known, token))) return known
    await sessions.end(token)
    return undefined
  }
}

/** The stream that an open page reads by itself; reading it does not keep a session alive. */
export const livePath = '/desk/events'

/** Denies a visitor without the role: redirects a page to the sign-in, throws a 401 or 403 problem for anything else. */
export function requireRole(needed: DeskRole, onDenied?: (kind: string) => void): MiddlewareHandler<DeskEnv> {
  return async (context, next) => {
    const { role, user } = context.var.visitor
    if (user === undefined || role === undefined) {
      onDenied?.(user === undefined ? 'signed_out' : 'no_role')
      if (user !== undefined) throw new Problem(403, 'desk_no_role', 'You have no role on this desk.')
      const isPage = context.req.method === 'GET' && prefersPage(context.req.raw.headers)
      if (!isPage) throw new Problem(401, 'desk_signed_out', 'Sign in first.')
      const { pathname, search } = new URL(context.req.url)
      return context.redirect(`/sign-in?next=${encodeURIComponent(pathname + search)}`, 303)
    }
    if (!mayAct(role, needed)) {
      onDenied?.('role')
      throw new Problem(403, 'desk_role', `This needs the role ${needed}; you have ${role}.`)
    }
    await next()
  }
}

/** Requires the CSRF token of this visitor. Parses the body once; handlers get it from the cache. */
export function requireCsrf(onDenied?: (kind: string) => void): MiddlewareHandler<DeskEnv> {
  return async (context, next) => {
    const given = context.req.header('x-csrf-token') ?? (await context.req.parseBody())['_csrf']
    if (typeof given !== 'string' || !isEqual(given, context.var.visitor.csrf)) {
      onDenied?.('csrf')
      const text = 'This form has expired. Go back, reload the page and try again.'
      throw new Problem(403, 'desk_csrf', text)
    }
    await next()
  }
}

/**
 * Derives the CSRF token from the session token. Only the browser and we know the session token, and pages cannot read
 * it, so its hash proves that a form is ours without any storage. Signing in changes both.
 */
function csrfOf(token: string): string {
  return createHash('sha256').update(`csrf:${token}`).digest('base64url')
}

/**
 * Binds a session to the user's password hash and role at sign-in. The HMAC key is the token, which is not stored, so the
 * stored value reveals nothing about the hash and cannot be moved to another session.
 */
export function credentialOf({ name, passwordHash, role }: DeskUser, token: string): string {
  return createHmac('sha256', token)
    .update(JSON.stringify([name, passwordHash, role]))
    .digest('base64url')
}

/** `__Host-` restricts the cookie to this host, path and https; browsers reject the prefix over plain http. */
function cookieName(isSecure: boolean): string {
  return isSecure ? '__Host-paydirt_desk' : 'paydirt_desk'
}

function readToken(context: DeskContext, isSecure: boolean): string | undefined {
  const token = getCookie(context, cookieName(isSecure))
  return token !== undefined && /^[\w-]{43}$/.test(token) ? token : undefined
}

/** Sets a new session token as the cookie and returns it. */
export function giveToken(context: DeskContext, isSecure: boolean): string {
  const token = randomBytes(32).toString('base64url')
  setCookie(context, cookieName(isSecure), token, {
    httpOnly: true,
    sameSite: 'Lax',
    path: '/',
    secure: isSecure,
  })
  return token
}

export function tokenOf(context: DeskContext): string | undefined {
  return readToken(context, context.var.visitor.isSecure)
}

function isSameOrigin(origin: string | undefined, host: string): boolean {
  if (origin === undefined || !URL.canParse(origin)) return false
  return new URL(origin).host.toLowerCase() === host
}

function isEqual(given: string, wanted: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)]
  return a.length === b.length && timingSafeEqual(a, b)
}

function themeOf(text: string | undefined): Visitor['theme'] {
  return text === 'light' || text === 'dark' ? text : 'auto'
}

export function setSecurityHeaders(context: DeskContext): void {
  context.header('content-security-policy', contentPolicy)
  context.header('x-content-type-options', 'nosniff')
  context.header('x-frame-options', 'DENY')
  // Not `no-referrer`: browsers would then send `Origin: null` even to our own host.
  context.header('referrer-policy', 'same-origin')
  context.header('cross-origin-opener-policy', 'same-origin')
  context.header('cross-origin-resource-policy', 'same-origin')
  context.header('permissions-policy', 'camera=(), microphone=(), geolocation=(), payment=()')
  context.header('cache-control', 'no-store')
}
