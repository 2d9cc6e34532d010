// Needs systemd-analyze (systemd), promtool (prometheus), kubectl and the npm registry (kubernetes-models); yamllint where it is installed.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { deployFiles, yamlDocuments } from '../support/deploy-files.ts'

const root = join(import.meta.dirname, '../..')
const folder = mkdtempSync(join(tmpdir(), 'paydirt-deploy-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function run(command: string, args: readonly string[], input?: string, cwd = join(root, 'deploy')) {
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd,
    encoding: 'utf8',
    input,
    maxBuffer: 2 ** 26,
  })
  return { status, stdout: stdout ?? '', text: `${stdout}${stderr}`.trim() }
}

const has = (command: string) => spawnSync('which', [command]).status === 0
const units = deployFiles('systemd/*.service').map((path) =>
  path.replace('systemd/', './').replace('@.', '@1.'),
)

/** Tenths: "OK" begins below 5, and these units are to be well below that. */
const mostExposure = 2.5

describe.skipIf(!has('systemd-analyze'))('systemd', () => {
  const inUnits = join(root, 'deploy/systemd')

  test('takes every unit without a remark', () => {
    const judged = run('systemd-analyze', ['verify', ...units, './paydirt.target'], undefined, inUnits)
    expect(judged.text).toBe('')
    expect(judged.status).toBe(0)
  })

  test.each(deployFiles('systemd/*.service'))('%s is little exposed', (path) => {
    const { text } = run('systemd-analyze', ['security', '--offline=true', path])
    const [line = '', exposure] = /.*Overall exposure level for .*: ([\d.]+) .*/.exec(text) ?? []
    console.log(line)
    expect(Number(exposure)).toBeLessThan(mostExposure)
  })

  test('remarks on a directive that does not exist', () => {
    const text = readFileSync(join(inUnits, 'paydirt-web.service'), 'utf8')
    writeFileSync(join(folder, 'paydirt-web.service'), text.replace('ProtectSystem=', 'ProtectSytem='))
    const judged = run('systemd-analyze', ['verify', './paydirt-web.service'], undefined, folder)
    expect(judged.text).toMatch(/Unknown key .*'ProtectSytem'/)
  })
})

describe.skipIf(!has('promtool'))('promtool', () => {
  test('takes the rules', () => {
    const { status, text } = run('promtool', ['check', 'rules', 'prometheus/rules.yml'])
    console.log(text)
    expect([status, text]).toEqual([0, expect.stringMatching(/SUCCESS: \d+ rules found/)])
  })

  test('takes the scrape, whose token is in a file', () => {
    const token = join(folder, 'token')
    writeFileSync(token, 'a-token')
    const text = readFileSync(join(root, 'deploy/prometheus/scrape.yml'), 'utf8')
    const config = join(folder, 'prometheus.yml')
    const ours = text.replace('/etc/prometheus/paydirt-metrics-token', token)
    writeFileSync(config, ours.replace('- rules.yml', `- ${join(root, 'deploy/prometheus/rules.yml')}`))
    const judged = run('promtool', ['check', 'config', config])
    expect([judged.status, judged.text]).toEqual([0, expect.stringContaining('is valid prometheus config')])
  })

  test('sees each alert fire, and stay silent, when it should', () => {
    const { status, text } = run('promtool', ['test', 'rules', 'prometheus/rules.test.yml'])
    console.log(text)
    expect([status, text]).toEqual([0, expect.stringContaining('SUCCESS')])
  })

  // A rule that no test notices is not tested.
  test.each([
    ['presses that never end taken for good', 'presses of which none ends', 'outcome="ended", le', 'le'],
    [
      'refusals counted once a process',
      'the CRM refuses, as two',
      'sum(max by (connector, outcome)',
      'sum(sum by (connector, outcome)',
    ],
    ['a late reconciliation that is none', 'no reconciliation for longer', '> bool 93600', '> bool 936000'],
    ['the kill switch left out', 'the kill switch explains', 'and max(paydirt_spending_stopped) == 0', ''],
    ['failed nights left out', 'two nights of this week', 'outcome=~"missed|failed"', 'outcome="missed"'],
    ['lost money that is no loss', 'money without data', 'outcome="lost"', 'outcome="gone"'],
  ])('finds %s', (_, name, from, to) => {
    const rules = readFileSync(join(root, 'deploy/prometheus/rules.yml'), 'utf8')
    expect(rules).toContain(from)
    writeFileSync(join(folder, 'rules.yml'), rules.replaceAll(from, to))
    const [all] = yamlDocuments<{ tests: { name: string }[] }>(
      readFileSync(join(root, 'deploy/prometheus/rules.test.yml'), 'utf8'),
    )
    const tests = all!.tests.filter((each) => each.name.includes(name))
    expect(tests).toHaveLength(1)
    writeFileSync(join(folder, 'rules.test.yml'), JSON.stringify({ ...all, tests }))
    const { status, text } = run('promtool', ['test', 'rules', 'rules.test.yml'], undefined, folder)
    expect([status, text]).toEqual([1, expect.stringContaining('FAILED')])
  })
})

interface Resource {
  apiVersion: string
  kind: string
  metadata: { name: string }
}

