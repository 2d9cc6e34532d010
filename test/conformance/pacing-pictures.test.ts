import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { arrivalGaps } from '../../bench/arrival-gaps.ts'
import { drawPacing } from '../../bench/pacing-picture.ts'
import { all, elementsOf, parseMarkup, textOf, type Element } from '../../crm/check/markup.mjs'

const root = join(import.meta.dirname, '../..')
const series = {
  title: '40 & 10 a second <breathing>',
  subtitle: '98.1 % used',
  limits: [40, 40, 10],
  served: [20, 40, 8],
  refused: [0, 1, 20],
  countsFrom: [2],
}

/** The height of one request, and the place of none, as the picture's own axis has them. */
function readScale(svg: Element) {
  const levels = all(svg, 'text')
    .filter((text) => text.attributes.get('text-anchor') === 'end')
    .map((text) => ({ y: Number(text.attributes.get('y')) - 4, count: Number(textIn(text)) }))
  const [none, most] = [levels[0]!, levels.at(-1)!]
  expect(none.count).toBe(0)
  return { bottom: none.y, each: (none.y - most.y) / most.count }
}

const textIn = (element: Element) =>
  element.children.map((child) => ('text' in child ? child.text : '')).join('')
const group = (svg: Element, name: string) =>
  elementsOf(all(svg, 'g').find((it) => it.attributes.get('class') === name)!)
const numberOf = (element: Element, name: string) => Number(element.attributes.get(name))

describe('the picture of a limit', () => {
  const svg = parseMarkup(drawPacing(series))
  const { bottom, each } = readScale(svg)

  test('has a bar for what each second served, and says its numbers', () => {
    const bars = group(svg, 'served')
    expect(bars.map((bar) => numberOf(bar, 'height') / each)).toEqual(
      series.served.map((count) => expect.closeTo(count, 0)),
    )
    expect(bars.map((bar) => textOf(bar, 'title'))).toEqual([
      '1 s: 20 served',
      '2 s: 40 served, 1 refused',
      '3 s: 8 served, 20 refused',
    ])
  })

  test('has a mark above the bar for what was refused, and one for a single request can be seen', () => {
    const [, second, third] = group(svg, 'served')
    const marks = group(svg, 'refused')
    expect(marks.map((mark) => numberOf(mark, 'x'))).toEqual([numberOf(second!, 'x'), numberOf(third!, 'x')])
    expect(numberOf(marks[0]!, 'height')).toBeGreaterThan(2)
    expect(numberOf(marks[1]!, 'height') / each).toBeCloseTo(20, 0)
    expect(numberOf(marks[1]!, 'y') + numberOf(marks[1]!, 'height')).toBeCloseTo(numberOf(third!, 'y'), 1)
  })

  test('has the limit of each second as a line', () => {
    const line = all(svg, 'path').find((path) => path.attributes.has('fill'))!
    const levels = [...line.attributes.get('d')!.matchAll(/[ML][\d.]+ ([\d.]+)/g)].map(
      ([, y]) => (bottom - Number(y)) / each,
    )
    expect(levels).toEqual(series.limits.map((limit) => expect.closeTo(limit, 0)))
  })

  test('names itself, also to a screen reader, and is the same each time', () => {
    expect(textOf(svg, 'title')).toBe('40 &amp; 10 a second &lt;breathing&gt;: 98.1 % used')
    expect(drawPacing(series)).toBe(drawPacing(series))
  })
})

describe('docs/pictures', () => {
  const paths = globSync('docs/pictures/*.svg', { cwd: root }).sort()

  test('are well-formed and small', () => {
    expect(paths.length).toBeGreaterThanOrEqual(10)
    const sources = paths.map((path) => readFileSync(join(root, path), 'utf8'))
    const odd = paths.filter(
      (_, at) =>
        group(parseMarkup(sources[at]!), 'served').length < 25 || Buffer.byteLength(sources[at]!) >= 30_000,
    )
    expect(odd).toEqual([])
  })

  test('all stand in docs/benchmarks.md', () => {
    const page = readFileSync(join(root, 'docs/benchmarks.md'), 'utf8')
    const shown = [...page.matchAll(/\]\((pictures\/[^)]+)\)/g)].map(([, target]) => `docs/${target}`)
    expect(shown.sort()).toEqual(paths)
  })
})

describe('the gaps between arrivals', () => {
  const even = Array.from({ length: 101 }, (_, at) => at * 50)

  test('of even requests are none too short and none off', () => {
    expect(arrivalGaps(even, 20)).toEqual({ shortPercent: 0, offMsP95: 0 })
  })

  test('count a request that comes with the one before it, and the gap that it leaves', () => {
    const bunched = even.map((atMs, at) => (at % 4 === 3 ? atMs - 45 : atMs))
    expect(arrivalGaps(bunched.toReversed(), 20)).toEqual({ shortPercent: 25, offMsP95: 45 })
  })
})
