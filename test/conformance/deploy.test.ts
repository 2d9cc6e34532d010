import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { environmentVariables, problemOf } from '../../src/app/config/environment.ts'
import { createProgram } from '../../src/cli/program.ts'
import {
  deployFile,
  deployFiles,
  expressions,
  groupedBy,
  metricsIn,
  prometheusRules,
  yamlDocuments,
} from '../support/deploy-files.ts'

const root = join(import.meta.dirname, '../..')
/** Variables of Node itself. */
const others = ['NODE_ENV']

interface Resource {
  kind: string
  metadata: { name: string; labels?: Record<string, string> }
  data?: Record<string, string>
  spec?: {
    scaleTargetRef?: { name: string }
    selector?: { matchLabels?: Record<string, string> }
    template?: { metadata: { labels: Record<string, string> }; spec: Pod }
    podSelector?: { matchLabels?: Record<string, string> }
  }
}
interface Pod {
  automountServiceAccountToken: boolean
  terminationGracePeriodSeconds: number
  containers: {
    args: string[]
    env: { name: string; value?: string }[]
    ports?: { name: string; containerPort: number }[]
    livenessProbe?: { httpGet: { path: string; port: string } }
    readinessProbe?: { httpGet: { path: string; port: string } }
    securityContext: object
    resources: { requests: Record<string, string>; limits: Record<string, string> }
  }[]
}

const manifests = deployFiles('kubernetes/*.yaml').filter((path) => !path.endsWith('kustomization.yaml'))
const resources = manifests.flatMap((path) => yamlDocuments<Resource>(deployFile(path)))
const pods = resources.flatMap(({ kind, metadata, spec }) =>
  spec?.template ? [{ kind, name: metadata.name, pod: spec.template.spec, spec }] : [],
)

/** Throws CommanderError at a command, option or value that does not exist. */
function assertCommand(args: readonly string[]): void {
  const program = createProgram()
  const command = program.commands.find((it) => it.name() === args[0])
  if (!command) throw new Error(`there is no command ${args[0]}`)
  command.exitOverride().action(() => {})
  program.parse([...args], { from: 'user' })
}

describe('every file of deploy/ is read:', () => {
  test.each(deployFiles('**/*.{yml,yaml,json}'))('%s parses', (path) => {
    const text = deployFile(path)
    if (path.endsWith('.json')) expect(() => JSON.parse(text)).not.toThrow()
    else expect(yamlDocuments(text).length).toBeGreaterThan(0)
  })

  test('kustomization.yaml lists every manifest', () => {
    const [{ resources: listed }] = yamlDocuments<{ resources: string[] }>(
      deployFile('kubernetes/kustomization.yaml'),
    ) as [{ resources: string[] }]
    expect(listed.map((file) => `kubernetes/${file}`).sort()).toEqual(manifests)
  })
})

describe('the units', () => {
  const units = deployFiles('systemd/*.service').map((path): [string, string] => [path, deployFile(path)])

  test.each(units)('%s starts a command that exists', (path, text) => {
    const [, args = ''] = /^ExecStart=\/usr\/bin\/node .*\/paydirt\/bin\/paydirt\.mjs (.+)$/m.exec(text) ?? []
    expect([path, args]).not.toContain('')
    assertCommand(args.split(' '))
    expect(existsSync(join(root, 'bin/paydirt.mjs'))).toBe(true)
  })

  test.each(units)('%s sets only variables that are read', (_, text) => {
    for (const [, name, value] of text.matchAll(/^Environment=([A-Z_]+)=(.*)$/gm)) {
      expect([...environmentVariables, ...others]).toContain(name)
      if (!value!.includes('%')) expect(problemOf(name!, value!)).toBeUndefined()
    }
  })

  test.each(['systemd/paydirt.env', 'systemd/secrets.env'])('%s has only names that are read', (path) => {
    const names = [...deployFile(path).matchAll(/^([A-Z_]+)=(.*)$/gm)]
    expect(names.length).toBeGreaterThan(5)
    for (const [, name, value] of names) {
      expect(environmentVariables).toContain(name)
      if (value !== '') expect(problemOf(name!, value!)).toBeUndefined()
    }
  })

  test('the target wants every one of them', () => {
    const target = deployFile('systemd/paydirt.target')
    for (const [path] of units)
      expect(target).toContain(path.replace('systemd/', '').replace('@.service', '@1.service'))
  })
})

