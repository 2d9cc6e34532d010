import { queryLedger } from '../../app/queries/query-ledger.ts'
import type { Explained } from '../../app/records/explain.ts'
import { readRecordName } from '../../app/records/history.ts'
import { crmNames, isCrmName } from '../../connectors/definitions.ts'
import { ConfigError } from '../../domain/errors.ts'
import { formatUsd } from '../../domain/money.ts'
import { counted } from '../../domain/values/counted.ts'
import { originText } from './history.ts'
import { readConfig } from '../terminal/with-context.ts'
import { print } from '../terminal/print.ts'

interface Options {
  recipe?: string
  json?: true
}

export async function explainRecord(text: string, options: Options): Promise<void> {
  const name = readRecordName(text)
  if (!isCrmName(name.connector)) {
    throw new ConfigError(
      'bad_record',
      name.connector === 'csv'
        ? `a row of a file is explained by the plan of its file (\`paydirt csv FILE --object ${name.object} --plan\`), and \`paydirt history ${text}\` shows what was done with it; a record of ${crmNames.join(' or ')} is explained here`
        : `${name.connector} is not a CRM; there are ${crmNames.join(', ')}`,
    )
  }
  const explained = await queryLedger(await readConfig(), 'explain', { record: name, recipe: options.recipe })
  print(options.json ? `${JSON.stringify(document(text, explained))}\n` : textOf(text, explained))
}

function textOf(record: string, { lines, known, isSuppressed, made, pipelines }: Explained): string {
  const suppressed =
    'The record is on the suppression list: a run skips it. Otherwise it would do the following.'
  const basis = known.length === 0 ? [] : [`It uses ${counted(known.length, 'fresh answer')} of the ledger.`]
  const watched =
    pipelines.length === 0
      ? []
      : [
          `It is watched for signals by ${pipelines.join(', ')}: \`paydirt signals explain ${record}\` has its score.`,
        ]
  return `${[...(isSuppressed ? [suppressed] : []), ...lines, ...basis, ...(made ? [`The record was ${originText(made)}.`] : []), ...watched].join('\n')}\n`
}

function document(
  record: string,
  {
    step,
    next,
    why,
    costAtomic,
    spentAtomic,
    spend,
    leftOut,
    known,
    isSuppressed,
    made,
    pipelines,
  }: Explained,
) {
  return {
    record,
    step: step.kind === 'lookup' ? { kind: 'lookup', operation: step.lookup.operation } : { kind: step.kind },
    next,
    why,
    cost: costAtomic === undefined ? null : formatUsd(costAtomic),
    spent: formatUsd(spentAtomic),
    inDoubt: formatUsd(spend.inDoubtAtomic),
    lost: formatUsd(spend.lostAtomic),
    credits: formatUsd(spend.creditsAtomic),
    currency: 'USD',
    leftOut,
    known: known.length,
    suppressed: isSuppressed,
    made: made ?? null,
    pipelines,
  }
}
