import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'

const root = join(import.meta.dirname, '../..')

/** A metric as a rule, a panel or a page names it, with the labels that it is selected or grouped by. */
export interface NamedMetric {
  place: string
  name: string
  labels: string[]
}

export const deployFile = (path: string): string => readFileSync(join(root, 'deploy', path), 'utf8')

export const deployFiles = (pattern: string): string[] =>
  globSync(pattern, { cwd: join(root, 'deploy') }).sort()

/** Returns the documents of a YAML file. Throws where it does not parse, or a key stands twice. */
export function yamlDocuments<T>(text: string): T[] {
  return parseAllDocuments(text, { uniqueKeys: true }).map((document) => {
    if (document.errors[0]) throw document.errors[0]
    return document.toJS() as T
  })
}

interface Rules {
  groups: { name: string; rules: { record?: string; alert?: string; expr: string }[] }[]
}

export function prometheusRules(): Rules['groups'][number]['rules'] {
  const [rules] = yamlDocuments<Rules>(deployFile('prometheus/rules.yml'))
  return rules!.groups.flatMap((group) => group.rules)
}

interface Dashboard {
  panels: { title: string; targets?: { expr: string }[] }[]
}

/** Returns each expression of the deployment: rules, adapter, dashboard, and the names that the pages of docs give. */
export function expressions(): { place: string; expr: string }[] {
  const { panels } = JSON.parse(deployFile('grafana/paydirt.json')) as Dashboard
  const [adapter] = yamlDocuments<{ externalRules: { seriesQuery: string; metricsQuery: string }[] }>(
    deployFile('prometheus/adapter.yml'),
  )
  const page = (path: string) =>
    [...readFileSync(join(root, path), 'utf8').matchAll(/`(paydirt_[^`]+)`/g)].map(([, span]) => ({
      place: path,
      expr: span!,
    }))
  return [
    ...prometheusRules().map(({ record, alert, expr }) => ({ place: `rules.yml ${record ?? alert}`, expr })),
    ...panels.flatMap(({ title, targets = [] }) =>
      targets.map(({ expr }) => ({ place: `paydirt.json ${title}`, expr })),
    ),
    ...adapter!.externalRules.flatMap(({ seriesQuery, metricsQuery }) =>
      [seriesQuery, metricsQuery].map((expr) => ({ place: 'adapter.yml', expr })),
    ),
    ...page('docs/slo.md'),
    ...page('deploy/README.md'),
    ...page('docs/operations.md'),
  ]
}

/** Labels that Prometheus adds to what it scrapes. */
const addedLabels = ['instance', 'job', 'namespace', 'pod']

/**
 * Returns each metric of an expression with its labels: those of its selector, and those of every grouping of the expression,
 * which must be labels of one of its metrics.
 */
export function metricsIn({ place, expr }: { place: string; expr: string }): NamedMetric[] {
  return [...expr.matchAll(/\b((?:paydirt|nodejs|process)[a-z0-9_:]*)(?:\{([^}]*)\})?/g)]
    .filter(([, name]) => name!.includes('_'))
    .map(([, name, selector = '']) => ({
      place,
      name: name!,
      labels: [...selector.matchAll(/([a-z_]+)\s*(?:=~|!~|!=|=)/g)]
        .map(([, label]) => label!)
        .filter((label) => !addedLabels.includes(label)),
    }))
}

/** Returns the labels that an expression groups by. */
export function groupedBy(expr: string): string[] {
  return [...expr.matchAll(/\bby\s*\(([^)]*)\)/g)]
    .flatMap(([, labels]) => labels!.split(',').map((label) => label.trim()))
    .filter((label) => label !== '' && !addedLabels.includes(label))
}
