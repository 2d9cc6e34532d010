import type { Config } from '../../config/config.ts'
import { defaultScore, type ScoreRules } from '../../../domain/signals/score.ts'
import { signalTypes, type SignalType } from '../../../domain/signals/signal.ts'

/** The part of a pipeline that decides its scores: signals of other types are not counted in it. */
export interface ScoredPipeline {
  types: readonly SignalType[]
  rules: ScoreRules
}

export type ScoredPipelines = Readonly<Record<string, ScoredPipeline>>

/** Returns the pipelines of the config by name. One that has no points of its own has the default ones. */
export function scoredPipelines({ signals }: Pick<Config, 'signals'>): ScoredPipelines {
  return Object.fromEntries(
    Object.entries(signals).map(([name, { types = signalTypes, score = defaultScore }]) => [
      name,
      { types, rules: score },
    ]),
  )
}