describe.skipIf(!has('kubectl'))('Kubernetes', () => {
  let rendered = ''

  beforeAll(() => {
    const judged = run('kubectl', ['kustomize', 'kubernetes'])
    if (judged.status !== 0) throw new Error(judged.text)
    rendered = judged.stdout
    const installed = run(
      'npm',
      ['install', '--no-audit', '--no-fund', '--prefix', folder, 'kubernetes-models@5.1.0'],
      undefined,
      folder,
    )
    if (installed.status !== 0) throw new Error(installed.text)
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  })

  /** Returns the remarks of the schemas, which `kubernetes-models` has from the OpenAPI document of Kubernetes. */
  async function byItsSchemas(text: string): Promise<string[]> {
    const remarks = []
    for (const resource of yamlDocuments<Resource>(text)) {
      const path = join(folder, 'node_modules/kubernetes-models', resource.apiVersion, `${resource.kind}.js`)
      const models = (await import(pathToFileURL(path).href)) as Record<
        string,
        new (of: Resource) => { validate(): void }
      >
      try {
        new models[resource.kind]!(resource).validate()
      } catch (error) {
        remarks.push(`${resource.kind} ${resource.metadata.name}: ${(error as Error).message}`)
      }
    }
    return remarks
  }

  /** The same package's types refuse a field that does not exist, which the schemas allow. */
  function byItsTypes(text: string): string[] {
    const resources = yamlDocuments<Resource>(text)
    const lines = resources.map(
      ({ apiVersion, kind }, at) =>
        `import type { I${kind} as K${at} } from 'kubernetes-models/${apiVersion}/${kind}'`,
    )
    const values = resources.map(
      (resource, at) => `export const r${at}: K${at} = ${JSON.stringify(resource)}`,
    )
    const file = join(folder, 'resources.ts')
    writeFileSync(file, [...lines, ...values, ''].join('\n'))
    const options = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--ignoreConfig', file]
    const { text: said } = run(join(root, 'node_modules/.bin/tsc'), options, undefined, folder)
    return said.split('\n').filter((line) => line.includes('error'))
  }

  /** kubectl reads what has pods into its own types, which drop what they do not know. */
  function byKubectl(text: string): unknown[] {
    const { stdout } = run(
      'kubectl',
      ['set', 'serviceaccount', '--local', '-f', '-', 'paydirt', '-o', 'json'],
      text,
    )
    // One JSON document after the other.
    return stdout
      .split(/^(?=\{$)/m)
      .filter((part) => part.trim() !== '')
      .map((part) => JSON.parse(part) as unknown)
  }

  const planted: [string, RegExp, string][] = [
    ['a number in words', /maxReplicas: 8/, 'maxReplicas: eight'],
    ['a port that is a text', /containerPort: 8080/, 'containerPort: http'],
  ]
  const misspelt: [string, RegExp, string][] = [
    ['a grace that is misspelt', /terminationGracePeriodSeconds/, 'terminationGraceSeconds'],
    ['a budget that is misspelt', /minAvailable/, 'minAvailible'],
    ['a probe at the wrong level', /livenessProbe/, 'liveProbe'],
  ]

  test('takes every manifest by its schemas', async () => {
    expect(yamlDocuments(rendered).length).toBeGreaterThan(12)
    expect(await byItsSchemas(rendered)).toEqual([])
    console.log(`${yamlDocuments(rendered).length} resources are valid by kubernetes-models 5.1.0`)
  })

  test.each(planted)('its schemas find %s', async (_, from, to) => {
    expect(rendered).toMatch(from)
    expect(await byItsSchemas(rendered.replace(from, to))).toHaveLength(1)
  })

  test('has every field by its types', () => expect(byItsTypes(rendered)).toEqual([]))

  test.each(misspelt)('its types find %s', (_, from, to) => {
    expect(rendered).toMatch(from)
    expect(byItsTypes(rendered.replace(from, to)).length).toBeGreaterThan(0)
  })

  /** Returns the fields of what has pods that kubectl drops or changes. */
  function lostInKubectl(text: string): string[] {
    const theirs = new Map(byKubectl(text).map((each) => [(each as Resource).metadata.name, each]))
    const ours = yamlDocuments<Resource>(text).filter(({ kind }) => /^(Deployment|Job)$/.test(kind))
    return ours.flatMap((each) => lost(each, theirs.get(each.metadata.name), each.metadata.name))
  }

  test('kubectl keeps every field of what has pods', () => {
    expect(byKubectl(rendered)).toHaveLength(4)
    expect(lostInKubectl(rendered)).toEqual([])
  })

  test('kubectl drops a field that is misspelt', () => {
    const planted = rendered.replace('terminationGracePeriodSeconds', 'terminationGraceSeconds')
    expect(lostInKubectl(planted)).toEqual([expect.stringMatching(/terminationGraceSeconds$/)])
  })

  test('the selector of DNS is left alone by kustomize', () => {
    const policy = yamlDocuments<Resource>(rendered).find(
      ({ metadata }) => metadata.name === 'paydirt-default',
    )
    expect(JSON.stringify(policy)).toContain('"podSelector":{"matchLabels":{"k8s-app":"kube-dns"}}')
  })
})

/** Returns the paths of the values of `ours` that `theirs` has not. */
function lost(ours: unknown, theirs: unknown, path: string): string[] {
  if (typeof ours !== 'object' || ours === null) return ours === theirs ? [] : [path]
  return Object.entries(ours).flatMap(([name, inner]) =>
    lost(inner, (theirs as Record<string, unknown> | undefined)?.[name], `${path}.${name}`),
  )
}

test.skipIf(!has('yamllint'))('yamllint takes every file', () => {
  const config =
    '{extends: default, rules: {line-length: {max: 200}, document-start: disable, comments: {min-spaces-from-content: 1}}}'
  const { status, text } = run('yamllint', ['-d', config, '.'])
  expect([text, status]).toEqual(['', 0])
})
