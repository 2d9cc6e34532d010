import { html } from 'hono/html'
import type { DeskRole } from '../../../store/access/sessions.ts'
import type { Visitor } from '../access/gate.ts'
import { mayAct } from '../access/access.ts'
import { inlineText, shortened, wholeText } from './foreign-text.ts'
import { stamp } from './format.ts'
import { icon, mark, type IconName } from './icons.ts'
import type { Markup } from './parts.ts'
import { stopForm } from './stop-form.ts'

export interface Shell {
  visitor: Visitor
  now: Date
  /** Undefined while spending is on. */
  stopped: { reason: string; since: Date } | undefined
  /** The database does not respond, so that it is not known whether spending is on. */
  isStoreAway?: boolean
  /** Returns the address of an asset, with its hash. */
  asset: (name: string) => string
  /** Shown once, above the page, after an action. */
  notice?: string | undefined
  /** The page was read from a standby, which may lack what is younger than this. */
  behindMs?: number | undefined
}

export interface Page {
  title: string
  /** Shown under the title. */
  lead?: Markup | string
  current: string
  /** The live parts of this page (see routes/live.ts). */
  live?: string
  scripts?: readonly string[]
  styles?: readonly string[]
  body: Markup | Markup[]
}

const navigation: { path: string; name: string; icon: IconName; role: DeskRole }[] = [
  { path: '/', name: 'Now', icon: 'now', role: 'viewer' },
  { path: '/runs', name: 'Runs', icon: 'runs', role: 'viewer' },
  { path: '/records', name: 'Records', icon: 'search', role: 'viewer' },
  { path: '/lists', name: 'Lists', icon: 'lists', role: 'viewer' },
  { path: '/signals', name: 'Signals', icon: 'signals', role: 'viewer' },
  { path: '/monitors', name: 'Monitors', icon: 'monitors', role: 'viewer' },
  { path: '/champions', name: 'Champions', icon: 'champions', role: 'viewer' },
  { path: '/spend', name: 'Spend', icon: 'spend', role: 'viewer' },
  { path: '/charts', name: 'Charts', icon: 'charts', role: 'viewer' },
  { path: '/failures', name: 'Failures', icon: 'failures', role: 'viewer' },
  { path: '/queues', name: 'Queues', icon: 'queues', role: 'viewer' },
  { path: '/contract', name: 'Contract', icon: 'contract', role: 'viewer' },
  { path: '/settings', name: 'Settings', icon: 'settings', role: 'viewer' },
  { path: '/audit', name: 'Audit', icon: 'audit', role: 'operator' },
]

export function layout(shell: Shell, page: Page): Markup {
  const { visitor, asset } = shell
  const role = visitor.role
  return html`<!doctype html>
    <html lang="en" data-theme="${visitor.theme}">
      ${head(page, asset)}
      <body data-live="${page.live ?? 'shell'}">
        <a class="skip" href="#main">Skip to content</a>
        <div class="frame">
          <header class="side">
            <a class="brand" href="/" aria-label="Paydirt desk">${mark}<span>Paydirt</span></a>
            <nav aria-label="Pages">
              <ul>
                ${navigation
                  .filter((item) => role !== undefined && mayAct(role, item.role))
                  .map(
                    (item) =>
                      html`<li>
                        <a href="${item.path}" ${item.path === page.current ? html`aria-current="page"` : ''}
                          >${icon(item.icon)}<span>${item.name}</span></a
                        >
                      </li>`,
                  )}
              </ul>
            </nav>
            <div class="side-foot">
              ${themeSwitch(visitor)}
              <p class="who">
                <span>${inlineText(visitor.user ?? '', 40)}</span><span class="role">${role}</span>
              </p>
              ${
                visitor.hasSession
                  ? html`<form method="post" action="/sign-out">
                      ${csrf(visitor)}<button class="plain" type="submit">Sign out</button>
                    </form>`
                  : ''
              }
            </div>
          </header>
          <main id="main" class="content" tabindex="-1">
            <div class="top">
              <div class="title">
                <h1>${inlineText(page.title, 120)}</h1>
                ${page.lead ? html`<div class="lead">${page.lead}</div>` : ''}
              </div>
              <div id="spending" class="spending" aria-live="polite">${spendingControl(shell)}</div>
            </div>
            ${shell.notice ? html`<p class="notice" role="status">${shell.notice}</p>` : ''}
            <div class="page">${page.body}</div>
            ${shell.behindMs === undefined ? '' : html`<p class="note">${behindText(shell.behindMs)}</p>`}
          </main>
        </div>
      </body>
    </html>`
}

