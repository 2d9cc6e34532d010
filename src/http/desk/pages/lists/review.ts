import { html } from 'hono/html'
import { mayAct } from '../../access/access.ts'
import type { ListView, WaitingPage } from '../../model/lists/lists-port.ts'
import { blockText, inlineText, shortened } from '../../view/foreign-text.ts'
import { connectorName, count, counted } from '../../view/format.ts'
import { csrf, type Page, type Shell } from '../../view/layout.ts'
import { pager } from '../../view/pager.ts'
import { card, empty, instant, table, type Markup } from '../../view/parts.ts'
import { crmRecord, rowDetails, rowName, type RecordUrls } from './rows.ts'
import { verdictBadge } from './verdicts.ts'

interface Review {
  list: ListView
  /** Undefined while the rows are compared. */
  waiting: WaitingPage | undefined
  urls: RecordUrls
  /** The reason why an answer was not taken. */
  refused?: string | undefined
}

/** The rows that wait for a person: each with the records that it may be, and the answers. */
export function reviewPage({ list, waiting, urls, refused }: Review, shell: Shell): Page {
  const { name, connector } = list
  return {
    title: `Review ${name}`,
    lead: html`Rows that may be a record of ${connectorName(connector)}. An answer is kept for the next fetch
      and for other lists of the same object. <a href="/lists/${name}">Back to the list</a>`,
    current: '/lists',
    body: html`${refused === undefined ? '' : html`<div class="problem" role="alert">${blockText(refused, 600)}</div>`}
    ${card(
      'waiting',
      'Rows that wait',
      waiting
        ? html`${
            waiting.rows.length > 0
              ? html`<ol class="review">
                  ${waiting.rows.map((each, at) => item(list, each, at, urls, shell))}
                </ol>`
              : empty('No row waits for an answer.')
          }${turns(name, waiting)}`
        : html`<p role="status">
            The rows are being compared with the records; this page reloads by itself.
          </p>`,
      { note: waiting && waiting.total > 0 ? counted(waiting.total, 'row') : '' },
    )}
    ${waiting ? answersCard(list, waiting.answers, shell) : ''}`,
  }
}

/** So many records are shown to a person who is asked. */
export const mostAsked = 20

function item(
  list: ListView,
  { row, records }: WaitingPage['rows'][number],
  at: number,
  urls: RecordUrls,
  { visitor }: Shell,
): Markup {
  const { name, connector } = list
  const mayAnswer = visitor.role !== undefined && mayAct(visitor.role, 'operator')
  const id = `row-${at}`
  const choices = html`${
    records.length === 0
      ? ''
      : html`<ul class="plain-list">
          ${records.slice(0, mostAsked).map(
            (record) =>
              html`<li>
                <span class="review-record"
                  >${crmRecord(connector, record, urls)}<small>${inlineText(record.known, 160)}</small></span
                >${
                  mayAnswer
                    ? html`<button
                        type="submit"
                        name="same"
                        value="${record.recordId}"
                        aria-label="Same: record ${shortened(record.recordId, 60)}"
                      >
                        Same
                      </button>`
                    : ''
                }
              </li>`,
          )}
          ${records.length > mostAsked ? html`<li>and ${count(records.length - mostAsked)} more</li>` : ''}
        </ul>`
  }
  ${
    mayAnswer
      ? html`<div class="review-answers">
          ${
            records.length > mostAsked
              ? html`<p class="note">It is like too many records to be called new here.</p>`
              : html`<button type="submit" name="answer" value="new">New: none of them</button>`
          }
          <button type="submit" name="answer" value="never">Never a record</button>
        </div>`
      : ''
  }`
  return html`<li aria-labelledby="${id}">
    <div class="review-row">
      <h3 id="${id}">${rowName(row)}</h3>
      <p class="note">${rowDetails(row)}</p>
      <p>
        ${verdictBadge(row.verdict)} ${inlineText(row.reason, 200)} <small><code>${row.key}</code></small>
      </p>
    </div>
    ${
      mayAnswer
        ? html`<form class="review-form" method="post" action="/lists/${name}/review">
              ${csrf(visitor)}<input type="hidden" name="key" value="${row.key}" /><input
                type="hidden"
                name="shown"
                value="${records.map(({ recordId }) => recordId).join(' ')}"
              />${choices}
            </form>
            ${anotherRecord(list, row.key, at, visitor)}`
        : html`<div class="review-form">${choices}</div>`
    }
  </li>`
}

/** A form of its own: the Enter key in its field means this record, and no other. */
function anotherRecord(
  { name, connector, entity }: ListView,
  key: string,
  at: number,
  visitor: Shell['visitor'],
): Markup {
  return html`<details class="review-other">
    <summary>Another record</summary>
    <form method="post" action="/lists/${name}/review">
      ${csrf(visitor)}<input type="hidden" name="key" value="${key}" /><input
        type="hidden"
        name="answer"
        value="same"
      />
      <label for="other-${at}">Its id in ${connectorName(connector)} ${inlineText(entity)}</label>
      <div class="search-row">
        <input id="other-${at}" name="record" autocomplete="off" maxlength="100" required />
        <button type="submit">Same</button>
      </div>
    </form>
  </details>`
}

function turns(name: string, { page, pages }: WaitingPage): Markup {
  return pager('Pages of rows that wait', {
    previous: page > 1 ? { href: `/lists/${name}/review?page=${page - 1}`, text: 'Rows before' } : undefined,
    next: page < pages ? { href: `/lists/${name}/review?page=${page + 1}`, text: 'Rows behind' } : undefined,
  })
}

type Answer = WaitingPage['answers'][number]

const answerWords = { same: 'the same as', new: 'new', never: 'never a record' } as const

function answersCard({ name }: ListView, answers: readonly Answer[], { visitor, now }: Shell): Markup {
  if (answers.length === 0) return html``
  const mayAnswer = visitor.role !== undefined && mayAct(visitor.role, 'operator')
  return card(
    'answers',
    'Answers',
    table<Answer>(
      'Answers that were given in this list, the latest first',
      [
        { name: 'Row', isHead: true, cell: ({ key }) => html`<code>${key}</code>` },
        {
          name: 'Answer',
          cell: ({ answer, recordId, isRecordThere }) =>
            html`${answerWords[answer]}${recordId === null ? '' : html` <code>${inlineText(recordId, 60)}</code>`}${
              recordId !== null && !isRecordThere ? html`<small>it is gone: the row waits again</small>` : ''
            }`,
        },
        { name: 'By', cell: ({ by }) => inlineText(by, 60) },
        { name: 'When', cell: ({ at }) => instant(at, now) },
        ...(mayAnswer
          ? [
              {
                name: 'Take back',
                cell: ({ key }: Answer) =>
                  html`<form method="post" action="/lists/${name}/review/forget">
                    ${csrf(visitor)}<input type="hidden" name="key" value="${key}" /><button
                      type="submit"
                      aria-label="Take back the answer about ${key}"
                    >
                      Take back
                    </button>
                  </form>`,
              },
            ]
          : []),
      ],
      answers,
    ),
  )
}
