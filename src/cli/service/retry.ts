import { noteFromCli } from '../../app/context/audit-from-cli.ts'
import { operationNamed } from '../../app/service/plan-call.ts'
import { operationRow } from '../../domain/operations.ts'
import { counted } from '../../domain/values/counted.ts'
import { resumeOperation } from '../../store/contract/operation-states.ts'
import { print } from '../terminal/print.ts'
import { withContext } from '../terminal/with-context.ts'

export async function retry(name: string, { json }: { json?: true }): Promise<void> {
  const operation = operationNamed(name)
  await withContext(async (context) => {
    const { database, now } = context
    const lookups = await resumeOperation(database.db, operation, now())
    if (lookups !== undefined)
      await noteFromCli(context, 'service.retry', { target: operation, details: { lookups } })
    if (json) {
      print(`${JSON.stringify({ operation, resumed: lookups !== undefined, lookups: lookups ?? 0 })}\n`)
      return
    }
    print(
      lookups === undefined
        ? `${operation} is not stopped\n`
        : operationRow(operation).kind === 'action'
          ? `${operation} is no longer stopped, and nothing was sent: the command that orders the action sends it\n`
          : `${operation} is asked again with one request; ${counted(lookups, 'parked lookup')} ${lookups === 1 ? 'continues' : 'continue'} when its answer can be read\n`,
    )
  })
}
