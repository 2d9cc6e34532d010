import { html } from 'hono/html'
import type { AuditRow } from '../../../store/access/audit.ts'
import { mayAct } from '../access/access.ts'
import { csrf, type Page, type Shell } from '../view/layout.ts'
import { card, empty, table, instant } from '../view/parts.ts'

const actions: Record<string, string> = {
  sign_in: 'signed in',
  'spending.stop': 'stopped spending',
  'spending.resume': 'resumed spending',
  'sync.start': 'started a sync',
  'failures.retry': 'tried a group again',
  'failures.skip': 'skipped a group',
  'schedule.pause': 'paused a schedule',
  'schedule.resume': 'resumed a schedule',
  'schedule.run': 'ran a schedule',
  'token.create': 'made an API token',
  'token.revoke': 'revoked an API token',
  enrich: 'asked for records',
  'queue.change': 'changed a queue',
  'sessions.end_all': 'signed everybody out',
  reconcile: 'compared ledger and chain',
}

export function auditPage(rows: AuditRow[], next: bigint | undefined, { visitor, now }: Shell): Page {
  const isAdmin = visitor.role !== undefined && mayAct(visitor.role, 'admin')
  return {
    title: 'Audit',
    lead: 'Who did what, when, and on what. Rows are added and never changed.',
    current: '/audit',
    body: html`${card(
      'actions',
      'Actions',
      rows.length > 0
        ? html`${table<AuditRow>(
            'Actions, the latest first',
            [
              { name: 'Who', isHead: true, cell: ({ actor, role }) => html`${actor}<small>${role}</small>` },
              { name: 'What', cell: ({ action }) => actions[action] ?? action },
              { name: 'On what', cell: ({ target }) => target ?? '–' },
              {
                name: 'More',
                cell: ({ details }) =>
                  details
                    ? Object.entries(details)
                        .map(([name, value]) => `${name}: ${value}`)
                        .join(', ')
                    : '–',
              },
              { name: 'When', cell: ({ at }) => instant(at, now) },
            ],
            rows,
          )}${next === undefined ? '' : html`<p class="more"><a href="/audit?before=${String(next)}">Earlier actions</a></p>`}`
        : empty('Nothing was done here yet.'),
    )}
    ${
      isAdmin
        ? card(
            'sessions',
            'Sessions',
            html`<p>Ends every session of this desk, also yours.</p>
              <form method="post" action="/sessions/end-all">
                ${csrf(visitor)}<button class="danger" type="submit">Sign everybody out</button>
              </form>`,
          )
        : ''
    }`,
  }
}
