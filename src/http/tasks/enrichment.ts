import type { Connector } from '../../connectors/connector.ts'
import type { RecipeBook } from '../../domain/planning/recipes.ts'
import type { ObjectKind } from '../../domain/words.ts'
import type { RequestedRecords, OnDemand } from '../../producers/on-demand.ts'
import type { OnDemandTask } from '../../store/runs/on-demand-tasks.ts'
import type { TaskView, TaskViews } from '../../store/runs/task-view.ts'
import type { Caller } from '../server/caller.ts'
import { Problem } from '../server/problem.ts'
import type { TaskIds } from './task-ids.ts'
import type { TaskWatch } from './task-watch.ts'

/** What every route that enriches shares. */
export interface Enrichment {
  onDemand: OnDemand
  views: TaskViews
  watch: TaskWatch
  ids: TaskIds
  /** Of this process; undefined for one that is not set up. */
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

/** Throws a problem that says which part of the input names what there is not. */
export function resolveTarget(
  enrichment: Pick<Enrichment, 'connector' | 'connectorNames' | 'recipes' | 'defaultRecipe'>,
  asked: { connector: string; object: string; recipe?: string | undefined },
  pointers: { connector: string; object: string } = { connector: '/connector', object: '/object' },
): Target {
  const connector = enrichment.connector(asked.connector)
  if (!connector) {
    const names = enrichment.connectorNames()
    throw wrong(
      pointers.connector,
      `there is no connector of this name here; ${names.length > 0 ? `there is ${names.join(', ')}` : 'none is set up'}`,
    )
  }
  const all = Object.keys(connector.entities)
  const wanted = asked.object.toLowerCase()
  const exact = all.find((name) => name.toLowerCase() === wanted)
  const found = exact === undefined ? all.filter((name) => connector.entities[name] === wanted) : [exact]
  const [entity] = found
  if (entity === undefined) {
    const objects = [...new Set([...Object.values(connector.entities), ...all])]
    throw wrong(pointers.object, `${connector.name} has no such object; it has ${objects.join(', ')}`)
  }
  if (found.length > 1) throw wrong(pointers.object, `say which: ${found.join(' or ')}`)
  const object = connector.entities[entity] as ObjectKind
  return { connector: connector.name, entity, object, recipe: recipeOf(enrichment, object, asked.recipe) }
}

export async function requestEnrichment(
  { onDemand }: Pick<Enrichment, 'onDemand'>,
  target: Target,
  ids: readonly string[],
  by: { caller: Caller; trigger: RequestedRecords['trigger'] },
): Promise<OnDemandTask[]> {
  const { caller, trigger } = by
  return onDemand.request({
    ...target,
    ids,
    trigger,
    source: {
      caller: caller.name,
      entity: target.entity,
      records: ids.length,
      ...(caller.kind === 'token' ? { token: caller.token.id } : {}),
    },
  })
}

/** The task of a name that was given out here, by whoever. */
export async function findTask(
  { ids, views }: Pick<Enrichment, 'ids' | 'views'>,
  name: string,
): Promise<TaskView> {
  const id = ids.idOf(name)
  const [view] = id === undefined ? [] : await views.get([id])
  if (!view) throw new Problem(404, 'not_found', 'there is no task of this name')
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

function wrong(pointer: string, detail: string): Problem {
  return new Problem(422, 'invalid_input', `${pointer}: ${detail}`, { errors: [{ pointer, detail }] })
}
