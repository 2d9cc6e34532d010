import { html } from 'hono/html'
import { duration, stamp } from './format.ts'
import { stateText } from './state-words.ts'
import { undoneAmount, undoneWord } from '../../../domain/values/undone-text.ts'

/** The result of a template. Templates accept arrays of it. */
export type Markup = ReturnType<typeof html>

/** Shows an instant with its zone, UTC unless another is given, and the exact time as the tooltip. */
export function instant(
  at: Date | null | undefined,
  now: Date,
  { none = '–', timeZone }: { none?: string; timeZone?: string | undefined } = {},
): Markup {
  if (!at) return html`${none}`
  return html`<time datetime="${at.toISOString()}" title="${at.toISOString()}"
    >${stamp(at, now, timeZone)}</time
  >`
}

type Tone = 'ok' | 'warn' | 'danger' | 'accent' | 'quiet'

const tones: Record<string, Tone> = {
  scanning: 'accent',
  working: 'accent',
  looking_up: 'accent',
  ready: 'accent',
  queued: 'quiet',
  written: 'ok',
  finished: 'ok',
  settled: 'ok',
  answered: 'ok',
  found: 'ok',
  parked: 'warn',
  stopped: 'warn',
  in_doubt: 'warn',
  paused: 'warn',
  superseded: 'quiet',
  left_out: 'warn',
  rejected: 'danger',
  failed: 'danger',
  lost: 'danger',
}

export function badge(state: string, tone: Tone = tones[state] ?? 'quiet', text = stateText(state)): Markup {
  return html`<span class="badge ${tone}">${text}</span>`
}

/** Says beside the state of a run that what it wrote was put back, and how much of it. */
export function undoneBadge(undone: { fields: number; of: number }): Markup {
  return html` <span class="badge warn" title="${undoneAmount(undone)}">${undoneWord(undone)}</span>`
}

export interface BarPart {
  name: string
  className: string
  value: number
}

/** A bar of parts of a whole. The text next to it has the numbers, so screen readers get one image with a label. */
export function stackedBar(parts: readonly BarPart[], total: number, label: string): Markup {
  const width = 1000
  let x = 0
  const rects = parts
    .filter(({ value }) => value > 0)
    .map(({ className, value }) => {
      const size = total > 0 ? Math.min(width - x, (value / total) * width) : 0
      const rect = html`<rect
        class="${className}"
        x="${x.toFixed(1)}"
        y="0"
        width="${size.toFixed(1)}"
        height="10"
      />`
      x += size
      return rect
    })
  return html`<svg
    class="bar"
    viewBox="0 0 ${width} 10"
    preserveAspectRatio="none"
    role="img"
    aria-label="${label}"
  >
    ${rects}
  </svg>`
}

/** Shows how much of a cap is used. */
export function meter(share: number, label: string, isCap = true): Markup {
  const level = !isCap || share < 0.8 ? 'fair' : share >= 1 ? 'full' : 'high'
  const value = Math.max(0, Math.min(1, share))
  return html`<svg
    class="bar meter ${level}"
    viewBox="0 0 1000 10"
    preserveAspectRatio="none"
    role="img"
    aria-label="${label}"
  >
    <rect class="fill" x="0" y="0" width="${(value * 1000).toFixed(1)}" height="10" />
  </svg>`
}

export function card(
  id: string,
  title: string,
  body: Markup | Markup[],
  more: { note?: string; className?: string } = {},
): Markup {
  return html`<section class="card ${more.className ?? ''}" aria-labelledby="${id}-title">
    <header class="card-head">
      <h2 id="${id}-title">${title}</h2>
      ${more.note ? html`<p class="note">${more.note}</p>` : ''}
    </header>
    ${body}
  </section>`
}

export function empty(text: string): Markup {
  return html`<p class="empty">${text}</p>`
}

/** Says when parked work resumes: "resumes in 5 min", or "needs action" when it does not resume without an operator. */
export function resumesWhen(resumesAt: Date | null, now: Date): string {
  if (!resumesAt) return 'needs action'
  const ms = resumesAt.getTime() - now.getTime()
  return ms <= 0 ? 'resumes now' : `resumes in ${duration(ms)}`
}

export interface Column<Row> {
  name: string
  /** Numbers are aligned right. */
  isNumber?: boolean
  /** On a phone each row becomes a card; this column is its heading. */
  isHead?: boolean
  cell: (row: Row) => Markup | string
}

/** A table that becomes a list of cards on a phone, unless it is narrow. Each cell carries the name of its column. */
export function table<Row>(
  caption: string,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  { isNarrow = false } = {},
): Markup {
  return html`<div class="table-wrap">
    <table class="${isNarrow ? '' : 'stacks'}">
      <caption>
        ${caption}
      </caption>
      <thead>
        <tr>
          ${columns.map((column) => html`<th scope="col" class="${column.isNumber ? 'num' : ''}">${column.name}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (row) =>
            html`<tr>
              ${columns.map((column) => cellOf(column, row))}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`
}

function cellOf<Row>(column: Column<Row>, row: Row): Markup {
  const content = column.cell(row)
  const className = column.isNumber ? 'num' : ''
  return column.isHead
    ? html`<th scope="row" class="${className}">${content}</th>`
    : html`<td class="${className}" data-label="${column.name}"><div>${content}</div></td>`
}

/** Lists facts, each with its name. */
export function facts(rows: readonly (readonly [name: string, value: Markup | string])[]): Markup {
  return html`<dl class="facts">
    ${rows.map(
      ([name, value]) =>
        html`<div>
          <dt>${name}</dt>
          <dd>${value}</dd>
        </div>`,
    )}
  </dl>`
}