function behindText(behindMs: number): string {
  return `Read from the standby, at most ${(Math.ceil(behindMs / 100) / 10).toFixed(1)} s behind.`
}

/** A page without the frame: the sign-in form, or an error. */
export function barePage(
  { visitor, asset }: Pick<Shell, 'visitor' | 'asset'>,
  page: Pick<Page, 'title' | 'body'>,
): Markup {
  return html`<!doctype html>
    <html lang="en" data-theme="${visitor.theme}">
      ${head({ ...page, current: '' }, asset)}
      <body class="bare">
        <main id="main">${page.body}</main>
      </body>
    </html>`
}

function head(page: Page, asset: Shell['asset']): Markup {
  return html`<head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <meta name="robots" content="noindex" />
    <title>${shortened(page.title, 80)} · Paydirt</title>
    <link rel="icon" href="${asset('icon.svg')}" type="image/svg+xml" />
    ${(page.styles ?? []).map((name) => html`<link rel="stylesheet" href="${asset(name)}" />`)}
    <link rel="stylesheet" href="${asset('desk.css')}" />
    <script src="${asset('desk.js')}" defer></script>
    ${(page.scripts ?? []).map((name) => html`<script src="${asset(name)}" defer></script>`)}
  </head>`
}

export function csrf(visitor: Visitor): Markup {
  return html`<input type="hidden" name="_csrf" value="${visitor.csrf}" />`
}

/** A longer reason is read in full before spending is resumed, and in the audit log. */
const reasonShown = 120

/** The kill switch. */
export function spendingControl({ visitor, stopped, isStoreAway, now }: Shell): Markup {
  if (isStoreAway) return html`<p class="badge danger">Nothing is bought: the database does not respond</p>`
  const mayStop = visitor.role !== undefined && mayAct(visitor.role, 'operator')
  if (stopped) {
    return html`<div class="stopped">
      <p>
        <strong>Spending is stopped</strong>
        <span
          >since
          ${stamp(stopped.since, now)}${stopped.reason ? html`: ${inlineText(stopped.reason, reasonShown)}` : ''}</span
        >
      </p>
      ${
        mayStop
          ? html`<details class="ask">
              <summary>${icon('go')}Resume spending</summary>
              <form method="post" action="/spending/resume">
                ${csrf(visitor)}
                <p>Paydirt buys lookups again and resumes the work that the stop parked.</p>
                ${wholeText(stopped.reason, reasonShown)}
                <label
                  >Reason
                  <input name="reason" maxlength="200" autocomplete="off" placeholder="for the audit log"
                /></label>
                <button class="primary" type="submit">Yes, resume</button>
              </form>
            </details>`
          : ''
      }
    </div>`
  }
  if (!mayStop) return html`<p class="badge ok">Spending is on</p>`
  return stopForm(
    {
      action: '/spending/stop',
      ask: 'Stop spending',
      confirm: 'Yes, stop all spending',
      effect:
        'No process buys anything until an operator resumes spending. Answers that are already paid for are still stored and written.',
    },
    csrf(visitor),
  )
}

function themeSwitch(visitor: Visitor): Markup {
  const themes = ['auto', 'light', 'dark'] as const
  return html`<form class="themes" method="post" action="/desk/theme" aria-label="Theme">
    ${csrf(visitor)}${themes.map(
      (theme) =>
        html`<button
          type="submit"
          name="theme"
          value="${theme}"
          title="${theme}"
          aria-pressed="${theme === visitor.theme ? 'true' : 'false'}"
        >
          ${icon(theme)}<span class="visually-hidden">${theme} theme</span>
        </button>`,
    )}
  </form>`
}
