const ofPipelines = 'signals/'
const ofChampions = 'champions/'

/** Returns the name under which the charges of a pipeline count in a month, beside those of lists. No list can have it. */
export function pipelineBudget(pipeline: string): string {
  return `${ofPipelines}${pipeline}`
}

/** Returns what names the purse of champions. */
export function championPurse(watch: string): { budget: string; place: string } {
  return { budget: `${ofChampions}${watch}`, place: `champions.${watch}` }
}

/** Returns what names the purse of a pipeline. */
export function purseOf(pipeline: string): { budget: string; place: string } {
  return { budget: pipelineBudget(pipeline), place: `signals.${pipeline}` }
}

/** Returns what the charges under a name are for: a list, a pipeline of signals, or a watch of champions. */
export function purseNamed(name: string): { kind: 'list' | 'signals' | 'champions'; name: string } {
  if (name.startsWith(ofPipelines)) return { kind: 'signals', name: name.slice(ofPipelines.length) }
  if (name.startsWith(ofChampions)) return { kind: 'champions', name: name.slice(ofChampions.length) }
  return { kind: 'list', name }
}
