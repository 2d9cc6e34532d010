import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Context, MiddlewareHandler } from 'hono'
import { getCookie, setCookie } from 'hono/cookie'
import type { DeskRole, SessionLedger } from '../../../store/access/sessions.ts'
import { arrivalOf, mayAct, type Arrival, type DeskAccess, type DeskUser } from './access.ts'

/** Who asks, as one request shows it. */
export interface Visitor {
  /** Undefined: nobody is signed in. */
  user: string | undefined
  role: DeskRole | undefined
  /** Goes into every form; see `csrfOf`. */
  csrf: string
  address: string
  isSecure: boolean
  /** Signed in by a password here, so that signing out means something. */
  hasSession: boolean
  theme: 'auto' | 'light' | 'dark'
}

export interface DeskEnv {
  Variables: { visitor: Visitor }
  Bindings: { incoming?: { socket?: { remoteAddress?: string } } }
}

export type DeskContext = Context<DeskEnv>

export interface GateOptions {
  access: DeskAccess
  sessions: SessionLedger
  /** Counts what was turned away, by its kind. No personal data. */
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
    'The desk is closed: nobody would have to sign in, and it can be reached from outside. Set PAYDIRT_ADMIN_PASSWORD_HASH (`npx paydirt password` makes one) and start again.',
  host: 'The desk does not answer under this name.',
  open_behind_proxy: 'A proxy stands before this desk, and nobody signs in: set a password.',
}

/**
 * Everything in front of the desk's pages, in this order: how it was reached, where a change came from, who it is, and
 * whether the form was ours.
 */
export function deskGate({ access, sessions, onDenied }: GateOptions): MiddlewareHandler<DeskEnv> {
  return async (context, next) => {
    setSecurityHeaders(context)
    const deny = (kind: string, text: string) => {
      onDenied?.(kind)
      return context.text(text, 403)
    }
    const host = (context.req.header('host') ?? new URL(context.req.url).host).toLowerCase()
    const arrival = arrivalOf(access, context.req.raw.headers, host)
    if (arrival !== 'local' && arrival !== 'sign_in') return deny(arrival, refusals[arrival])
    const address = context.env?.incoming?.socket?.remoteAddress
    const fromProxy = access.proxy?.isTrusted(address) ?? false
    const isChange = !['GET', 'HEAD', 'OPTIONS'].includes(context.req.method)
    if (isChange && !isSameOrigin(context.req.header('origin'), host)) {
      return deny('origin', 'This did not come from a page of the desk.')
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

  /** Whoever was taken out of the config is out, and so is everybody whose password or role was changed there. */
  async function userOf(context: DeskContext, token: string): Promise<DeskUser | undefined> {
    const session = await findSession(context, token)
    if (!session) return undefined
    const known = access.users.find(({ name }) => name === session.user)
    if (known && isEqual(session.credential, credentialOf(known, token))) return known
    await sessions.end(token)
    return undefined
  }
}

/** What an open page reads by itself, for as long as it is open. */
export const livePath = '/desk/events'

/** Turns away whoever may not: to the sign-in for a page, 401 or 403 for anything else. */
export function requireRole(needed: DeskRole, onDenied?: (kind: string) => void): MiddlewareHandler<DeskEnv> {
  return async (context, next) => {
    const { role, user } = context.var.visitor
    if (user === undefined || role === undefined) {
      onDenied?.(user === undefined ? 'signed_out' : 'no_role')
      if (user !== undefined) return context.text('You have no role at this desk.', 403)
      const isPage =
        context.req.method === 'GET' && (context.req.header('accept') ?? '').includes('text/html')
      if (!isPage) return context.text('Sign in first.', 401)
      const { pathname, search } = new URL(context.req.url)
      return context.redirect(`/sign-in?next=${encodeURIComponent(pathname + search)}`, 303)
    }
    if (!mayAct(role, needed)) {
      onDenied?.('role')
      return context.text(`This needs the role ${needed}; yours is ${role}.`, 403)
    }
    await next()
  }
}

/** The form must carry what only a page made for this visitor holds. Reads the body once; handlers find it parsed. */
export function requireCsrf(onDenied?: (kind: string) => void): MiddlewareHandler<DeskEnv> {
  return async (context, next) => {
    const given = context.req.header('x-csrf-token') ?? (await context.req.parseBody())['_csrf']
    if (typeof given !== 'string' || !isEqual(given, context.var.visitor.csrf)) {
      onDenied?.('csrf')
      return context.text('This form is out of date. Go back, load the page again, and try once more.', 403)
    }
    await next()
  }
}

/**
 * The token in the cookie is known to the browser and us alone, and pages cannot read it; so a hash of it proves a form
 * to be ours and needs no store. Signing in changes the token, and with it this.
 */
function csrfOf(token: string): string {
  return createHash('sha256').update(`csrf:${token}`).digest('base64url')
}

/**
 * Binds a session to what it was opened with. Under its token, which is not stored, so that what is stored tells nothing of
 * the hash and cannot be carried over to another session.
 */
export function credentialOf({ name, passwordHash, role }: DeskUser, token: string): string {
  return createHmac('sha256', token)
    .update(JSON.stringify([name, passwordHash, role]))
    .digest('base64url')
}

/** `__Host-` holds the cookie to this host, path and https; over plain http browsers refuse the prefix. */
function cookieName(isSecure: boolean): string {
  return isSecure ? '__Host-paydirt_desk' : 'paydirt_desk'
}

function readToken(context: DeskContext, isSecure: boolean): string | undefined {
  const token = getCookie(context, cookieName(isSecure))
  return token !== undefined && /^[\w-]{43}$/.test(token) ? token : undefined
}

/** Gives the visitor a new token; answers it. */
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

function setSecurityHeaders(context: DeskContext): void {
  context.header('content-security-policy', contentPolicy)
  context.header('x-content-type-options', 'nosniff')
  context.header('x-frame-options', 'DENY')
  // Not `no-referrer`: with it browsers send `Origin: null` even to ourselves.
  context.header('referrer-policy', 'same-origin')
  context.header('cross-origin-opener-policy', 'same-origin')
  context.header('cross-origin-resource-policy', 'same-origin')
  context.header('permissions-policy', 'camera=(), microphone=(), geolocation=(), payment=()')
  context.header('cache-control', 'no-store')
}
