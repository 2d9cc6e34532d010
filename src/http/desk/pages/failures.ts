import { html } from 'hono/html'
import type { FailureGroup } from '../../../store/views/desk-failures.ts'
import { mayAct } from '../access/access.ts'
import { inlineText, shortened, wholeText } from '../view/foreign-text.ts'
import { ago, count, counted, words } from '../view/format.ts'
import { csrf, type Page, type Shell } from '../view/layout.ts'
import { badge, empty, resumesWhen, type Markup } from '../view/parts.ts'
import { recordLink } from './find.ts'

export function failuresPage(groups: FailureGroup[], days: number, shell: Shell): Page {
  const records = groups.reduce((sum, group) => sum + group.records, 0)
  return {
    title: 'Failures',
    lead:
      groups.length === 0
        ? 'Grouped by cause.'
        : `${counted(records, 'record')} in ${counted(groups.length, 'group')}, by cause.`,
    current: '/failures',
    body: html`${
        groups.length === 0
          ? html`<section class="card">
              ${empty(`No record is parked, and none was rejected in the last ${days} days.`)}
            </section>`
          : html`<ul class="failures">
              ${groups.map((group) => failureItem(group, shell))}
            </ul>`
      }
      <p class="note">Parked records are always listed; rejected records for ${days} days.</p>`,
  }
}

const reasonShown = 200

/** One cause, with its places, what to do, and the buttons that do something. */
export function failureItem(group: FailureGroup, { visitor, now }: Shell): Markup {
  const { id, status, code, reason, records, runs, retryable, resumesAt, lastAt, example, places } = group
  const may = visitor.role !== undefined && mayAct(visitor.role, 'operator')
  return html`<li class="card failure" data-group="${id}">
    <div class="failure-text">
      <h2>${inlineText(reason, reasonShown)}</h2>
      ${wholeText(reason, reasonShown)}
      <p class="meta">
        ${badge(status)}${code ? html` <span class="badge quiet">${words(code)}</span>` : ''}
        <span>${counted(records, 'record')} in ${counted(runs, 'run')}</span>
        <span>last seen ${ago(lastAt, now)}</span>
        ${status === 'parked' ? html`<span>${resumesWhen(resumesAt, now)}</span>` : ''}
        ${places.length === 0 ? html`<span>example: ${recordLink(example, example.recordId)}</span>` : ''}
        <a href="/failures/${id}" aria-label="Show ${counted(records, 'record')}: ${shortened(reason, 80)}"
          >Show ${counted(records, 'record')}</a
        >
      </p>
      ${places.length === 0 ? '' : placeList(places)}
      ${whatToDo(group).map((text) => html`<p class="advice">${text}</p>`)}
    </div>
    ${
      may
        ? html`<div class="failure-actions">
            ${
              retryable === 0
                ? ''
                : html`<form method="post" action="/failures/retry">
                    ${csrf(visitor)}<input type="hidden" name="group" value="${id}" /><button
                      type="submit"
                      aria-label="Retry ${retryable === records ? '' : `${count(retryable)} of `}${counted(records, 'record')}: ${shortened(reason, 80)}"
                    >
                      ${retryable === records ? 'Retry' : `Retry ${count(retryable)} of ${count(records)}`}
                    </button>
                  </form>`
            }
            ${
              status === 'parked'
                ? html`<details class="ask">
                    <summary aria-label="Skip ${counted(records, 'record')}: ${shortened(reason, 80)}">
                      Skip
                    </summary>
                    <form method="post" action="/failures/skip">
                      ${csrf(visitor)}<input type="hidden" name="group" value="${id}" />
                      <p>
                        ${counted(records, 'record')} will end as skipped. A later run can enrich them again.
                      </p>
                      <button class="danger" type="submit">Yes, skip them</button>
                    </form>
                  </details>`
                : ''
            }
          </div>`
        : ''
    }
  </li>`
}

const filesShown = 5

/** Names the rows of files: "leads.csv: lines 3, 7 and 12". */
function placeList(places: FailureGroup['places']): Markup {
  return html`<ul class="places">
    ${places
      .slice(0, filesShown)
      .map(
        ({ file, lines, more }) =>
          html`<li>
            ${inlineText(file)}: ${lines.length === 1 ? 'line' : 'lines'}
            ${lines.map((line, index) => html`${index === 0 ? '' : ', '}${inlineText(line, 20)}`)}${more > 0 ? ` and ${count(more)} more` : ''}
          </li>`,
      )}
    ${places.length > filesShown ? html`<li>and ${counted(places.length - filesShown, 'more file')}</li>` : ''}
  </ul>`
}

/** Tells what a person can do about the records that no retry takes up. */
function whatToDo({
  reason,
  records,
  retryable,
  held,
  connectors,
  places,
}: FailureGroup): (Markup | string)[] {
  const left = records - retryable
  if (left === 0) return []
  const ofFiles = places.reduce((sum, { lines, more }) => sum + lines.length + more, 0)
  const others = left - ofFiles - held
  const isRagged = /^too (few|many) cells$/.test(reason)
  return [
    ...(ofFiles > 0
      ? [
          html`${isRagged ? 'Give each of these rows as many cells as the header has; a separator inside a value needs quotes around the value.' : 'Rows of a file are not retried from here: correct them where the reason asks for it.'}
            Then run the same <code>paydirt csv</code> command again. What was bought is not bought twice.`,
        ]
      : []),
    ...(held > 0
      ? [`${counted(held, 'record')} of a run that a person stopped: resume it on the page of the run.`]
      : []),
    ...(others > 0
      ? [
          `${counted(others, 'record')} cannot be retried: a later run of the same source has followed, the record was never looked up, or ${connectors.length === 1 ? 'its CRM' : 'a CRM'} is not set up here. A new sync takes ${others === 1 ? 'it' : 'them'} up again.`,
        ]
      : []),
  ]
}
