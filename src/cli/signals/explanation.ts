import type { ExplainedAccount, ExplainedScore } from '../../app/signals/reporting/explain-score.ts'
import { dayText, typeNames } from '../../domain/signals/reason.ts'
import { nameOf } from '../../domain/signals/report.ts'
import {
  pointsText,
  timeOf,
  type Addend,
  type ScoreRule,
  type SeenSignal,
} from '../../domain/signals/score.ts'
import { counted } from '../../domain/values/counted.ts'
import { utcMinute } from '../../domain/values/utc-minute.ts'

/** Returns every addend of a score in two lines: the signal, and how its points came about. */
export function explanationText({ account, scores }: ExplainedAccount): string {
  const id = nameOf({ ...account, id: account.recordId })
  const heading = account.name === null ? id : `${account.name} (${id})`
  return `${[heading, ...scores.flatMap(scoreText)].join('\n')}\n`
}

function scoreText({
  pipeline,
  at,
  hundredths,
  changeHundredths,
  comparedWith,
  addends,
  unscored,
  rules,
}: ExplainedScore): string[] {
  const change =
    changeHundredths === null
      ? 'no score seven days ago'
      : `${signed(changeHundredths)} since ${comparedWith}`
  return [
    `${pipeline}: ${points(hundredths)} as of ${utcMinute(at)} (${change})`,
    ...addends.flatMap((addend) => addendText(addend, rules.points[addend.rule - 1])),
    ...(addends.length === 0
      ? ['  no signal counts']
      : [`  ${signed(hundredths).padStart(8)}  sum of ${counted(addends.length, 'signal')}`]),
    ...(unscored.length === 0
      ? []
      : [
          `            without points, since no rule fits: ${counted(unscored.length, 'signal')} (${kindsOf(unscored)})`,
        ]),
  ]
}

function addendText(addend: Addend, rule: ScoreRule | undefined): string[] {
  const { signal, hundredths, pointsHundredths, halfLifeDays, ageDays, share } = addend
  const { type, title, strength, link } = signal
  return [
    `  ${signed(hundredths).padStart(8)}  ${[
      `${typeNames[type]}: ${title ?? '(no title)'}`,
      dayText(signal),
      ...(strength === null ? [] : [`strength ${strength}`]),
      ...(link === null ? [] : [link]),
    ].join(' · ')}`,
    `            rule ${addend.rule} (${ruleText(rule)}): ${points(pointsHundredths)}, halved every ${counted(halfLifeDays, 'day')}, ${counted(ageDays, 'day')} old: × ${share.toFixed(4)}`,
  ]
}

function ruleText(rule: ScoreRule | undefined): string {
  if (!rule) return '-'
  const words = Object.entries(rule.match ?? {}).map(
    ([word, values = []]) => `${word} ${values.join(' or ')}`,
  )
  return [rule.type, ...(rule.strength ? [`strength ${rule.strength.join(' or ')}`] : []), ...words].join(
    ', ',
  )
}

function kindsOf(signals: readonly SeenSignal[]): string {
  return [...Map.groupBy(signals, ({ type }) => type)]
    .map(([type, each]) => `${type} ${each.length}`)
    .join(', ')
}

function points(hundredths: number): string {
  return `${pointsText(hundredths)} ${Math.abs(hundredths) === 100 ? 'point' : 'points'}`
}

function signed(hundredths: number): string {
  return `${hundredths > 0 ? '+' : ''}${pointsText(hundredths)}`
}

/** Returns the same as JSON has it: points with decimals, times in UTC. */
export function explanationDocument({ account, scores }: ExplainedAccount) {
  return {
    account: {
      connector: account.connector,
      entity: account.entity,
      id: account.recordId,
      name: account.name,
    },
    pipelines: scores.map((score) => ({
      pipeline: score.pipeline,
      at: score.at,
      score: score.hundredths / 100,
      change: score.changeHundredths === null ? null : score.changeHundredths / 100,
      comparedWith: score.comparedWith,
      addends: score.addends.map((addend) => ({
        ...signalOf(addend.signal),
        rule: addend.rule,
        points: addend.pointsHundredths / 100,
        halfLifeDays: addend.halfLifeDays,
        ageDays: addend.ageDays,
        share: addend.share,
        result: addend.hundredths / 100,
      })),
      withoutRule: score.unscored.map(signalOf),
    })),
  }
}

function signalOf(signal: SeenSignal) {
  const { type, key, title, link, place, strength, about, happenedAt, endedAt } = signal
  return {
    type,
    key,
    title,
    link,
    place,
    strength,
    about,
    at: timeOf(signal),
    isSeenFirst: happenedAt === null,
    endedAt,
  }
}
