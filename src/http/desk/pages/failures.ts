import { html } from 'hono/html'
import type { FailureGroup } from '../../../store/views/desk-failures.ts'
import { mayAct } from '../access/access.ts'
import { inlineText, shortened, wholeText } from '../view/foreign-text.ts'
import { ago, counted, words } from '../view/format.ts'
import { csrf, type Page, type Shell } from '../view/layout.ts'
import { badge, empty, resumesWhen, type Markup } from '../view/parts.ts'
import { recordLink } from './run.ts'

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
              ${groups.map((group) => item(group, shell))}
            </ul>`
      }
      <p class="note">Parked records are always listed; rejected records for ${days} days.</p>`,
  }
}

const reasonShown = 200

function item(group: FailureGroup, { visitor, now }: Shell): Markup {
  const { id, status, code, reason, records, runs, resumesAt, lastAt, example } = group
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
        <span>example: ${recordLink(example, example.recordId)}</span>
      </p>
    </div>
    ${
      may
        ? html`<div class="failure-actions">
            <form method="post" action="/failures/retry">
              ${csrf(visitor)}<input type="hidden" name="group" value="${id}" /><button
                type="submit"
                aria-label="Retry ${counted(records, 'record')}: ${shortened(reason, 80)}"
              >
                Retry
              </button>
            </form>
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
