import { randomBytes } from 'node:crypto'
import type { Hono } from 'hono'
import { connectorNames, definitionOf, isConnectorName } from '../../../connectors/definitions.ts'
import { readSearch } from '../../../domain/search/search-query.ts'
import { sealKey } from '../../../store/access/seal-key.ts'
import { findTasks, matchOf, type TaskPage } from '../../../store/search/find-tasks.ts'
import { indexTasks, unsearchable } from '../../../store/search/index-tasks.ts'
import type { DeskContext, DeskEnv } from '../access/gate.ts'
import { openSealed, sealText } from '../access/seal.ts'
import {
  filtersOf,
  hasFilters,
  queryOf,
  readCursor,
  readParams,
  type SearchParams,
} from '../model/record-search.ts'
import { findPage } from '../pages/find.ts'
import { recordPage } from '../pages/record.ts'
import type { Desk } from './desk.ts'

const perPage = 50
/** A search first reads the newest records, for so long and so many at a time. */
const [readForMs, readAtOnce] = [300, 200]
const mostUnsearchable = 1_000_000

/**
 * Records by text and filters, and the page of one record. A text may name a person, so a form sends it, and in the address it
 * is sealed: logs of proxies and the history of browsers keep addresses. `q` names one record by its id.
 */
export function searchRoutes(app: Hono<DeskEnv>, desk: Desk): void {
  const { db, ports, links } = desk
  let key: Promise<string> | undefined
  const deskKey = () => {
    key ??= sealKey(db, randomBytes).catch((error: unknown) => {
      key = undefined
      throw error
    })
    return key
  }

  app.post('/records', ...desk.allowsChange('viewer'), async (context) => {
    const body = await context.req.parseBody()
    const given = Object.fromEntries(
      Object.entries(body).flatMap(([name, value]) =>
        typeof value === 'string' ? [[name, readable(value)]] : [],
      ),
    )
    return context.redirect(await addressOf(given, given['text'] ?? ''), 303)
  })

  app.get('/records', desk.requires('viewer'), async (context) => {
    const query = context.req.query()
    const { q, s = '' } = query
    if (q !== undefined) {
      const name = readName(q.trim())
      // A text by itself is moved out of the address.
      return name ? showRecord(context, name) : context.redirect(await addressOf(query, readable(q)), 303)
    }
    const text = s === '' ? '' : (openSealed(await deskKey(), s) ?? '')
    const params = readParams(query, text)
    const [older, newer] = [readCursor(query['older']), readCursor(query['newer'])]
    const page = await find(params, { older: newer ? undefined : older, newer })
    const one = older || newer || hasFilters(params) ? undefined : onlyRecord(page, params.text)
    if (one) return context.redirect(`/records?q=${encodeURIComponent(one)}`, 303)
    const schedules = (await ports.schedules?.list()) ?? []
    const search = {
      params,
      sealed: text === '' ? '' : s,
      page,
      connectors: connectorNames,
      schedules: schedules.map(({ name }) => name),
      unsearchable: text === '' ? 0 : await unsearchable(db, mostUnsearchable),
    }
    return desk.show(context, findPage(search, await desk.shell(context)))
  })

  async function addressOf(
    given: Readonly<Record<string, string | undefined>>,
    raw: string,
  ): Promise<string> {
    const params = readParams(given, raw)
    const name = readName(params.text)
    if (name && !hasFilters(params)) return `/records?q=${encodeURIComponent(params.text)}`
    return queryOf(params, params.text === '' ? '' : sealText(await deskKey(), params.text))
  }

  async function find(
    params: SearchParams,
    place: { older: ReturnType<typeof readCursor>; newer: ReturnType<typeof readCursor> },
  ): Promise<TaskPage> {
    const filters = filtersOf(params)
    if (params.text === '') return findTasks(db, undefined, filters, { ...place, limit: perPage })
    await readNewest()
    const match = await matchOf(db, readSearch(params.text, links.hosts), canonicalIds)
    return findTasks(db, match, filters, { ...place, limit: perPage })
  }

  /** Makes records that were just read findable. A search works without it. */
  async function readNewest(): Promise<void> {
    const endMs = performance.now() + readForMs
    try {
      const options = { hosts: links.hosts, now: desk.now, limit: readAtOnce }
      while ((await indexTasks(db, options)) >= readAtOnce && performance.now() < endMs);
    } catch (error) {
      desk.onError(error)
    }
  }

  async function showRecord(context: DeskContext, name: { connector: string; object: string; id: string }) {
    const timeline = await ports.timeline(name)
    const last = timeline.tasks.at(-1)
    if (!last) {
      const lead =
        'No run has included this record. It is named CONNECTOR:OBJECT:ID, as in hubspot:contact:123.'
      return desk.show(context, { title: 'Record not found', lead, current: '/records', body: [] }, 404)
    }
    const place = { connector: name.connector, entity: last.entity, id: timeline.id }
    const url = await links.recordUrl(place)
    return desk.show(context, recordPage({ timeline, url, links }, await desk.shell(context)))
  }
}

/** Reads `hubspot:contact:123`. */
function readName(text: string): { connector: string; object: string; id: string } | undefined {
  const match = /^([^:]+):([^:]+):(.+)$/s.exec(text)
  const [, connector = '', object = '', id = ''] = match ?? []
  const name = connector.toLowerCase()
  return match && isConnectorName(name) ? { connector: name, object, id } : undefined
}

/** The spellings that connectors fold an id into. */
function canonicalIds(id: string): string[] {
  return connectorNames.map((name) => definitionOf(name).canonicalId(id))
}

/** Returns the record of which a text is the id, when all results are of that record. */
function onlyRecord({ tasks, hasOlder }: TaskPage, text: string): string | undefined {
  const ids = [text, ...canonicalIds(text)]
  if (!tasks.every(({ recordId }) => ids.includes(recordId))) return undefined
  const names = new Set(tasks.map(({ connector, entity, recordId }) => `${connector}:${entity}:${recordId}`))
  const [name] = names
  return names.size === 1 && !hasOlder && name !== undefined && readName(name) ? name : undefined
}

/** Control characters and halves of a character are in no name, and could not be asked for. */
function readable(text: string): string {
  return text.toWellFormed().replaceAll(/\p{Cc}/gu, ' ')
}
