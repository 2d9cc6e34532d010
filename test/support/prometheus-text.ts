/** A family of samples as the text form has it. */
export interface Family {
  name: string
  type: string
  help: string
  samples: { name: string; labels: Record<string, string>; value: number }[]
}

const metricName = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/
const sampleLine = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)(?: (-?\d+))?$/
const number = /^[+-]?(?:\d+\.?\d*(?:e[+-]?\d+)?|\.\d+(?:e[+-]?\d+)?|Inf)$|^NaN$/i
const types = ['counter', 'gauge', 'histogram', 'summary', 'untyped']

/**
 * Reads the text form 0.0.4 by the letter of its description and throws where it departs: help and type once each and
 * before the samples, a family in one piece, no sample twice, label values escaped, histograms whole, the last line ended.
 */
export function parsePrometheusText(text: string): Map<string, Family> {
  if (!text.endsWith('\n')) throw new Error('the last line is not ended')
  const families = new Map<string, Family>()
  const seen = new Set<string>()
  let current: Family | undefined
  for (const [index, line] of text.slice(0, -1).split('\n').entries()) {
    const at = `line ${index + 1}: ${line}`
    if (line === '') continue
    const comment = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line)
    if (comment) {
      const [, kind, name = '', rest = ''] = comment
      if (!metricName.test(name)) throw new Error(`bad name, ${at}`)
      if (current?.name !== name) {
        if (families.has(name)) throw new Error(`a family in two pieces, ${at}`)
        current = { name, type: '', help: '', samples: [] }
        families.set(name, current)
      }
      if (current.samples.length > 0) throw new Error(`${kind} after the samples, ${at}`)
      if (kind === 'HELP') {
        if (current.help !== '') throw new Error(`help twice, ${at}`)
        if (/\\(?![\\n])/.test(rest)) throw new Error(`bad escape, ${at}`)
        current.help = rest
      } else {
        if (current.type !== '') throw new Error(`type twice, ${at}`)
        if (!types.includes(rest)) throw new Error(`no such type, ${at}`)
        current.type = rest
      }
      continue
    }
    if (line.startsWith('#')) continue
    const sample = sampleLine.exec(line)
    if (!sample) throw new Error(`no sample, ${at}`)
    const [, name = '', labelText, valueText = ''] = sample
    if (!number.test(valueText)) throw new Error(`no number, ${at}`)
    if (!current || !belongs(name, current)) throw new Error(`a sample outside its family, ${at}`)
    const labels = labelText === undefined ? {} : parseLabels(labelText, at)
    const id = `${name}${JSON.stringify(Object.entries(labels).sort())}`
    if (seen.has(id)) throw new Error(`a sample twice, ${at}`)
    seen.add(id)
    current.samples.push({ name, labels, value: valueOf(valueText) })
  }
  for (const family of families.values()) if (family.type === 'histogram') checkHistogram(family)
  return families
}

function belongs(name: string, { name: family, type }: Family): boolean {
  if (type === 'histogram') return ['_bucket', '_sum', '_count'].some((suffix) => name === family + suffix)
  if (type === 'summary') return ['', '_sum', '_count'].some((suffix) => name === family + suffix)
  return name === family
}

function parseLabels(text: string, at: string): Record<string, string> {
  const labels: Record<string, string> = {}
  const pair = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\\\|\\"|\\n)*)"(,|$)/y
  while (pair.lastIndex < text.length) {
    const match = pair.exec(text)
    if (!match) throw new Error(`bad labels, ${at}`)
    const [, name = '', value = ''] = match
    if (name in labels) throw new Error(`a label twice, ${at}`)
    labels[name] = value.replace(/\\(.)/g, (_, letter: string) => (letter === 'n' ? '\n' : letter))
  }
  return labels
}

function valueOf(text: string): number {
  if (/^[+-]?Inf$/i.test(text)) return text.startsWith('-') ? -Infinity : Infinity
  return Number(text)
}

function checkHistogram({ name, samples }: Family): void {
  const series = new Map<string, { le: number; value: number }[]>()
  for (const { name: sample, labels, value } of samples) {
    if (sample !== `${name}_bucket`) continue
    const { le, ...rest } = labels
    if (le === undefined) throw new Error(`${name}: a bucket without le`)
    const key = JSON.stringify(Object.entries(rest).sort())
    series.set(key, [...(series.get(key) ?? []), { le: valueOf(le.replace('+', '')), value }])
  }
  for (const [key, buckets] of series) {
    for (const [index, bucket] of buckets.entries()) {
      const before = buckets[index - 1]
      if (before && (bucket.le <= before.le || bucket.value < before.value))
        throw new Error(`${name}: buckets that do not rise`)
    }
    const last = buckets.at(-1)
    if (last?.le !== Infinity) throw new Error(`${name}: no bucket +Inf`)
    const count = samples.find(
      (sample) =>
        sample.name === `${name}_count` && JSON.stringify(Object.entries(sample.labels).sort()) === key,
    )
    if (count?.value !== last.value) throw new Error(`${name}: count is not its last bucket`)
    if (!samples.some((sample) => sample.name === `${name}_sum`)) throw new Error(`${name}: no sum`)
  }
}

/** Returns the faults that `promtool check metrics` finds, rule by rule (prometheus/client_golang, promlint). */
export function lintMetrics(families: Iterable<Family>): string[] {
  const problems: string[] = []
  for (const { name, type, help, samples } of families) {
    const words = name.split('_')
    if (help === '') problems.push(`${name}: no help text`)
    if (type === '') problems.push(`${name}: no type`)
    if (type === 'counter' && !name.endsWith('_total')) problems.push(`${name}: counters end in _total`)
    if (type !== 'counter' && name.endsWith('_total')) problems.push(`${name}: only counters end in _total`)
    if (type !== 'histogram' && name.endsWith('_bucket'))
      problems.push(`${name}: only histograms have buckets`)
    if (!['histogram', 'summary'].includes(type) && /_(count|sum)$/.test(name))
      problems.push(`${name}: only histograms and summaries end in _count or _sum`)
    if (name.includes(':')) problems.push(`${name}: colons are for recording rules`)
    if (/[a-z][A-Z]/.test(name)) problems.push(`${name}: camelCase`)
    for (const word of words) {
      if (['counter', 'gauge', 'histogram', 'summary'].includes(word) && word === type)
        problems.push(`${name}: names its own type`)
      if (units[word] !== undefined) problems.push(`${name}: use the base unit ${units[word]}`)
      if (/^(s|ms|us|ns|sec|b|kb|mb|gb|tb|pb|m|h|d)$/.test(word)) problems.push(`${name}: abbreviated unit`)
    }
    for (const { labels } of samples) {
      for (const label of Object.keys(labels)) {
        if (label === 'le' && type !== 'histogram') problems.push(`${name}: label le outside a histogram`)
        if (label === 'quantile' && type !== 'summary')
          problems.push(`${name}: label quantile outside a summary`)
        if (/[a-z][A-Z]/.test(label)) problems.push(`${name}: label ${label} in camelCase`)
      }
    }
  }
  return [...new Set(problems)]
}

const units: Record<string, string> = {
  milliseconds: 'seconds',
  microseconds: 'seconds',
  nanoseconds: 'seconds',
  minutes: 'seconds',
  hours: 'seconds',
  days: 'seconds',
  kilobytes: 'bytes',
  megabytes: 'bytes',
  gigabytes: 'bytes',
  bits: 'bytes',
  percent: 'ratio',
  percents: 'ratio',
  celsius_degrees: 'celsius',
}
