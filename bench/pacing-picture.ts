/** One scenario second by second: the requests served, those refused, and those that the limit would have allowed. */
export interface PacingSeries {
  title: string
  subtitle: string
  /** Requests a second, one value a second. */
  limits: readonly number[]
  served: readonly number[]
  refused: readonly number[]
  /** The seconds from which on the figures count, one for each limit in turn; none when all of it counts. */
  countsFrom: readonly number[]
}

const [width, height] = [760, 280]
const frame = { left: 48, right: 12, top: 66, bottom: 40 }
const [plotWidth, plotHeight] = [width - frame.left - frame.right, height - frame.top - frame.bottom]
/** A single refusal at 200 a second would be less than a pixel high. */
const leastMark = 2.5

// A picture brings its own background, because a page cannot tell an embedded picture which colours it has.
const style = `
.paper{fill:#fff}text{font:12px system-ui,sans-serif;fill:#57606a}.title{font-size:15px;font-weight:600;fill:#1f2328}
.grid{stroke:#d8dee4}.axis{stroke:#8c959f}.served{fill:#79aee8}.refused{fill:#cf222e}.limit{stroke:#1f2328}.from{stroke:#8c959f}
@media(prefers-color-scheme:dark){.paper{fill:#0d1117}text{fill:#9198a1}.title{fill:#f0f6fc}.grid{stroke:#30363d}
.axis{stroke:#656c76}.served{fill:#3b73b9}.refused{fill:#ff7b72}.limit{stroke:#f0f6fc}.from{stroke:#656c76}}`.trim()

/**
 * Draws the requests of each second as bars, refused ones on top of those that were served, and the hidden limit as a
 * line. Returns an SVG document; the same series give the same text.
 */
export function drawPacing({ title, subtitle, limits, served, refused, countsFrom }: PacingSeries): string {
  const seconds = served.length
  const highest = Math.max(1, ...limits, ...served.map((count, at) => count + (refused[at] ?? 0)))
  const step = niceStep(highest / 5)
  const steps = Math.ceil(highest / step)
  const most = steps * step
  const x = (second: number) => short(frame.left + (second * plotWidth) / Math.max(1, seconds))
  const y = (count: number) => short(frame.top + plotHeight * (1 - Math.min(count, most) / most))
  const second = plotWidth / Math.max(1, seconds)
  // Three minutes have hundreds of bars: what all of them say is said shortly.
  const barWidth = Math.max(1, Math.round(second * 0.82))
  const bottom = y(0)

  const bars = served.map((count, at) => {
    const name = `${at + 1} s: ${count} served${refused[at] ? `, ${refused[at]} refused` : ''}`
    return `<rect x="${x(at)}" y="${y(count)}" width="${barWidth}" height="${short(bottom - y(count))}"><title>${name}</title></rect>`
  })
  const marks = served.flatMap((count, at) => {
    const more = refused[at] ?? 0
    if (more === 0) return []
    const tall = Math.max(leastMark, y(count) - y(count + more))
    return [`<rect x="${x(at)}" y="${short(y(count) - tall)}" width="${barWidth}" height="${short(tall)}"/>`]
  })
  const line = limits
    .slice(0, seconds)
    .map((limit, at) => `${at === 0 ? 'M' : 'L'}${x(at)} ${y(limit)}h${short(second)}`)
  const rows = Array.from({ length: steps + 1 }, (_, at) => {
    const level = y(at * step)
    return `<path class="${at === 0 ? 'axis' : 'grid'}" d="M${frame.left} ${level}H${width - frame.right}"/><text x="${frame.left - 8}" y="${short(level + 4)}" text-anchor="end">${short(at * step)}</text>`
  })
  const everySeconds = niceStep(seconds / 8)
  const columns = Array.from({ length: Math.floor(seconds / everySeconds) + 1 }, (_, at) => {
    const second = at * everySeconds
    return `<text x="${x(second)}" y="${height - 22}" text-anchor="middle">${short(second)}</text>`
  })
  const from = countsFrom.map(
    (second) =>
      `<path class="from" stroke-dasharray="3 3" d="M${x(second)} ${frame.top - 14}V${bottom}"/><text x="${short(x(second) + 4)}" y="${frame.top - 6}">counted from here</text>`,
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">
<title>${escaped(`${title}: ${subtitle}`)}</title>
<style>${style}</style>
<rect class="paper" width="${width}" height="${height}"/>
<text class="title" x="${frame.left}" y="24">${escaped(title)}</text>
<text x="${frame.left}" y="43">${escaped(subtitle)}</text>
${legend()}
${rows.join('\n')}
<g class="served">${bars.join('')}</g>
<g class="refused">${marks.join('')}</g>
<path class="limit" fill="none" stroke-width="1.5" d="${line.join('')}"/>
${columns.join('\n')}
<text x="${frame.left + plotWidth / 2}" y="${height - 6}" text-anchor="middle">seconds</text>
<text x="${-(frame.top + plotHeight / 2)}" y="13" transform="rotate(-90)" text-anchor="middle">requests a second</text>
${from.join('\n')}
</svg>
`
}

function legend(): string {
  const top = 15
  return `<rect class="served" x="500" y="${top}" width="10" height="10"/><text x="515" y="${top + 9}">served</text>
<rect class="refused" x="570" y="${top}" width="10" height="10"/><text x="585" y="${top + 9}">refused</text>
<path class="limit" stroke-width="1.5" d="M645 ${top + 5}h16"/><text x="667" y="${top + 9}">hidden limit</text>`
}

/** Returns 1, 2, 2.5 or 5 times a power of ten, whichever is the next one up. */
function niceStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, least)))
  return power * ([1, 2, 2.5, 5].find((factor) => factor * power >= least) ?? 10)
}

function short(value: number): number {
  return Math.round(value * 10) / 10
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