describe('the manifests', () => {
  test('have a Deployment of each role and a Job, and each starts a command that exists', () => {
    expect(pods.map(({ kind, name }) => `${kind} ${name}`).sort()).toEqual([
      'Deployment paydirt-scheduler',
      'Deployment paydirt-web',
      'Deployment paydirt-worker',
      'Job paydirt-migrate',
    ])
    for (const { pod } of pods) assertCommand(pod.containers[0]!.args)
  })

  test('set only variables that are read, to values that are taken', () => {
    const settings = resources.find(({ metadata }) => metadata.name === 'paydirt-settings')!
    const set = [
      ...Object.entries(settings.data!),
      ...pods.flatMap(({ pod }) => pod.containers[0]!.env.map(({ name, value }) => [name, value!] as const)),
    ]
    expect(set.length).toBeGreaterThan(10)
    for (const [name, value] of set) {
      expect(environmentVariables).toContain(name)
      expect([name, problemOf(name, value)]).toEqual([name, undefined])
    }
  })

  test.each(pods.map((each) => [each.name, each] as const))('%s has few rights and bounds', (_, { pod }) => {
    expect(pod).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    })
    expect(pod.containers[0]).toMatchObject({
      securityContext: {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      },
      resources: { requests: { cpu: /./, memory: /./ }, limits: { memory: /./ } },
    })
  })

  test('ask each role whether it is alive and ready, where it answers', () => {
    for (const { pod } of pods.filter(({ kind }) => kind === 'Deployment')) {
      const { livenessProbe, readinessProbe, env, ports } = pod.containers[0]!
      expect([livenessProbe?.httpGet.path, readinessProbe?.httpGet.path]).toEqual(['/livez', '/readyz'])
      const port = ports!.find(({ name }) => name === livenessProbe!.httpGet.port)!.containerPort
      expect(env.find(({ name }) => name === 'PAYDIRT_HEALTH')?.value).toBe(`0.0.0.0:${port}`)
      expect(pod.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(60)
    }
  })

  test('select by labels that their pods have', () => {
    const selectors = resources.flatMap(({ spec }) => [
      ...(spec?.selector?.matchLabels ? [spec.selector.matchLabels] : []),
      ...(spec?.podSelector?.matchLabels ? [spec.podSelector.matchLabels] : []),
    ])
    expect(selectors.length).toBeGreaterThan(6)
    const labels = pods.map(({ spec }) => spec.template!.metadata.labels)
    for (const selector of selectors) expect(labels).toContainEqual(expect.objectContaining(selector))
  })
})

describe('the rules', () => {
  test('use only those recorded that are recorded', () => {
    const recorded = prometheusRules().flatMap(({ record }) => record ?? [])
    const used = expressions()
      .flatMap(metricsIn)
      .filter(({ name }) => name.includes(':'))
    expect(used.length).toBeGreaterThan(30)
    expect(used.filter(({ name }) => !recorded.includes(name))).toEqual([])
    expect(recorded.filter((name, at) => recorded.indexOf(name) !== at)).toEqual([])
  })

  test('have each alert in their tests, and each level of docs/slo.md in an alert', () => {
    const alerts = prometheusRules().flatMap(({ alert }) => alert ?? [])
    const tests = deployFile('prometheus/rules.test.yml')
    // A slow one has the rule of its fast one, with other windows and speeds.
    expect(
      alerts.filter((alert) => !tests.includes(`alertname: ${alert}\n`) && !alert.endsWith('SlowBurn')),
    ).toEqual([])
    const [table = ''] = readFileSync(join(root, 'docs/slo.md'), 'utf8').split('## Alerts')
    const levels = [...table.matchAll(/^\| `([a-z-]+)`/gm)].map(([, level]) => level!)
    const judged = [...deployFile('prometheus/rules.yml').matchAll(/slo: (\S+)/g)].map(([, level]) => level!)
    expect(levels.length).toBe(5)
    expect([...new Set(judged)].sort()).toEqual(levels.sort())
  })

  test('tell the autoscaler the metric that it asks for', () => {
    const [adapter] = yamlDocuments<{ externalRules: { name: { as: string } }[] }>(
      deployFile('prometheus/adapter.yml'),
    )
    const asked = [...deployFile('kubernetes/worker.yaml').matchAll(/metric:\n +name: (\S+)/g)].map(
      ([, name]) => name,
    )
    expect(asked).toEqual(adapter!.externalRules.map(({ name }) => name.as))
  })
})

describe('what an expression names:', () => {
  test.each([
    ['sum(rate(paydirt_a_total{outcome="lost", instance="x"}[5m]))', [['paydirt_a_total', ['outcome']]], []],
    ['max by (queue, state) (paydirt_queue_jobs) > 0', [['paydirt_queue_jobs', []]], ['queue', 'state']],
    ['a:b{c="d"} / nodejs_x_seconds{le=~"1|2"}', [['nodejs_x_seconds', ['le']]], []],
  ] as const)('%s', (expr, named, grouped) => {
    expect(metricsIn({ place: '', expr }).map(({ name, labels }) => [name, labels])).toEqual(named)
    expect(groupedBy(expr)).toEqual(grouped)
  })
})
