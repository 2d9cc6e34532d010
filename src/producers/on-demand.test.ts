import { expect, test } from 'vitest'
import type { Connector, Later } from '../connectors/connector.ts'
import { RetriableError, type ConfigError } from '../domain/errors.ts'
import type { LookupKey } from '../domain/keys.ts'
import type { OnDue } from '../store/ledger/lookups.ts'
import { giveWay } from '../store/database/go-first.ts'
import { createOnDemand, type OnDemandOptions } from './on-demand.ts'

const key = 'company.profile|https://www.profnet.example/company/acme' as LookupKey

/** A producer whose steps are noted in their order; each takes some turns. `learn` is what a read leaves for later. */
function setStage(learn: () => Promise<void> = async () => {}) {
  const steps: string[] = []
  /** False: the record was asked for a moment ago. */
  const stage = { isNew: true, refusal: (): ConfigError | undefined => undefined }
  const step = async <T>(name: string, result: T): Promise<T> => {
    steps.push(name)
    for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve))
    steps.push(`${name}.`)
    return result
  }
  const present = { state: 'present', values: { name: 'Acme' }, identity: {} }
  const connector = {
    name: 'hubspot',
    entities: { companies: 'company' },
    capabilities: { keepsValues: true },
    async read(_entity: string, ids: readonly string[], later: Later) {
      later(() => step('learn', undefined).then(learn))
      return step('read', new Map(ids.map((id) => [id, present])))
    },
  } as unknown as Connector
  const errors: unknown[] = []
  const onDemand = createOnDemand({
    ledger: {
      openTasks: ({ ids, runId }: { ids: string[]; runId: string }) =>
        step(
          'open',
          ids.map((recordId) => ({ taskId: 1n, recordId, ordinal: 1, runId, isNew: stage.isNew })),
        ),
      begin: () => step('tasks', undefined),
    },
    runs: { setClosed: () => step('closed', undefined) },
    lookups: {
      async want(_wanted: unknown, _run: unknown, onDue?: OnDue) {
        await step('want', undefined)
        await onDue?.([key], new Set([key]))
        await step('names', undefined)
      },
      facts: async () => new Map(),
      stopped: () => step('stopped', new Map([[key, 'halted']])),
    },
    planner: { decide: async () => step('plan', [{ kind: 'lookup', lookup: { key } }]) },
    closedFields: {
      historyOf: () => step('history', undefined),
      find: async () => ({
        ofRun: {},
        ofRecords: async (_records: unknown, history: Promise<unknown>) => (await history, [{}]),
      }),
    },
    beforePlanning: () => step('list', undefined),
    tasks: { parkLate: () => step('park', undefined) },
    advance: { advanceTasksWaitingFor: async () => {}, advanceTasksPast: () => step('past', undefined) },
    connector: () => connector,
    ready: async () => {},
    refusal: async () => stage.refusal(),
    recipeFor: () => 'profile',
    now: () => new Date(0),
    newRunId: () => 'r1',
    onError: (error: unknown) => void errors.push(error),
    onHot: (keys: LookupKey[], isNew: ReadonlySet<LookupKey>) =>
      void steps.push(`hot ${keys.length} ${isNew.size}`),
    letGo: () => step('let go', undefined),
  } as unknown as OnDemandOptions)
  return {
    stage,
    steps,
    errors,
    async press(trigger: 'button' | 'workflow' = 'button') {
      const run = { connector: 'hubspot', object: 'company', entity: 'companies', recipe: 'profile' } as const
      await onDemand.request({ ...run, ids: ['1'], trigger, source: {} })
      await onDemand.idle()
    },
  }
}

test('a press has its lookup in the queue before anything that its lookup does not need', async () => {
  const { steps, errors, press } = setStage()
  await press()
  expect(errors).toEqual([])
  const at = (name: string) => steps.indexOf(name)
  const late = ['stopped', 'past', 'park']
  expect(steps.toSorted()).toEqual(
    [
      ...[
        'open',
        'history',
        'list',
        'read',
        'plan',
        'want',
        'closed',
        'let go',
        'names',
        'learn',
        'tasks',
        ...late,
      ].flatMap((name) => [name, `${name}.`]),
      'hot 1 1',
    ].toSorted(),
  )
  // Read while the CRM answers, which is asked beside the storing of the task.
  for (const name of ['history', 'list']) expect(at(name)).toBeLessThan(at('read.'))
  expect(at('read')).toBeLessThan(at('open.'))
  expect(at('hot 1 1')).toBeLessThan(at('let go'))
  for (const name of ['learn', 'names']) expect(at('let go.')).toBeLessThan(at(name))
  // Parked by a worker before there was a task to park.
  expect(steps.slice(-6)).toEqual(late.flatMap((name) => [name, `${name}.`]))
  // A worker relies on what is there before the tasks: the fields of the run, and what the index has learned.
  for (const name of ['closed.', 'learn.', 'names.']) expect(at(name)).toBeLessThan(at('tasks'))
})

test('what nobody waits for is read when its task is stored', async () => {
  const { steps, errors, press } = setStage()
  await press('workflow')
  expect(errors).toEqual([])
  expect(steps.indexOf('open.')).toBeLessThan(steps.indexOf('read'))
  expect(steps).toContain('tasks.')
})

test('a second press of a record within a minute begins nothing', async () => {
  const { stage, steps, errors, press } = setStage()
  stage.isNew = false
  await press()
  expect(errors).toEqual([])
  for (const name of ['plan', 'want', 'learn', 'tasks']) expect(steps).not.toContain(name)
})

test('nothing is read in front of the task while it is not known whether the run may begin', async () => {
  const { stage, steps, errors, press } = setStage()
  let asked = 0
  stage.refusal = () => {
    asked += 1
    if (asked === 1) throw new RetriableError('unreachable', 'the CRM does not answer')
    return undefined
  }
  await press()
  expect(errors).toEqual([])
  expect(steps.indexOf('open.')).toBeLessThan(steps.indexOf('read'))
  expect(steps).toContain('tasks.')
})

test('a record whose index cannot be stored is begun again later, and not by halves', async () => {
  const { steps, errors, press } = setStage(() => Promise.reject(new Error('no room')))
  await press()
  expect(errors).toEqual([new Error('no room')])
  expect(steps).not.toContain('tasks')
})

test('others give way to a press until its task is stored, also when its request has long been answered', async () => {
  let other: Promise<unknown> | undefined
  const { steps, press } = setStage(async () => {
    other = giveWay(60_000)
      .goOn()
      .then(() => steps.push('other'))
  })
  await press()
  await other
  expect(steps.slice(-2)).toEqual(['park.', 'other'])
})
