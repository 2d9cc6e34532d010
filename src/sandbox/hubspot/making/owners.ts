import { Hono } from 'hono'
import type { HubspotAuth } from '../auth.ts'
import { notFound, validationError } from '../errors.ts'
import type { HubspotEnv } from '../gate.ts'

/** A user to whom records can belong. One who has left is archived, and keeps the records. */
export interface HubspotOwner {
  readonly id: string
  readonly firstName: string
  readonly lastName: string
  readonly email: string
  readonly archived: boolean
}

/** The owners of a new account, by id. */
export function firstOwners(): Map<string, HubspotOwner> {
  const owner = (
    id: string,
    firstName: string,
    lastName: string,
    archived = false,
  ): [string, HubspotOwner] => [
    id,
    { id, firstName, lastName, email: `${firstName.toLowerCase()}@owners.example`, archived },
  ]
  return new Map([
    owner('71001', 'Ines', 'Vogel'),
    owner('71002', 'Tomas', 'Rehn'),
    owner('71003', 'Petra', 'Lang', true),
  ])
}

/** The list of owners and one of them, as the specification of HubSpot's API has it. */
export function ownerRoutes(
  owners: ReadonlyMap<string, HubspotOwner>,
  auth: HubspotAuth,
  now: () => number,
): Hono<HubspotEnv> {
  const app = new Hono<HubspotEnv>()
  const shown = ({ id, firstName, lastName, email, archived }: HubspotOwner): object => {
    const at = new Date(now() - 86_400_000).toISOString()
    const userId = Number(id) + 500_000
    return {
      id,
      email,
      type: 'PERSON',
      firstName,
      lastName,
      ...(archived ? {} : { userId }),
      userIdIncludingInactive: userId,
      createdAt: at,
      updatedAt: at,
      archived,
      teams: [],
    }
  }

  app.get('/', (c) => {
    auth.require('crm.objects.owners.read')
    const limit = Number(c.req.query('limit') ?? 100)
    if (!Number.isInteger(limit) || limit < 1 || limit > 500)
      throw validationError('limit must be between 1 and 500')
    const isArchived = c.req.query('archived') === 'true'
    const listed = [...owners.values()].filter(({ archived }) => archived === isArchived)
    const from = Number(c.req.query('after') ?? 0)
    const page = listed.slice(from, from + limit)
    const after = String(from + page.length)
    const isMore = from + page.length < listed.length
    return c.json({
      results: page.map(shown),
      ...(isMore ? { paging: { next: { after, link: `?after=${after}` } } } : {}),
    })
  })

  app.get('/:id', (c) => {
    auth.require('crm.objects.owners.read')
    const found = owners.get(c.req.param('id'))
    if (!found || found.archived !== (c.req.query('archived') === 'true')) throw notFound()
    return c.json(shown(found))
  })
  return app
}
