import { createTemplate, deleteTemplates, readTypes } from '../../app/monitors/templates.ts'
import type { ActionEnd } from '../../app/actions/action-end.ts'
import type { Context } from '../../app/context/context.ts'
import { InputError } from '../../domain/errors.ts'
import { printable } from '../../domain/values/printable.ts'
import { reportAction } from '../service/action-result.ts'
import { readBody } from '../service/body-input.ts'
import { print, printError } from '../terminal/print.ts'
import { stopSignal, withContext } from '../terminal/with-context.ts'

export async function listTemplateTypes({ json }: { json?: true }): Promise<void> {
  await withContext(
    async (context) => {
      const types = await readTypes(context, stopSignal())
      if (json) return print(`${JSON.stringify(types)}\n`)
      if (types.length === 0) return print('the service lists no types of channel templates\n')
      for (const { nodeId, slug, name, parameters } of types) {
        const keys = parameters?.map(
          ({ key, isRequired, maxLength }) =>
            `${key}${isRequired ? '' : '?'}${maxLength === null ? '' : ` (${maxLength})`}`,
        )
        print(`${nodeId}  ${printable(slug ?? '-')}  ${printable(name ?? '')}\n`)
        print(`  parameters: ${keys === undefined ? 'not told' : printable(keys.join(', ') || 'none')}\n`)
      }
    },
    undefined,
    { saysItself: true },
  )
}

interface CreateOptions {
  node: string
  type?: string
  name?: string
  parameters: string
  yes: boolean
  again: boolean
}

export async function makeTemplate(options: CreateOptions): Promise<void> {
  const { node, type, name, yes, again } = options
  const parameters = await readBody(options.parameters)
  assertConfirmed(yes, 'this makes a channel template at the service')
  await send((context, given) =>
    createTemplate(context, { nodeId: node, slug: type, name, parameters }, { ...given, again }),
  )
}

export async function removeTemplates(
  ids: readonly number[],
  { yes, again }: { yes: boolean; again: boolean },
): Promise<void> {
  assertConfirmed(
    yes,
    `this removes ${ids.length === 1 ? 'version' : 'versions'} ${ids.join(', ')} at the service`,
  )
  await send((context, given) => deleteTemplates(context, ids, { ...given, again }))
}

function assertConfirmed(yes: boolean, change: string): void {
  if (!yes) throw new InputError('needs_yes', `${change}: send it with --yes`)
}

type Given = { signal: AbortSignal; onWait: (until: Date) => void }

async function send(act: (context: Context, given: Given) => Promise<ActionEnd>): Promise<void> {
  await withContext(
    async (context) => {
      const end = await act(context, {
        signal: stopSignal(),
        onWait: (until) =>
          printError(
            `paydirt: an earlier request may still be processed; it is read again at ${until.toISOString()}\n`,
          ),
      })
      process.exitCode = reportAction(end)
    },
    undefined,
    { saysItself: true },
  )
}
