import { Hono } from 'hono'
import { z } from 'zod'
import type { HubspotAuth } from './auth.ts'
import { notFound, validationError } from './errors.ts'
import type { HubspotEnv } from './gate.ts'
import { OBJECT_TYPE_IDS, TIED_TYPE_IDS, type HubspotType, type TiedKind } from './properties.ts'
import type { ActivityKind } from './noting/activities.ts'
import { batchAnswer, objectType, parseBody, scope, type BatchError } from './answers.ts'
import type { HubspotStore } from './store.ts'

/** Association types between contacts and companies: the labelled primary one and the plain one. */
const TYPE_IDS = {
  contacts: { primary: 1, plain: 279 },
  companies: { primary: 2, plain: 280 },
} as const satisfies Record<HubspotType, { primary: number; plain: number }>

/** The batch calls below `/crm/v4/associations` and `/crm/associations/2026-09`. */
export function associationRoutes(
  store: HubspotStore,
  auth: HubspotAuth,
  now: () => number,
): Hono<HubspotEnv> {
  const app = new Hono<HubspotEnv>()

  app.post('/:from{notes|tasks}/:to/batch/read', async (c) => {
    const [kind, to] = [c.req.param('from') as ActivityKind, objectType(c.req.param('to'))]
    auth.require(scope('contacts', 'read'), scope(to, 'read'))
    const { inputs } = parseBody(readSchema, await c.req.text())
    const results: object[] = []
    const errors: BatchError[] = []
    for (const { id } of inputs) {
      const activity = store.activities.all.get(id)
      const isThere = activity?.kind === kind && activity.archivedAtMs === undefined
      const links = (isThere ? activity.ties : []).filter(({ type }) => type === to)
      if (links.length > 0)
        results.push({
          from: { id },
          to: links.map((tie) => ({
            toObjectId: store.get(to, tie.id)?.id ?? tie.id,
            associationTypes: [{ category: 'HUBSPOT_DEFINED', typeId: 0, label: null }],
          })),
        })
      else errors.push(noAssociations(kind, to, id))
    }
    return c.json(batchAnswer(results, errors, now()), errors.length > 0 ? 207 : 200)
  })

  app.post('/:from/:to/batch/read', async (c) => {
    const kind = tiedKind(c.req.param('to'))
    const { from, to } = kind
      ? { from: objectType(c.req.param('from')), to: kind }
      : pair(c.req.param('from'), c.req.param('to'))
    auth.require(scope(from, 'read'), kind ? tiedScope(kind) : scope(to as HubspotType, 'read'))
    const { inputs } = parseBody(readSchema, await c.req.text())
    const results: object[] = []
    const errors: BatchError[] = []
    for (const { id } of inputs) {
      const links = kind ? tiesOf(store, from, id, kind) : linksOf(store, from, id)
      if (links.length > 0) results.push({ from: { id }, to: links })
      else errors.push(noAssociations(from, to, id))
    }
    return c.json(batchAnswer(results, errors, now()), errors.length > 0 ? 207 : 200)
  })

  app.post('/:from/:to/batch/associate/default', async (c) => {
    const { from, to } = pair(c.req.param('from'), c.req.param('to'))
    auth.require(scope(from, 'write'), scope(to, 'write'))
    const { inputs } = parseBody(createSchema, await c.req.text())
    const results: object[] = []
    const errors: BatchError[] = []
    for (const input of inputs) {
      const source = store.get(from, input.from.id)
      const target = store.get(to, input.to.id)
      if (!source || !target || source.archivedAtMs !== undefined || target.archivedAtMs !== undefined) {
        errors.push({
          status: 'error',
          category: 'VALIDATION_ERROR',
          message: `One or more associations are not valid: ${input.from.id} to ${input.to.id}`,
          context: { fromObjectId: [input.from.id], toObjectId: [input.to.id] },
        })
        continue
      }
      if (from === 'contacts') store.associate(source.id, target.id)
      else store.associate(target.id, source.id)
      results.push(
        defaultAssociation(from, source.id, target.id),
        defaultAssociation(to, target.id, source.id),
      )
    }
    return c.json(batchAnswer(results, errors, now()), errors.length > 0 ? 207 : 200)
  })

  app.post('/:from/:to/batch/create', async (c) => {
    const { from, to } = pair(c.req.param('from'), c.req.param('to'))
    auth.require(scope(from, 'write'), scope(to, 'write'))
    const { inputs } = parseBody(labelledSchema, await c.req.text())
    const { primary, plain } = TYPE_IDS[from]
    const results: object[] = []
    for (const input of inputs) {
      const source = store.get(from, input.from.id)
      const target = store.get(to, input.to.id)
      const wrong = input.types.find(
        ({ associationTypeId }) => ![primary, plain].includes(associationTypeId as never),
      )
      if (!source || !target || wrong)
        throw validationError(
          `One or more associations are not valid: ${input.from.id} to ${input.to.id}, type ${wrong?.associationTypeId}`,
        )
      const isPrimary = input.types.some(({ associationTypeId }) => associationTypeId === primary)
      if (from === 'contacts') store.associate(source.id, target.id, isPrimary)
      else store.associate(target.id, source.id, isPrimary)
      results.push({
        fromObjectTypeId: OBJECT_TYPE_IDS[from],
        fromObjectId: source.id,
        toObjectTypeId: OBJECT_TYPE_IDS[to],
        toObjectId: target.id,
        labels: isPrimary ? ['Primary'] : [],
      })
    }
    return c.json(batchAnswer(results, [], now()), 201)
  })

  return app
}

