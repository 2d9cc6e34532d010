import type { Hono } from 'hono'
import { html } from 'hono/html'
import { setCookie } from 'hono/cookie'
import {
  credentialOf,
  giveToken,
  requireCsrf,
  tokenOf,
  type DeskContext,
  type DeskEnv,
} from '../access/gate.ts'
import { hashPassword, verifyPassword } from '../access/password.ts'
import type { Desk } from './desk.ts'
import { duration } from '../view/format.ts'
import { mark } from '../view/icons.ts'
import { barePage, csrf } from '../view/layout.ts'

/** Signing in and out, and the theme. */
export function signInRoutes(app: Hono<DeskEnv>, desk: Desk): void {
  const { access, sessions } = desk
  // The response time must not reveal whether a name exists, so an unknown name is verified against this hash.
  let decoy: Promise<string> | undefined

  app.get('/sign-in', async (context) => {
    if (context.var.visitor.role !== undefined)
      return context.redirect(nextOf(context.req.query('next')), 303)
    return form(context, 200)
  })

  app.post('/sign-in', requireCsrf(desk.onDenied), async (context) => {
    const body = await context.req.parseBody()
    const [name, password] = [text(body['name']).slice(0, 200), text(body['password']).slice(0, 1_000)]
    const { address, isSecure } = context.var.visitor
    const blocked = await sessions.attempt(address, name)
    if (blocked) {
      desk.onDenied?.('sign_in_throttled')
      context.header('retry-after', String(Math.ceil(blocked.waitMs / 1000)))
      return form(context, 429, `Too many attempts. Wait ${duration(blocked.waitMs)} and try again.`)
    }
    const user = access.users.find((each) => each.name === name)
    decoy ??= hashPassword('decoy')
    const isRight = await verifyPassword(password, user?.passwordHash ?? (await decoy))
    if (!user || !isRight) {
      desk.onDenied?.('sign_in')
      return form(context, 401, 'Wrong name or password.')
    }
    await sessions.succeed(address, name)
    const old = tokenOf(context)
    if (old !== undefined) await sessions.end(old)
    // A new token at sign-in defeats session fixation: a token planted before is worthless after.
    const token = giveToken(context, isSecure)
    await sessions.begin(token, { user: user.name, role: user.role, credential: credentialOf(user, token) })
    await desk.audit.record({ actor: user.name, role: user.role, action: 'sign_in' })
    return context.redirect(nextOf(text(body['next'])), 303)
  })

  app.post('/sign-out', requireCsrf(desk.onDenied), async (context) => {
    const token = tokenOf(context)
    if (token !== undefined) await sessions.end(token)
    giveToken(context, context.var.visitor.isSecure)
    return context.redirect('/sign-in', 303)
  })

  app.post('/sessions/end-all', ...desk.allowsChange('admin'), async (context) => {
    const ended = await sessions.endAll()
    await desk.recordAction(context, 'sessions.end_all', undefined, { sessions: ended })
    return context.redirect('/sign-in', 303)
  })

  app.post('/desk/theme', ...desk.allowsChange('viewer'), async (context) => {
    const wanted = text((await context.req.parseBody())['theme'])
    setCookie(context, 'paydirt_theme', wanted === 'light' || wanted === 'dark' ? wanted : 'auto', {
      path: '/',
      maxAge: 365 * 86_400,
      sameSite: 'Lax',
      httpOnly: true,
      secure: context.var.visitor.isSecure,
    })
    return context.redirect(refererPath(context), 303)
  })

  async function form(context: DeskContext, status: 200 | 401 | 429, problem?: string): Promise<Response> {
    const { visitor } = context.var
    const next = nextOf(context.req.query('next'))
    const hasUsers = access.users.length > 0
    const body = html`<div class="sign-in">
      <p class="brand">${mark}<span>Paydirt</span></p>
      <h1>Sign in</h1>
      ${problem ? html`<p class="problem" role="alert">${problem}</p>` : ''}
      ${
        hasUsers
          ? html`<form method="post" action="/sign-in">
              ${csrf(visitor)}<input type="hidden" name="next" value="${next}" />
              <label for="name">Name</label
              ><input
                id="name"
                name="name"
                autocomplete="username"
                autocapitalize="none"
                required
                autofocus
              />
              <label for="password">Password</label
              ><input
                id="password"
                name="password"
                type="password"
                autocomplete="current-password"
                required
              />
              <button class="primary" type="submit">Sign in</button>
            </form>`
          : html`<p>Sign in through your organisation’s proxy.</p>`
      }
    </div>`
    return context.html(await barePage({ visitor, asset: desk.asset }, { title: 'Sign in', body }), status)
  }
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** Returns the path if it belongs to this desk, else "/", so that a link cannot redirect from our sign-in to another site. */
export function nextOf(path: string | undefined): string {
  return path !== undefined && /^\/(?![/\\])[\w\-./?=&:%+]*$/.test(path) && !path.startsWith('/sign-')
    ? path
    : '/'
}

function refererPath(context: DeskContext): string {
  const referer = context.req.header('referer')
  if (referer === undefined || !URL.canParse(referer)) return '/'
  const { pathname, search } = new URL(referer)
  return nextOf(pathname + search)
}
