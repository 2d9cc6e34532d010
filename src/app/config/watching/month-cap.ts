import type { Atomic } from '../../../domain/money.ts'
import type { Config } from '../config.ts'
import { ofChampions, ofPipelines } from './purses.ts'

/** Returns the pipeline of such a name; undefined for a list. */
function pipelineOfBudget(name: string): string | undefined {
  return name.startsWith(ofPipelines) ? name.slice(ofPipelines.length) : undefined
}

/** Returns the most that is spent for a list, pipeline or watch of champions in a calendar month (UTC). Undefined: it has no cap. */
export function monthCap(
  { lists, signals, champions }: Pick<Config, 'lists' | 'signals' | 'champions'>,
  name: string,
): Atomic | undefined {
  const pipeline = pipelineOfBudget(name)
  if (pipeline !== undefined)
    return Object.hasOwn(signals, pipeline) ? signals[pipeline]?.budgetMonthUsd : undefined
  const watch = name.startsWith(ofChampions) ? name.slice(ofChampions.length) : undefined
  if (watch !== undefined)
    return Object.hasOwn(champions, watch) ? champions[watch]?.budgetMonthUsd : undefined
  return Object.hasOwn(lists, name) ? lists[name]?.budgetMonthUsd : undefined
}
