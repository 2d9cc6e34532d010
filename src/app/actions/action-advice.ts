import type { Operation } from '../../domain/words.ts'
import type { ServiceAction } from '../../store/contract/service-actions.ts'
import { hasReading } from './read-effect.ts'

/** True for an action that makes one more thing each time. */
export function makesSomething(operation: Operation): boolean {
  return operation === 'monitor.create' || operation === 'template.create'
}

/** Returns what a person can do about an unfinished action. */
export function adviceFor(action: Pick<ServiceAction, 'id' | 'operation' | 'state'>): string {
  const verdicts = action.state === 'intent' ? 'not-done' : 'done|not-done'
  return `${repeatAdvice(action)}; or take it off the list: \`paydirt service actions --close ${action.id} --as ${verdicts}\``
}

function repeatAdvice({ operation, state }: Pick<ServiceAction, 'operation' | 'state'>): string {
  if (state === 'intent') return 'nothing was sent: the same call sends it'
  if (hasReading(operation))
    return 'the same call reads whether it was done, and sends it once more only if it was not; with --again it sends another one where the reading cannot tell'
  if (operation === 'template.create')
    return 'no reading shows the templates: look for it at the service; --again makes another one'
  if (operation === 'template.delete')
    return 'no reading shows the templates: look at the service; --again deletes once more, which removes one more version'
  return 'it has no effect that can be read; --again sends another one'
}

/** Returns the id of what an action has made, for a message; empty where its answer names none. */
export function nameOf({ answer }: Pick<ServiceAction, 'answer'>): string {
  const data = answer?.['data']
  if (typeof data !== 'object' || data === null) return ''
  const [id] = Object.entries(data).flatMap(([name, value]) =>
    name.endsWith('_id') && (typeof value === 'string' || typeof value === 'number')
      ? [`${name} ${value}`]
      : [],
  )
  return id === undefined ? '' : ` (${id})`
}
