import type { Config } from '../config/config.ts'
import type { SpendingStop } from '../money/spend-report.ts'
import { greetHolder } from '../queries/ask-holder.ts'
import { isInUse, queryLedger } from '../queries/query-ledger.ts'
import type { Finding } from './finding.ts'
import { spendingFinding } from './spending-finding.ts'

export async function checkDatabase(config: Config): Promise<Finding[]> {
  const kind = config.databaseUrl === undefined ? `PGlite in ${config.dataDir}` : 'PostgreSQL (DATABASE_URL)'
  let stop: SpendingStop | undefined
  try {
    stop = await queryLedger(config, 'spendingStop', {})
  } catch (error) {
    if (!isInUse(error)) throw error
    return [
      {
        name: 'database',
        status: 'warning',
        message: `${kind}: ${error.message}`,
        todo: 'whether spending is stopped is not known: look at the desk of that process, or stop it and run this again',
      },
    ]
  }
  const holder = config.databaseUrl === undefined ? await greetHolder(config.dataDir) : undefined
  return [
    {
      name: 'database',
      status: 'ok',
      message: `${kind}: ${holder ? `in use by process ${holder.pid}, which answers` : 'open, schema up to date'}`,
    },
    spendingFinding(stop),
  ]
}
