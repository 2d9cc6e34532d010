import { html } from 'hono/html'
import type { FieldValue } from '../../../../domain/record.ts'
import type { RunHead } from '../../../../store/views/desk-runs.ts'
import type { UndoJob, UndoView } from '../../model/run-undo.ts'
import { blockText, inlineText } from '../../view/foreign-text.ts'
import { count, counted, runName, words } from '../../view/format.ts'
import { csrf, type Page, type Shell } from '../../view/layout.ts'
import { card, empty, instant, table, type Markup } from '../../view/parts.ts'
import { recordLink } from '../find.ts'
import type { Identity } from '../../../../domain/record.ts'
import { recordName } from '../../../../domain/search/record-name.ts'

interface UndoDetail {
  run: RunHead
  /** Undefined while an undo is at work, and where the run is not to be undone now. */
  plan: UndoView | undefined
  /** The names and addresses of the records on the page. */
  names: ReadonlyMap<string, Identity>
  job: UndoJob | undefined
  /** The reason why the run cannot be undone now. */
  obstacle: string | undefined
}

const rowsShown = 100

/** Shows the changes that an undo would make, the question, and afterwards the changes made. */
export function undoPage({ run, plan, names, job, obstacle }: UndoDetail, shell: Shell): Page {
  return {
    title: `Undo ${runName(run)}`,
    lead: html`Puts back what run <code>${run.id}</code> replaced, in each field that still has the value of
      the run. <a href="/runs/${run.id}">Back to the run</a>`,
    current: '/runs',
    body: html`${job ? jobCard(job, shell) : ''}
    ${obstacle === undefined ? '' : html`<section class="card"><p class="problem" role="alert">${obstacle}</p></section>`}
    ${plan ? planCards(run, plan, names, shell) : ''}`,
  }
}

function jobCard(job: UndoJob, { now }: Shell): Markup {
  const started = html`Started by ${inlineText(job.by)}, ${instant(job.startedAt, now)}.`
  if (!job.ended)
    return card(
      'job',
      'Undo',
      html`<p role="status">${started} It is at work; this page reloads by itself.</p>`,
    )
  if ('problem' in job.ended)
    return card(
      'job',
      'Undo',
      html`<p>${started}</p>
        <div class="problem" role="alert">${blockText(job.ended.problem)}</div>`,
    )
  const { restored, already, left, unfinished } = job.ended.done
  return card(
    'job',
    'Undo',
    html`<p role="status">
        ${started} ${counted(restored, 'field')} restored, ${count(left)} left as they
        are${already > 0 ? `, ${count(already)} already had the old value` : ''}.
      </p>
      ${unfinished === undefined ? '' : html`<p class="problem">Not finished: ${inlineText(unfinished, 200)}. Start it again below to continue.</p>`}`,
  )
}

/** Returns the records that the page lists. */
export function shownRecords({ rows }: UndoView): string[] {
  const of = (outcome: string) => rows.filter((row) => row.outcome === outcome).slice(0, rowsShown)
  return [...new Set([...of('would_restore'), ...of('left')].map(({ record }) => record))]
}

function planCards(run: RunHead, plan: UndoView, names: UndoDetail['names'], { visitor }: Shell): Markup {
  const restored = plan.rows.filter(({ outcome }) => outcome === 'would_restore')
  const left = plan.rows.filter(({ outcome }) => outcome === 'left')
  const records = new Set(restored.map(({ record }) => record)).size
  return html`${card(
    'plan',
    'Plan',
    html`<p>
        <strong>${counted(plan.restored, 'field')}</strong> in ${counted(records, 'record')} would get the old
        value back, ${count(plan.left)} would be left as they
        are${plan.already > 0 ? `, ${count(plan.already)} already have it` : ''}.
      </p>
      ${plan.unfinished === undefined ? '' : html`<p class="note">There is more than could be read for this page. The rest is decided in the same way, field by field, when the run is undone.</p>`}
      ${
        plan.restored > 0 || plan.already > 0 || plan.unfinished !== undefined
          ? html`<form class="below" method="post" action="/runs/${run.id}/undo">
              ${csrf(visitor)}
              <p class="note">
                Each record is read again before it is written. A field that somebody has changed by then is
                left. What was bought stays paid.
              </p>
              <button class="danger" type="submit">Yes, undo this run</button>
            </form>`
          : ''
      }`,
  )}
  ${card(
    'restored',
    'Fields that would be restored',
    restored.length > 0
      ? html`${table<UndoView['rows'][number]>(
          'What each record has now, and would have',
          [
            {
              name: 'Record',
              isHead: true,
              cell: ({ record, mergedInto }) => placeOf(run, names, record, mergedInto),
            },
            { name: 'Field', cell: ({ field }) => words(field) },
            { name: 'Now', cell: ({ now }) => value(now) },
            { name: 'Then', cell: ({ old }) => value(old) },
          ],
          restored.slice(0, rowsShown),
        )}${more(restored.length, run.id)}`
      : empty('No field would be restored.'),
  )}
  ${card(
    'left',
    'Fields that would be left',
    left.length > 0
      ? html`<ul class="groups">
            ${reasonsOf(left).map(
              ([reason, fields]) =>
                html`<li>
                  <span class="group-count">${count(fields)}</span
                  ><span class="group-text">${inlineText(reason, 200)}</span>
                </li>`,
            )}
          </ul>
          ${table<UndoView['rows'][number]>(
            'Fields left as they are',
            [
              {
                name: 'Record',
                isHead: true,
                cell: ({ record, mergedInto }) => placeOf(run, names, record, mergedInto),
              },
              { name: 'Field', cell: ({ field }) => words(field) },
              { name: 'Now', cell: ({ now }) => value(now) },
              { name: 'Why', cell: ({ reason }) => inlineText(reason ?? '–', 200) },
            ],
            left.slice(0, rowsShown),
          )}${more(left.length, run.id)}`
      : empty('No field would be left.'),
  )}`
}

function reasonsOf(rows: UndoView['rows']): [string, number][] {
  const groups = Map.groupBy(rows, ({ reason }) => reason ?? 'no reason is known')
  return [...groups]
    .map(([reason, all]): [string, number] => [reason, all.length])
    .sort((a, b) => b[1] - a[1])
}

function placeOf(
  run: RunHead,
  names: UndoDetail['names'],
  record: string,
  mergedInto: string | undefined,
): Markup {
  const name = recordName(names.get(record) ?? {})
  return html`${name === undefined ? '' : html`${inlineText(name, 80)} `}<small>${recordLink(run, record)}</small>${mergedInto === undefined ? '' : html` <small>merged into ${recordLink(run, mergedInto)}</small>`}`
}

function value(content: FieldValue | null | undefined): Markup {
  return content === null || content === undefined
    ? html`<span class="none">blank</span>`
    : blockText(String(content))
}

function more(rows: number, runId: string): Markup {
  return rows > rowsShown
    ? html`<p class="note">
        and ${count(rows - rowsShown)} more; <code>paydirt undo ${runId} --plan --json</code> lists all
      </p>`
    : html``
}
