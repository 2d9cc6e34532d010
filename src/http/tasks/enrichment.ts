import type { Connector } from '../../connectors/connector.ts'
import { ConfigError } from '../../domain/errors.ts'
import { entitiesNamed } from '../../domain/entity-names.ts'
import type { RecipeBook } from '../../domain/planning/recipes.ts'
import type { ObjectKind } from '../../domain/words.ts'
import type { RequestedRecords, OnDemand } from '../../producers/on-demand.ts'
import type { OnDemandTask } from '../../store/runs/on-demand-tasks.ts'
import type { TaskView, TaskViews } from '../../store/runs/task-view.ts'
import type { Caller } from '../server/caller.ts'
import { Problem } from '../server/problem.ts'
import type { TaskIds } from './task-ids.ts'
import type { TaskWatch } from './task-watch.ts'

/** Dependencies of the routes that enrich records. */
export interface Enrichment {
  onDemand: OnDemand
  views: TaskViews
  watch: TaskWatch
  ids: TaskIds
  /** Undefined for a connector that is not set up in this process. */
  connector: (name: string) => Connector | undefined
  connectorNames: () => string[]
  recipes: RecipeBook
  defaultRecipe: string
}

export interface Target {
  connector: string
  entity: string
  object: ObjectKind
  recipe: string
}

/** Resolves connector, object and recipe. Throws a 422 problem that points to the unknown one. */
export function resolveTarget(
  enrichment: Pick<Enrichment, 'connector' | 'connectorNames' | 'recipes' | 'defaultRecipe'>,
  input: { connector: string; object: string; recipe?: string | undefined },
  pointers: { connector: string; object: string } = { connector: '/connector', object: '/object' },
): Target {
  const connector = enrichment.connector(input.connector)
  if (!connector) {
    const names = enrichment.connectorNames()
    throw wrong(
      pointers.connector,
      `unknown connector; ${names.length > 0 ? `available: ${names.join(', ')}` : 'none is set up'}`,
    )
  }
  const all = Object.keys(connector.entities)
  const found = entitiesNamed(connector.entities, input.object)
  const [entity] = found
  if (entity === undefined) {
    const objects = [...new Set([...Object.values(connector.entities), ...all])]
    throw wrong(pointers.object, `${connector.name} has no such object; available: ${objects.join(', ')}`)
  }
  if (found.length > 1) throw wrong(pointers.object, `ambiguous; use ${found.join(' or ')}`)
  const object = connector.entities[entity] as ObjectKind
  return { connector: connector.name, entity, object, recipe: recipeOf(enrichment, object, input.recipe) }
}

/** Throws a 409 problem when the recipe goes above its price caps. */
export async function requestEnrichment(
  { onDemand }: Pick<Enrichment, 'onDemand'>,
  target: Target,
  ids: readonly string[],
  by: { caller: Caller; trigger: RequestedRecords['trigger'] },
): Promise<OnDemandTask[]> {
  const { caller, trigger } = by
  const source = {
    caller: caller.name,
    entity: target.entity,
    records: ids.length,
    token: caller.kind === 'token' ? caller.token.id : undefined,
  }
  try {
    return await onDemand.request({ ...target, ids, trigger, source })
  } catch (error) {
    if (error instanceof ConfigError) throw new Problem(409, error.code, error.message)
    throw error
  }
}

/** Finds a task by its public id, for any requester. Throws 404. */
export async function findTask(
  { ids, views }: Pick<Enrichment, 'ids' | 'views'>,
  name: string,
): Promise<TaskView> {
  const id = ids.idOf(name)
  const [view] = id === undefined ? [] : await views.get([id])
  if (!view) throw new Problem(404, 'not_found', 'task not found')
  return view
}

function recipeOf(
  { recipes, defaultRecipe }: Pick<Enrichment, 'recipes' | 'defaultRecipe'>,
  object: ObjectKind,
  wanted: string | undefined,
): string {
  try {
    return recipes(object, wanted || defaultRecipe).name
  } catch (error) {
    throw wrong('/recipe', (error as Error).message)
  }
}

/** Returns the named recipe, or the default one for an object that has none of that name. */
export function recipeFor(
  enrichment: Pick<Enrichment, 'recipes' | 'defaultRecipe'>,
  object: ObjectKind,
  name: string,
): string {
  try {
    return enrichment.recipes(object, name).name
  } catch {
    return enrichment.recipes(object, enrichment.defaultRecipe).name
  }
}

function wrong(pointer: string, detail: string): Problem {
  return new Problem(422, 'invalid_input', `${pointer}: ${detail}`, { errors: [{ pointer, detail }] })
}