/** The single-record reads below `/crm/v4/objects`. */
export function recordAssociationRoutes(store: HubspotStore, auth: HubspotAuth): Hono<HubspotEnv> {
  const app = new Hono<HubspotEnv>()
  app.get('/:from/:id/associations/:to', (c) => {
    const { from, to } = pair(c.req.param('from'), c.req.param('to'))
    auth.require(scope(from, 'read'), scope(to, 'read'))
    if (!store.get(from, c.req.param('id'))) throw notFound()
    return c.json({ results: linksOf(store, from, c.req.param('id')) })
  })
  return app
}

const idSchema = z.union([z.string(), z.number().int().transform(String)])
const readSchema = z.object({
  inputs: z.array(z.object({ id: idSchema, after: z.string().optional() })).max(1000),
})
const createSchema = z.object({
  inputs: z.array(z.object({ from: z.object({ id: idSchema }), to: z.object({ id: idSchema }) })).max(2000),
})

const labelledSchema = z.object({
  inputs: z
    .array(
      z.object({
        from: z.object({ id: idSchema }),
        to: z.object({ id: idSchema }),
        types: z
          .array(z.object({ associationCategory: z.string(), associationTypeId: z.number().int() }))
          .min(1),
      }),
    )
    .max(2000),
})

function tiedKind(given: string): TiedKind | undefined {
  const kinds = Object.entries(TIED_TYPE_IDS) as [TiedKind, string][]
  return kinds.find(([name, typeId]) => name === given || typeId === given)?.[0]
}

/** Activities are read with the right to contacts. */
function tiedScope(kind: TiedKind): string {
  if (kind === 'tickets') return 'tickets'
  return kind === 'deals' ? 'crm.objects.deals.read' : scope('contacts', 'read')
}

function tiesOf(store: HubspotStore, from: HubspotType, id: string, kind: TiedKind): object[] {
  const record = store.get(from, id)
  return (record ? store.tiedTo(from, record.id, kind) : []).map((toObjectId) => ({
    toObjectId,
    associationTypes: [{ category: 'HUBSPOT_DEFINED', typeId: 0, label: null }],
  }))
}

function pair(from: string, to: string): { from: HubspotType; to: HubspotType } {
  const types = { from: objectType(from), to: objectType(to) }
  if (types.from === types.to) throw validationError(`No default association between ${from} and ${to}`)
  return types
}

function linksOf(store: HubspotStore, from: HubspotType, id: string): object[] {
  const record = store.get(from, id)
  if (!record) return []
  const links = from === 'contacts' ? store.companiesOf(record.id) : store.contactsOf(record.id)
  const { primary, plain } = TYPE_IDS[from]
  const to = from === 'contacts' ? 'companies' : 'contacts'
  // An archived record loses its ties.
  const there = [...links].filter(([otherId]) => store.get(to, otherId)?.archivedAtMs === undefined)
  return there.map(([toObjectId, { isPrimary }]) => ({
    toObjectId,
    associationTypes: [
      ...(isPrimary ? [{ category: 'HUBSPOT_DEFINED', typeId: primary, label: 'Primary' }] : []),
      { category: 'HUBSPOT_DEFINED', typeId: plain, label: null },
    ],
  }))
}

function noAssociations(
  from: HubspotType | ActivityKind,
  to: HubspotType | TiedKind,
  id: string,
): BatchError {
  const singular: Readonly<Record<string, string>> = { companies: 'company', contacts: 'contact' }
  return {
    status: 'error',
    category: 'OBJECT_NOT_FOUND',
    subCategory: 'crm.associations.NO_ASSOCIATIONS_FOUND',
    message: `No ${singular[to] ?? to.replace(/s$/, '')} is associated with ${singular[from] ?? from.replace(/s$/, '')} ${id}.`,
    context: {
      fromObjectId: [id],
      fromObjectType: [{ ...OBJECT_TYPE_IDS, ...TIED_TYPE_IDS }[from]],
      toObjectType: [{ ...OBJECT_TYPE_IDS, ...TIED_TYPE_IDS }[to]],
    },
  }
}

function defaultAssociation(from: HubspotType, fromId: string, toId: string): object {
  return {
    from: { id: fromId },
    to: { id: toId },
    associationSpec: { associationCategory: 'HUBSPOT_DEFINED', associationTypeId: TYPE_IDS[from].plain },
  }
}
