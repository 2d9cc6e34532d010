import { median } from './table.ts'

const number = /-?\d+(?:\.\d+)?/g

/**
 * Returns one result in place of several of the same benchmark: of each number the median, also of numbers within a text
 * such as `12/95`. What else differs between the runs is shown as all its forms.
 *
 * @throws RangeError if there is no run, or the runs differ in their rows or columns: what is missing in one has no median
 */
export function mediansOf(runs: readonly unknown[]): unknown {
  const [first] = runs
  if (first === undefined) throw new RangeError('no runs')
  if (runs.every((run) => typeof run === 'number')) return median(runs as number[])
  if (runs.every((run) => typeof run === 'string')) return medianText(runs as string[])
  if (Array.isArray(first)) {
    const lists = runs as unknown[][]
    if (lists.some((list) => list.length !== first.length))
      throw new RangeError(`runs have ${lists.map((list) => list.length).join(', ')} rows`)
    return first.map((_, index) => mediansOf(lists.map((list) => list[index])))
  }
  if (first !== null && typeof first === 'object') {
    const rows = runs as Record<string, unknown>[]
    return Object.fromEntries(
      Object.keys(first).map((name) => [name, mediansOf(rows.map((row) => row[name] ?? ''))]),
    )
  }
  return medianText(runs.map(String))
}

function medianText(texts: readonly string[]): string {
  const forms = new Set(texts.map((text) => text.replaceAll(number, '#')))
  if (forms.size > 1) return [...new Set(texts)].join(' | ')
  const numbers = texts.map((text) => (text.match(number) ?? []).map(Number))
  let index = -1
  return (texts[0] as string).replaceAll(number, () => {
    index += 1
    return String(median(numbers.map((list) => list[index] as number)))
  })
}
