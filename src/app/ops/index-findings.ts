import { counted } from '../../domain/values/counted.ts'
import type { IndexAge } from '../records/index-ages.ts'
import type { Finding } from './finding.ts'

const dayMs = 86_400_000
/** Records that were deleted in the CRM are seen by a whole scan alone. */
const oldAfterDays = 30

/** Says of which records the ledger knows what identifies them, and how old that is. */
export function indexFindings(ages: readonly IndexAge[], now: Date): Finding[] {
  return ages.map((age): Finding => {
    const { connector, entity, isComplete, completedAt, currentAt } = age
    const name = 'index'
    const what = `${connector} ${entity}`
    if (!isComplete || completedAt === null)
      return {
        name,
        status: 'warning',
        message: `${what}: ${counted(age.records, 'record')} so far, the whole scan is not complete`,
        todo: `\`paydirt index ${connector}\` goes on with it`,
      }
    const days = Math.floor((now.getTime() - completedAt.getTime()) / dayMs)
    const message = `${what}: ${counted(age.records, 'record')}, read whole at ${completedAt.toISOString()}${currentAt && currentAt > completedAt ? `, changes until ${currentAt.toISOString()}` : ''}`
    return days > oldAfterDays
      ? {
          name,
          status: 'warning',
          message: `${message}: ${days} days ago`,
          todo: `\`paydirt index ${connector} --rebuild\` reads it again; records deleted since are still in it`,
        }
      : { name, status: 'ok', message }
  })
}
