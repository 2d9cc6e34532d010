import { noteFromCli } from '../../app/context/audit-from-cli.ts'
import { acceptRenames, announcedRenames } from '../../app/service/accept-renames.ts'
import { operationNamed } from '../../app/service/plan-call.ts'
import { InputError } from '../../domain/errors.ts'
import { counted } from '../../domain/values/counted.ts'
import { confirm, ownTerminal } from '../terminal/confirm.ts'
import { print, printError } from '../terminal/print.ts'
import { withContext } from '../terminal/with-context.ts'

interface Options {
  yes?: true
  json?: true
}

export async function accept(name: string, { yes, json }: Options): Promise<void> {
  const operation = operationNamed(name)
  await withContext(async (context) => {
    const announced = await announcedRenames(context, operation)
    const nameable = announced.filter(({ to }) => to !== undefined)
    for (const { field, sentAs, to, seenAt } of announced)
      printError(
        to === undefined
          ? `${field}: renamed since ${seenAt.toISOString().slice(0, 10)}, and no answer says to what; name it in service.operations['${operation}'].rename\n`
          : `${field}: sent as ${sentAs}, now ${to} (since ${seenAt.toISOString().slice(0, 10)})\n`,
      )
    if (nameable.length === 0) {
      if (json) print(`${JSON.stringify({ operation, accepted: [], expired: 0 })}\n`)
      else if (announced.length === 0) print(`no answer has renamed a key of ${operation}\n`)
      return
    }
    if (!yes) {
      const terminal = ownTerminal()
      if (!terminal)
        throw new InputError('needs_yes', `accept ${counted(nameable.length, 'name')} with --yes`)
      if (!(await confirm(terminal, `Send ${counted(nameable.length, 'key')} under the new name?`)))
        throw new InputError('not_accepted', 'nothing was accepted')
    }
    const expired = await acceptRenames(context, operation, nameable)
    const accepted = Object.fromEntries(nameable.map(({ field, to }) => [field, to]))
    await noteFromCli(context, 'service.accept', {
      target: operation,
      details: { names: JSON.stringify(accepted), expired },
    })
    print(
      json
        ? `${JSON.stringify({ operation, accepted: nameable.map(({ field, to }) => ({ field, wireName: to })), expired })}\n`
        : `${operation}: ${nameable.map(({ field, to }) => `${field} is sent as ${to}`).join(', ')}. ${expired === 0 ? '' : `${counted(expired, 'answer')} to the old name ${expired === 1 ? 'is' : 'are'} stale. `}Processes that run use it when they start again.\n`,
    )
  })
}
