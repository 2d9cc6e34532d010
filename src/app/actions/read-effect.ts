import { FatalError, PaydirtError } from '../../domain/errors.ts'
import type { LookupRequest } from '../../domain/record.ts'
import type { Operation } from '../../domain/words.ts'
import { valueAt } from '../../service/calls/json-path.ts'
import { readPage } from '../../service/calls/read-answer.ts'
import { withoutSecrets } from '../../service/calls/without-secrets.ts'
import { answersOfDone, type ServiceAction } from '../../store/contract/service-actions.ts'
import type { Context } from '../context/context.ts'
import type { PlannedCall } from '../service/plan-call.ts'
import type { ActionRun } from './action-run.ts'
import { candidatesFor, differingFields, unshownFields } from './same-monitor.ts'

/** The effect of an action at the service, as a reading shows it. */
export type Effect =
  | { kind: 'there'; found: Record<string, unknown> }
  | { kind: 'absent'; reason: string }
  /** The reading does not tell; a later one may. */
  | { kind: 'unsure'; reason: string }

type Fields = Readonly<Record<string, unknown>>

interface Asked {
  context: Pick<Context, 'config' | 'database' | 'now'>
  run: ActionRun
  call: PlannedCall
  action: ServiceAction
}

/** The readings that show what became of an action. For the others none is known. */
const readings = {
  'monitor.create': findCreated,
  'monitor.update': compareUpdated,
  'monitor.delete': findDeleted,
} as const satisfies Partial<Record<Operation, (asked: Asked) => Promise<Effect>>>

export function hasReading(operation: Operation): operation is keyof typeof readings {
  return Object.hasOwn(readings, operation)
}

/** Reads what became of an action. A reading that fails says nothing. */
export async function readEffect(asked: Asked): Promise<Effect> {
  const { operation } = asked.call
  if (!hasReading(operation)) return { kind: 'unsure', reason: 'no reading shows whether it was done' }
  try {
    return await readings[operation](asked)
  } catch (error) {
    if (!(error instanceof PaydirtError)) throw error
    return { kind: 'unsure', reason: `it could not be read: ${error.message}` }
  }
}

async function findCreated({ context, run, call, action }: Asked): Promise<Effect> {
  const { monitors, idName } = await listMonitors({ context, run, action })
  const at = call.contract.answer.at.value
  const known = new Set(
    (await answersOfDone(context.database.db, call.operation)).flatMap(({ id, answer }) => {
      const created = (valueAt(answer, at) as Fields | undefined)?.[idName]
      return id === action.id || created === undefined ? [] : [String(created)]
    }),
  )
  const sent = fieldsOf(call)
  const { equal, alike, undated } = candidatesFor(sent, monitors, {
    since: action.createdAt,
    known,
    idName,
  })
  const named = (each: Fields) => String(each[idName])
  const [only] = equal
  if (only && equal.length === 1) return { kind: 'there', found: { data: withoutSecrets(only) } }
  if (equal.length > 1)
    return {
      kind: 'unsure',
      reason: `several monitors equal what was sent: ${equal.map(named).join(', ')}`,
    }
  if (undated.length > 0)
    return {
      kind: 'unsure',
      reason: `an equal monitor does not say when it was created: ${undated.map(named).join(', ')}`,
    }
  if (alike.length > 0)
    return {
      kind: 'unsure',
      reason: `a monitor of this name is not as it was sent: ${alike.map(({ monitor, differs }) => `${named(monitor)} (${differs.join(', ')})`).join(', ')}`,
    }
  return { kind: 'absent', reason: 'no monitor of this name was created since' }
}

async function compareUpdated({ run, call, action, context }: Asked): Promise<Effect> {
  const monitor = await readMonitor({ run, call, action, context })
  if (!monitor) return { kind: 'unsure', reason: 'the service does not show the monitor' }
  const sent = fieldsOf(call)
  const differs = differingFields(sent, monitor, { comparesHidden: true })
  if (differs.length > 0) return { kind: 'absent', reason: `the monitor has another ${differs.join(', ')}` }
  const unshown = unshownFields(sent, monitor)
  if (unshown.length > 0)
    return { kind: 'unsure', reason: `the monitor does not show its ${unshown.join(', ')}` }
  return { kind: 'there', found: { data: withoutSecrets(monitor) } }
}

