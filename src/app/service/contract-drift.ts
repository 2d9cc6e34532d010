import { nothingSeen, provenanceOf } from '../../service/catalogue/provenance.ts'
import { lastAnswers, observations } from '../../store/contract/answer-fields.ts'
import { operationStates } from '../../store/contract/operation-states.ts'
import type { Context } from '../context/context.ts'

/** Answers that are older say nothing about the service of today. */
const recentMs = 7 * 86_400_000
const mostNamed = 3

/**
 * Returns the operations whose recent answers contradict the catalogue and the settings, and those that are stopped, with the
 * problem in words: names and types, no value.
 */
export async function contractDrift({
  database: { db },
  config: { catalogue },
  now,
}: Pick<Context, 'database' | 'config' | 'now'>): Promise<{ operation: string; problem: string }[]> {
  const [states, answered] = await Promise.all([operationStates(db), lastAnswers(db)])
  const since = new Date(now().getTime() - recentMs)
  const found: { operation: string; problem: string }[] = []
  for (const contract of catalogue.all()) {
    const { operation } = contract
    const stop = states.find((each) => each.operation === operation && each.state === 'stopped')
    if (stop) {
      found.push({ operation, problem: stop.reason ?? `${operation} is stopped` })
      continue
    }
    if ((answered.get(operation) ?? since) <= since) continue
    const seen = { ...nothingSeen, fields: await observations(db, operation) }
    const problems = provenanceOf(contract, seen).flatMap(({ part, name, provenance }) =>
      part === 'answer' && provenance.state === 'contradicted' ? [`${name}: ${provenance.seen}`] : [],
    )
    const more = problems.length - mostNamed
    if (problems.length > 0)
      found.push({
        operation,
        problem: `${problems.slice(0, mostNamed).join('; ')}${more > 0 ? `; and ${more} more` : ''}`,
      })
  }
  return found
}
