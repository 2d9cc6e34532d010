import { queryLedger } from '../../app/queries/query-ledger.ts'
import { readRecordName } from '../../app/records/history.ts'
import { readConfig } from '../terminal/with-context.ts'
import { print } from '../terminal/print.ts'
import { explanationDocument, explanationText } from './explanation.ts'

interface Options {
  pipeline?: string
  json?: true
}

export async function explainAccount(text: string, options: Options): Promise<void> {
  const explained = await queryLedger(await readConfig(), 'signalsScore', {
    record: readRecordName(text),
    pipeline: options.pipeline,
  })
  print(options.json ? `${JSON.stringify(explanationDocument(explained))}\n` : explanationText(explained))
}
