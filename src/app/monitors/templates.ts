import { InputError } from '../../domain/errors.ts'
import { readTemplateTypes, templateProblem, type TemplateType } from '../../domain/monitors/template-type.ts'
import { checkBody } from '../../service/calls/check-body.ts'
import type { ActionEnd } from '../actions/action-end.ts'
import { performAction, type ActionOptions } from '../actions/perform-action.ts'
import { noteFromCli } from '../context/audit-from-cli.ts'
import type { Context } from '../context/context.ts'
import { knownOfAccount, withAcceptedNames } from '../service/known-of-account.ts'
import { assertAffordable, planCall } from '../service/plan-call.ts'
import { readWhole } from './one-monitor.ts'

type SendOptions = Pick<ActionOptions, 'again' | 'onWait'> & { signal: AbortSignal }

/** Reads the types of channel templates now. What the ledger keeps of them is without the names of their parameters, as of a secret. */
export async function readTypes(context: Context, signal: AbortSignal): Promise<TemplateType[]> {
  return readTemplateTypes(await readWhole(context, 'template.types', {}, signal))
}

export interface NewTemplate {
  nodeId: string
  /** The one of its type where it is left out. */
  slug?: string | undefined
  name?: string | undefined
  parameters: Readonly<Record<string, unknown>>
}

/**
 * Makes a channel template. Its node and its parameters are held against the type that the service lists now, because a refusal costs a
 * request and a parameter that is dropped is seen by nobody. No reading shows templates, so a creation whose answer was lost stays in
 * doubt, and is never sent again by itself.
 */
export async function createTemplate(
  context: Context,
  { nodeId, slug, name, parameters }: NewTemplate,
  options: SendOptions,
): Promise<ActionEnd> {
  const wanted = { channel_node_id: nodeId, ...(name !== undefined && { name }), parameters }
  // Refuses what is no UUID before anything is asked.
  checkBody(context.config.catalogue.of('template.create'), { ...wanted, channel_type_slug: slug ?? 'any' })
  const types = await readTypes(context, options.signal)
  const type = types.find((each) => each.nodeId.toLowerCase() === nodeId.toLowerCase())
  if (!type)
    throw new InputError(
      'no_template_type',
      `no type of channel templates has the node ${nodeId}: \`paydirt monitors templates types\` lists them`,
    )
  const slugToSend = slug ?? type.slug
  if (slugToSend === null)
    throw new InputError('bad_template', 'the service does not tell the channel of this node: name --type')
  const problem = templateProblem(type, { slug: slugToSend, parameters })
  if (problem !== undefined) throw new InputError('bad_template', problem)
  const body = { ...wanted, channel_node_id: type.nodeId, channel_type_slug: slugToSend }
  return send(context, 'template.create', body, options)
}

/** Removes versions of channel templates by their numbers, one each. */
export async function deleteTemplates(
  context: Context,
  ids: readonly number[],
  options: SendOptions,
): Promise<ActionEnd> {
  return send(context, 'template.delete', { channel_template_id: [...ids] }, options)
}

async function send(
  context: Context,
  operation: 'template.create' | 'template.delete',
  body: Readonly<Record<string, unknown>>,
  options: SendOptions,
): Promise<ActionEnd> {
  const known = await knownOfAccount(context, { asks: false })
  const config = await withAcceptedNames(context.config, context)
  const call = planCall(config, { operation, body, isUnchecked: true }, known)
  assertAffordable(call)
  const end = await performAction(context, call, options)
  if (end.state !== 'parked')
    await noteFromCli(context, 'service.action', {
      target: operation,
      details: { state: end.state, action: String(end.action.id) },
    })
  return end
}