/** A refusal alone proves nothing, because the path of the reading may be wrong: the list must be without the monitor too. */
async function findDeleted({ run, call, action, context }: Asked): Promise<Effect> {
  const monitor = await readMonitor({ run, call, action, context })
  if (monitor) return { kind: 'absent', reason: 'the monitor is still there' }
  const { monitors, idName } = await listMonitors({ context, run, action })
  const id = String(call.request['monitor_id'])
  return monitors.some((each) => String(each[idName]) === id)
    ? { kind: 'absent', reason: 'the monitor is still there' }
    : { kind: 'there', found: { data: { monitor_id: id, is_deleted: true } } }
}

/** Returns undefined when the service says that it has no such monitor. */
async function readMonitor({ run, call, action, context }: Asked): Promise<Fields | undefined> {
  const request = { monitor_id: call.request['monitor_id'] } as LookupRequest
  try {
    const answer = await run.read('monitor.read', request, readingName(context, action))
    const monitor = valueAt(answer, context.config.catalogue.of('monitor.read').answer.at.value)
    return typeof monitor === 'object' && monitor !== null ? (monitor as Fields) : undefined
  } catch (error) {
    const status = error instanceof PaydirtError ? error.details['status'] : undefined
    if (status === 404 || (status === 400 && error instanceof FatalError)) return undefined
    throw error
  }
}

/**
 * Reads all pages. A monitor that is created meanwhile moves the rows to later pages, which shows some twice; one that is deleted
 * moves them to earlier ones, which hides some: the list is whole when it has as many as the service counts.
 */
async function listMonitors({ context, run, action }: Omit<Asked, 'call'>) {
  return readAllMonitors({ context, run }, readingName(context, action))
}

/** Reads all monitors of the workspace. `name` is that of the reading: another one is another purchase. */
export async function readAllMonitors(
  { context, run }: Pick<Asked, 'context' | 'run'>,
  name: string,
): Promise<{ monitors: Fields[]; idName: string }> {
  const contract = context.config.catalogue.of('monitor.list')
  const idName = contract.answer.rows?.id.value ?? 'monitor_id'
  for (let attempt = 1; attempt <= 3; attempt += 1) {
    const byId = new Map<string, Fields>()
    let seen = 0
    for (let number = 1; number <= mostPages; number += 1) {
      const request = number === 1 ? {} : { page: number }
      const page = readPage(contract, await run.read('monitor.list', request, `${name}.${attempt}|${number}`))
      if (page.drift.length > 0 || page.total === null)
        throw new FatalError(
          'list_drift',
          `the list of monitors is not as the catalogue says: ${page.drift.join('; ')}`,
        )
      seen += page.rows.length
      for (const row of page.rows) byId.set(String(row[idName]), row)
      if (byId.size >= page.total) return { monitors: [...byId.values()], idName }
      if (page.rows.length === 0 || seen >= page.total) break
    }
  }
  throw new FatalError('list_incomplete', 'the list of monitors has fewer rows than it counts')
}

const mostPages = 1_000

/** A name of its own for each reading, so that one in doubt does not stand in the way of the next. */
function readingName({ now }: Pick<Context, 'now'>, { id }: ServiceAction): string {
  return `action:${id}:${now().getTime().toString(36)}`
}

/** The fields of the monitor in a request, under the names that the service has for them. */
function fieldsOf({ request, contract }: PlannedCall): Fields {
  return Object.fromEntries(
    Object.entries(request).flatMap(([name, value]) =>
      name === 'monitor_id' || name.startsWith('$') || value === undefined
        ? []
        : [[contract.wireNames[name] ?? name, value]],
    ),
  )
}
