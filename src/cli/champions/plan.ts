import { planChampions, type ChampionPlan } from '../../app/champions/plan-champions.ts'
import { counted } from '../../domain/values/counted.ts'
import { liveLine } from '../terminal/live-line.ts'
import { print } from '../terminal/print.ts'
import { stopSignal, withContext } from '../terminal/with-context.ts'
import { skippedLines } from '../signals/plan.ts'

export async function planNamedChampions(name: string, { json }: { json?: true }): Promise<void> {
  await withContext(async (context) => {
    liveLine.show(`${name}: reading the people`)
    const plan = await planChampions(context, name, { signal: stopSignal() })
    print(json ? `${JSON.stringify(plan)}\n` : planText(plan))
  })
}

function planText(plan: ChampionPlan): string {
  const { champions, people, due, moved, days, leastUsd, mostUsd, joinRecipe, refusals, month } = plan
  const lines = [
    `${champions}: ${counted(people, 'person', 'people')} with a profile`,
    ...skippedLines(plan),
    `  due now     ${due} of them, ${counted(days, 'day')} after the last look`,
    ...(moved > 0 ? [`  moved       ${moved}, who are not looked up again`] : []),
    `  cost        ${leastUsd} USD at most for them, ${mostUsd} with every employer that may have to be looked up`,
    ...(joinRecipe === null ? [] : [`              and ${joinRecipe} for each who has moved`]),
    `  this month  ${month.spentUsd} USD spent${month.capUsd === null ? '' : ` of ${month.capUsd}`}`,
    ...refusals.map((refusal) => `  refused     a run now: ${refusal}`),
    'Nothing was bought or written.',
  ]
  return `${lines.join('\n')}\n`
}
