import { html } from 'hono/html'
import type { AuditRow } from '../../../store/access/audit.ts'
import { mayAct } from '../access/access.ts'
import { blockText } from '../view/foreign-text.ts'
import { csrf, type Page, type Shell } from '../view/layout.ts'
import { card, empty, table, instant } from '../view/parts.ts'

/** The words for each action that is noted anywhere. */
export const auditWords: Readonly<Record<string, string>> = {
  sign_in: 'signed in',
  retention: 'erased what is older than its retention',
  'ledger.restored': 'booked payments from the chain after a restore',
  'spending.stop': 'stopped spending',
  'spending.resume': 'resumed spending',
  'sync.plan': 'planned a sync',
  'sync.start': 'started a sync',
  'run.stop': 'stopped a run',
  'run.resume': 'resumed a run',
  'run.retry': 'retried the failed records of a run',
  'run.export': 'exported the records of a run',
  'run.undo': 'started the undo of a run',
  'run.undone': 'ended the undo of a run',
  'list.preview': 'bought page 1 of a list',
  'list.fetch': 'started the fetch of a list',
  'list.plan': 'planned the records of a list',
  'list.apply': 'started making the records of a list',
  'list.ended': 'ended an action on a list',
  'list.answer': 'answered about a row of a list',
  'list.forget_answer': 'took back an answer about a row of a list',
  'signals.plan': 'planned a pipeline of signals',
  'signals.run': 'started a pipeline of signals',
  'signals.ended': 'ended an action on a pipeline of signals',
  'monitors.compare': 'compared the monitors with the service',
  'monitors.pause': 'paused a monitor',
  'monitors.resume': 'resumed a monitor',
  'monitors.ended': 'ended an action on monitors',
  'champions.plan': 'planned the check of champions',
  'champions.run': 'started the check of champions',
  'champions.ended': 'ended an action on champions',
  'failures.retry': 'retried a group',
  'failures.skip': 'skipped a group',
  'task.retry': 'retried a record',
  'task.skip': 'skipped a record',
  'schedule.pause': 'paused a schedule',
  'schedule.resume': 'resumed a schedule',
  'schedule.run': 'started a schedule now',
  'token.create': 'created an API token',
  'token.revoke': 'revoked an API token',
  'suppress.add': 'suppressed people or companies',
  'suppress.remove': 'ended a suppression',
  forget: 'erased a person or company for good',
  'charge.close': 'decided a charge by hand',
  'service.action': 'asked the service for a change',
  'service.action.close': 'said what became of a change at the service',
  'service.retry': 'let a stopped operation be asked again',
  'service.accept': 'accepted renamed keys of the service',
  enrich: 'requested enrichment',
  'queue.change': 'changed a queue',
  'sessions.end_all': 'signed everyone out',
  reconcile: 'reconciled the ledger with the chain',
}

export function auditPage(rows: AuditRow[], next: bigint | undefined, { visitor, now }: Shell): Page {
  const isAdmin = visitor.role !== undefined && mayAct(visitor.role, 'admin')
  return {
    title: 'Audit',
    lead: 'Who did what, and when. The log is append-only.',
    current: '/audit',
    body: html`${card(
      'actions',
      'Actions',
      rows.length > 0
        ? html`${table<AuditRow>(
            'Actions, newest first',
            [
              {
                name: 'User',
                isHead: true,
                cell: ({ actor, role }) => html`${blockText(actor, 80)}<small>${role}</small>`,
              },
              { name: 'Action', cell: ({ action }) => auditWords[action] ?? blockText(action) },
              { name: 'Target', cell: ({ target }) => blockText(target ?? '–') },
              {
                name: 'Details',
                cell: ({ details }) =>
                  details
                    ? html`<ul class="plain-list">
                        ${Object.entries(details).map(([name, value]) => html`<li>${name}: ${blockText(String(value))}</li>`)}
                      </ul>`
                    : '–',
              },
              { name: 'When', cell: ({ at }) => instant(at, now) },
            ],
            rows,
          )}${next === undefined ? '' : html`<p class="more"><a href="/audit?before=${String(next)}">Earlier actions</a></p>`}`
        : empty('No actions yet.'),
    )}
    ${
      isAdmin
        ? card(
            'sessions',
            'Sessions',
            html`<p>Ends every session of this desk, including yours.</p>
              <form class="below" method="post" action="/sessions/end-all">
                ${csrf(visitor)}<button class="danger" type="submit">Sign everyone out</button>
              </form>`,
          )
        : ''
    }`,
  }
}
