import { definitionOf } from '../../../connectors/definitions.ts'
import { entitiesNamed } from '../../../domain/entity-names.ts'
import { ConfigError } from '../../../domain/errors.ts'
import { nearNames } from '../../../domain/normalise/near-names.ts'
import { scoreBefore, scoreChange, dayBefore, utcDay } from '../../../domain/signals/change.ts'
import { nameOf } from '../../../domain/signals/report.ts'
import { scoreOf, type Score, type ScoreRules } from '../../../domain/signals/score.ts'
import {
  accountsNamed,
  signalsOf,
  someAccounts,
  type KeptAccount,
} from '../../../store/signals/kept-signals.ts'
import { pipelinesOf, scoreHistory } from '../../../store/signals/score-days.ts'
import type { Context } from '../../context/context.ts'
import type { RecordName } from '../../records/history.ts'
import type { ScoredPipelines } from './scored-pipelines.ts'

export interface ExplainedScore extends Score {
  pipeline: string
  at: Date
  changeHundredths: number | null
  /** The day of the score that the change is told from; null where there is none. */
  comparedWith: string | null
  rules: ScoreRules
}

export interface ExplainedAccount {
  account: KeptAccount
  scores: ExplainedScore[]
}

/** The connector of an account that is the row of a list. */
const listConnector = 'list'

/**
 * Explains the score of an account in each pipeline that watches it, from the ledger alone. Throws ConfigError `no_such_account`, which
 * names accounts that may have been meant, and `no_such_pipeline`.
 */
export async function explainScore(
  context: Pick<Context, 'config' | 'database' | 'now'>,
  pipelines: ScoredPipelines,
  record: RecordName,
  only: string | undefined,
): Promise<ExplainedAccount> {
  const { database, now } = context
  if (only !== undefined) assertPipeline(pipelines, only)
  const account = await findAccount(context, record)
  const at = now()
  const day = utcDay(at)
  const watching = (await pipelinesOf(database.db, account.id)).filter(
    (name) => Object.hasOwn(pipelines, name) && (only === undefined || name === only),
  )
  if (watching.length === 0)
    throw new ConfigError(
      'no_such_account',
      `${nameOf({ ...account, id: account.recordId })} is watched by no pipeline of the config${only === undefined ? '' : ` called ${only}`}; \`paydirt signals\` lists them`,
    )
  const signals = (await signalsOf(database.db, [account.id])).get(account.id) ?? []
  const scores: ExplainedScore[] = []
  for (const pipeline of watching) {
    const { types, rules } = pipelines[pipeline]!
    const watched = signals.filter(({ type }) => types.includes(type))
    const score = scoreOf(watched, rules, at)
    const history =
      (await scoreHistory(database.db, pipeline, [account.id], dayBefore(day, 7))).get(account.id) ?? []
    scores.push({
      ...score,
      pipeline,
      at,
      changeHundredths: scoreChange(history, { day, hundredths: score.hundredths }),
      comparedWith: scoreBefore(history, day, 7)?.day ?? null,
      rules,
    })
  }
  return { account, scores }
}

/** Throws ConfigError `no_such_pipeline`, with the names that there are. */
export function assertPipeline(pipelines: ScoredPipelines, name: string): void {
  if (Object.hasOwn(pipelines, name)) return
  const known = Object.keys(pipelines)
  const near = nearNames(name, known)
  throw new ConfigError(
    'no_such_pipeline',
    `there is no pipeline ${name}; ${near.length > 0 ? `did you mean ${near.join(' or ')}?` : known.length > 0 ? `the config has ${known.join(', ')}` : 'the config has none under `signals`'}`,
  )
}

async function findAccount(
  { database: { db } }: Pick<Context, 'database'>,
  record: RecordName,
): Promise<KeptAccount> {
  const { connector, object, id } = record
  const isList = connector === listConnector
  const definition = isList ? undefined : definitionOf(connector)
  const entities = definition ? entitiesNamed(definition.entities, object) : [object]
  const canonical = definition?.canonicalId(id) ?? id
  const found = entities.length === 0 ? [] : await accountsNamed(db, { connector, entities, id: canonical })
  const [account] = found
  if (account) return account
  const given = `${connector}:${object}:${id}`
  if (definition && entities.length === 0)
    throw new ConfigError(
      'no_such_object',
      `${given}: ${connector} has no object ${object}; there are ${Object.keys(definition.entities).join(', ')}`,
    )
  const some = await someAccounts(db, connector, 5_000)
  throw new ConfigError('no_such_account', `${given} is not watched: ${meant(some, id)}`)
}

/** A person may have given the name of the account, or an id with a typing error. */
function meant(accounts: readonly KeptAccount[], given: string): string {
  const text = (account: KeptAccount) =>
    `${nameOf({ ...account, id: account.recordId })}${account.name === null ? '' : ` (${account.name})`}`
  const wanted = new Set([
    ...nearNames(
      given,
      accounts.map(({ recordId }) => recordId),
    ),
    ...nearNames(
      given,
      accounts.flatMap(({ name }) => name ?? []),
    ),
  ])
  const near = accounts.filter(
    ({ recordId, name }) => wanted.has(recordId) || (name !== null && wanted.has(name)),
  )
  if (near.length > 0) return `did you mean ${near.slice(0, 3).map(text).join(' or ')}?`
  if (accounts.length === 0)
    return 'no account of it was seen by a pipeline yet; `paydirt signals run` sees them'
  return 'no pipeline has seen this record; `paydirt signals report` lists accounts'
}
