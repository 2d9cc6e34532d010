import { html } from 'hono/html'
import type { Markup } from './parts.ts'

interface ChartSeries {
  name: string
  /** Undefined where there is nothing to show. */
  values: readonly (number | undefined)[]
}

export interface Chart {
  kind: 'lines' | 'bars'
  /** Its content in words, for those who do not see it. */
  label: string
  series: readonly ChartSeries[]
  /** Formats a value of the vertical axis, with its unit. */
  format: (value: number) => string
  /** At equal distances along the horizontal axis, the first at its beginning. */
  axis: readonly string[]
  /** Names the horizontal axis, with its zone. */
  caption: string
  /** The highest value that can be; otherwise the axis ends above the highest there is. */
  most?: number
}

const [width, height, rows] = [1_000, 200, 4]
const classNames = ['one', 'two'] as const

/**
 * Draws a chart without a script. Only lines and bars are drawn: they stretch with the page, and every label is text of the
 * page, which neither shrinks nor is cut on a phone. The table beside it has the numbers.
 */
export function chart({ kind, label, series, format, axis, caption, most }: Chart): Markup {
  const highest = Math.max(
    0,
    ...series.flatMap(({ values }) => values.filter((value) => value !== undefined)),
  )
  const top = most === undefined ? niceTop(highest) : Math.min(most, niceTop(highest))
  const ticks = Array.from({ length: rows + 1 }, (_, index) => top - (top / rows) * index)
  const draw = kind === 'lines' ? line : bars
  return html`<figure class="figure">
    <div class="figure-plot">
      <div class="figure-y" aria-hidden="true">
        ${ticks.map((tick) => html`<span>${format(tick)}</span>`)}
      </div>
      <svg viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" role="img" aria-label="${label}">
        ${ticks.map((_, index) => {
          const y = (height / rows) * index
          return html`<path class="grid" d="M0 ${y}H${width}" vector-effect="non-scaling-stroke" />`
        })}
        ${series.map(({ values }, index) => draw(values, top, classNames[index] ?? 'two'))}
      </svg>
    </div>
    <div class="figure-x" aria-hidden="true">${axis.map((text) => html`<span>${text}</span>`)}</div>
    <figcaption>
      ${
        series.length > 1
          ? html`<ul class="figure-legend">
              ${series.map(
                ({ name }, index) =>
                  html`<li>
                    <svg viewBox="0 0 24 8" width="24" height="8" aria-hidden="true">
                      <path class="${classNames[index] ?? 'two'}" d="M0 4H24" /></svg
                    >${name}
                  </li>`,
              )}
            </ul>`
          : ''
      }
      <p class="note">${caption}</p>
    </figcaption>
  </figure>`
}

/** Joins neighbours. A value between two gaps is a dot: a line of no length with round ends. */
function line(values: readonly (number | undefined)[], top: number, className: string): Markup {
  let [path, dots] = ['', '']
  for (const [index, value] of values.entries()) {
    if (value === undefined) continue
    const at = `${(((index + 0.5) / values.length) * width).toFixed(1)} ${heightOf(value, top).toFixed(1)}`
    const [isAfter, isBefore] = [values[index - 1] !== undefined, values[index + 1] !== undefined]
    if (isAfter) path += `L${at}`
    else if (isBefore) path += `M${at}`
    else dots += `M${at}h0`
  }
  return html`<path class="${className}" d="${path}" vector-effect="non-scaling-stroke" /><path
      class="${className} dots"
      d="${dots}"
      vector-effect="non-scaling-stroke"
    />`
}

function bars(values: readonly (number | undefined)[], top: number, className: string): Markup {
  const step = width / values.length
  return html`${values.map((value, index) => {
    if (value === undefined) return ''
    const y = heightOf(value, top)
    return html`<rect
      class="${className}"
      x="${(index * step + step * 0.15).toFixed(1)}"
      y="${y.toFixed(1)}"
      width="${(step * 0.7).toFixed(1)}"
      height="${(height - y).toFixed(1)}"
    />`
  })}`
}

function heightOf(value: number, top: number): number {
  return height - Math.min(1, value / top) * height
}

/** Returns a round number at or above the value, whose quarters are round too. */
export function niceTop(value: number): number {
  if (value <= 0) return 1
  const power = 10 ** Math.floor(Math.log10(value))
  const factor = [1, 2, 4, 6, 8, 10].find((each) => each * power >= value * (1 - 1e-9)) ?? 10
  return factor * power
}

/** The numbers of a chart, for those who want to read or copy them. */
export function asTable(content: Markup): Markup {
  return html`<details class="more-table">
    <summary>Show as a table</summary>
    ${content}
  </details>`
}

/** Formats a value of an axis without digits that say nothing: "7.5", "10". */
export function axisNumber(value: number): string {
  return String(Number(value.toPrecision(3)))
}
