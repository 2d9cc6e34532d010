import { html } from 'hono/html'
import { printable } from '../../domain/values/printable.ts'
import type { BookEntry, BookField, CrmBook } from './book.ts'
import type { Change } from './change-log.ts'

type Markup = ReturnType<typeof html>

export interface View {
  book: CrmBook
  object: string
  /** This page, as it is and loading itself again. */
  links: { here: string; refreshing: string }
  /** Seconds between two loads of the page by itself; undefined: never. */
  refreshSeconds: number | undefined
  notice?: string | undefined
}

export interface ListView extends View {
  entries: { entry: BookEntry; last: Change | undefined }[]
  total: number
  query: string
  page: number
  pages: number
}

export function listPage(view: ListView): Markup {
  const { entries, total, query, page, pages, object } = view
  const link = (to: number) => `/_sandbox/${object}?${new URLSearchParams({ q: query, page: String(to) })}`
  return frame(
    view,
    labelOf(view),
    html`<h1>${labelOf(view)}</h1>
      <form method="get" action="/_sandbox/${object}">
        <label>Find <input name="q" type="search" value="${query}" maxlength="300" /></label>
        <button type="submit">Find</button>
      </form>
      <p>${total} record${total === 1 ? '' : 's'}, those that changed last first.</p>
      <div class="card">
        <table class="list">
          <thead>
            <tr>
              <th scope="col">Record</th>
              <th scope="col" class="wide">Known by</th>
              <th scope="col">Changed</th>
              <th scope="col">By</th>
            </tr>
          </thead>
          <tbody>
            ${entries.map(
              ({ entry, last }) =>
                html`<tr>
                  <td>
                    <a class="clamped" href="/_sandbox/${object}/${entry.id}"
                      >${shown(entry.title || entry.id)}</a
                    >
                    ${entry.isGone ? html`<small>deleted</small>` : ''}
                  </td>
                  <td class="wide">
                    ${entry.hints.map((hint) => html`<small class="clamped">${shown(hint)}</small>`)}
                  </td>
                  <td>${time(entry.modifiedAtMs)}</td>
                  <td>${last ? html`<span class="new">${last.by}</span>` : 'import'}</td>
                </tr>`,
            )}
          </tbody>
        </table>
      </div>
      <nav aria-label="More records">
        ${page > 1 ? html`<a href="${link(page - 1)}">Previous</a>` : ''}
        <span>page ${page} of ${pages}</span>
        ${page < pages ? html`<a href="${link(page + 1)}">Next</a>` : ''}
      </nav>`,
  )
}

export interface RecordView extends View {
  entry: BookEntry
  fields: BookField[]
  changes: readonly Change[]
}

export function recordPage(view: RecordView): Markup {
  const { entry, fields, changes, object } = view
  const filled = fields.filter(({ value }) => value !== '')
  const blank = fields.filter(({ value }) => value === '')
  const last = new Map<string, { by: string; before: string }>()
  for (const { by, fields: changed } of changes)
    for (const { name, before } of changed) if (!last.has(name)) last.set(name, { by, before })
  const place = `/_sandbox/${object}/${entry.id}`
  return frame(
    view,
    entry.title || entry.id,
    html`<h1>${shown(entry.title || entry.id)}</h1>
      <p>
        ${labelOf(view)}, id ${entry.id}, changed
        ${time(entry.modifiedAtMs)}${entry.isGone ? ', deleted' : ''}
      </p>
      <form method="post" action="${place}/press"><button type="submit">Enrich now</button></form>
      <h2>Values</h2>
      <div class="card">
        <table>
          <tbody>
            ${filled.map((field) => {
              const change = last.get(field.name)
              return html`<tr>
                ${heading(field)}
                <td>
                  ${change ? html`<span class="new">${shown(field.value)}</span>` : shown(field.value)}
                  ${
                    change
                      ? html`<small
                          >by ${change.by}, was
                          ${change.before === '' ? 'blank' : shown(change.before)}</small
                        >`
                      : ''
                  }
                </td>
              </tr>`
            })}
          </tbody>
        </table>
      </div>
      <p>Blank: ${blank.map(({ label }) => label).join(', ') || 'nothing'}.</p>
      <h2>Change a value, as a person does</h2>
      <form method="post" action="${place}">
        <label
          >Field
          <select name="field">
            ${fields
              .filter(({ isEditable }) => isEditable)
              .map(({ name, label }) => html`<option value="${name}">${label}</option>`)}
          </select></label
        >
        <label>Value <input name="value" maxlength="10000" autocomplete="off" /></label>
        <button type="submit">Save</button>
      </form>
      <h2>Changes</h2>
      ${
        changes.length === 0
          ? html`<p>None since the sandbox started.</p>`
          : html`<div class="card">
              <table>
                <tbody>
                  ${changes.map(
                    ({ atMs, by, fields: changed }) =>
                      html`<tr>
                        <th scope="row">${time(atMs)}<small>${by}</small></th>
                        <td>
                          ${changed.map(
                            ({ name, before, after }) =>
                              html`<div>
                                <b>${name}</b>: ${before === '' ? '(blank)' : shown(before)} →
                                ${after === '' ? '(blank)' : shown(after)}
                              </div>`,
                          )}
                        </td>
                      </tr>`,
                  )}
                </tbody>
              </table>
            </div>`
      }`,
  )
}

function frame(view: View, title: string, body: Markup): Markup {
  const { book, object, links, refreshSeconds, notice } = view
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        ${refreshSeconds === undefined ? '' : html`<meta http-equiv="refresh" content="${refreshSeconds}" />`}
        <title>${printable(title).slice(0, 200)} · ${book.label} stand-in</title>
        <link rel="stylesheet" href="/_sandbox/page.css" />
      </head>
      <body>
        <header>
          <p>
            A stand-in of ${book.label} with invented records, on this machine alone. Only its API is what
            Paydirt sees; this page is not part of ${book.label}.
          </p>
          <nav aria-label="Objects">
            ${book
              .objects()
              .map(
                ({ name, label, count }) =>
                  html`<a href="/_sandbox/${name}" ${name === object ? html`aria-current="page"` : ''}
                    >${label} (${count})</a
                  >`,
              )}
            <a href="${links.here}">Refresh</a>
            ${
              refreshSeconds === undefined
                ? html`<a href="${links.refreshing}">Refresh every 5 s</a>`
                : html`<a href="${links.here}">Stop refreshing</a>`
            }
          </nav>
        </header>
        <main>${notice === undefined ? '' : html`<p role="status">${shown(notice)}</p>`} ${body}</main>
      </body>
    </html>`
}

function heading({ name, label }: BookField): Markup {
  return html`<th scope="row">${label}<small>${name}</small></th>`
}

function labelOf({ book, object }: View): string {
  return book.objects().find(({ name }) => name === object)?.label ?? object
}

/** A value of any script, whose direction and control characters stay its own. */
function shown(text: string): Markup {
  return html`<bdi>${printable(text)}</bdi>`
}

function time(atMs: number): Markup {
  const text = new Date(atMs).toISOString()
  return html`<time datetime="${text}"
    ><span>${text.slice(0, 10)}</span> <span>${text.slice(11, 19)} UTC</span></time
  >`
}
