import { writeFile } from 'node:fs/promises'
import { queryLedger } from '../../app/queries/query-ledger.ts'
import { reportCsv } from '../../app/signals/reporting/report-csv.ts'
import { reportDocument } from '../../app/signals/reporting/report-document.ts'
import { reportText } from '../../app/signals/reporting/report-text.ts'
import { signalsPage } from '../../app/signals/reporting/signals-page.ts'
import { readConfig } from '../terminal/with-context.ts'
import { print } from '../terminal/print.ts'

interface Options {
  since: string
  owner?: string
  json?: true
  csv?: true
  html?: string
}

/** The terminal shows so many accounts of each kind. */
const mostAccounts = 25

export async function reportSignals(
  pipeline: string | undefined,
  { since, owner, json, csv, html }: Options,
): Promise<void> {
  const report = await queryLedger(await readConfig(), 'signalsReport', { pipeline, since, owner })
  if (html !== undefined) {
    await writeFile(html, signalsPage(report))
    print(`written: ${html}\n`)
  } else if (json) print(`${JSON.stringify(reportDocument(report))}\n`)
  else print(csv ? reportCsv(report) : reportText(report, mostAccounts))
}
