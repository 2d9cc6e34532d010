import { readFileSync } from 'node:fs'
import { Hono, type Context } from 'hono'
import type { CrmBook } from './book.ts'
import { listPage, recordPage, type View } from './pages.ts'

const perPage = 50

/**
 * The pages under `/_sandbox/` of a CRM's stand-in, on which a person sees what was written. They are no part of the CRM,
 * and a stand-in has them only where a person has started it.
 */
export function createPages(book: CrmBook): { serves(request: Request): boolean; app: Hono } {
  const app = new Hono()
  const css = readFileSync(new URL('page.css', import.meta.url), 'utf8')
  const first = book.objects()[0]?.name ?? ''
  /** The messages of the last action on a record, shown once. */
  const notices = new Map<string, string>()

  app.use('*', async (c, next) => {
    // Another page in the same browser must not read or change anything here, also not under a name that it points here.
    if (!isLocal(c.req.header('host')) || !isOwnForm(c)) return c.text('only from this machine', 403)
    await next()
    c.header('content-security-policy', policy)
    c.header('x-content-type-options', 'nosniff')
    // Not `no-referrer`: the browser would not say where a form comes from.
    c.header('referrer-policy', 'same-origin')
    c.header('cache-control', 'no-store')
    return undefined
  })
  app.get('/', (c) => c.redirect(`/_sandbox/${first}`))
  app.get('/_sandbox', (c) => c.redirect(`/_sandbox/${first}`))
  app.get('/_sandbox/', (c) => c.redirect(`/_sandbox/${first}`))
  app.get('/_sandbox/page.css', (c) => c.body(css, 200, { 'content-type': 'text/css; charset=utf-8' }))

  app.get('/_sandbox/contents.json', (c) => c.json(book.contents()))

  app.get('/_sandbox/:object', (c) => {
    const object = c.req.param('object')
    if (!book.objects().some(({ name }) => name === object)) return c.notFound()
    const query = (c.req.query('q') ?? '').slice(0, 300)
    const wanted = query.trim().toLowerCase()
    const found = book
      .list(object)
      .filter(({ id, title, hints }) =>
        [id, title, ...hints].some((text) => text.toLowerCase().includes(wanted)),
      )
      .toSorted((a, b) => b.modifiedAtMs - a.modifiedAtMs || a.id.localeCompare(b.id))
    const pages = Math.max(1, Math.ceil(found.length / perPage))
    const page = Math.min(pages, Math.max(1, Math.trunc(Number(c.req.query('page'))) || 1))
    const entries = found
      .slice((page - 1) * perPage, page * perPage)
      .map((entry) => ({ entry, last: book.changesOf(object, entry.id)[0] }))
    return c.html(listPage({ ...view(c, object), entries, total: found.length, query, page, pages }))
  })

  app.get('/_sandbox/:object/:id', (c) => {
    const { object, id } = c.req.param()
    const found = book.find(object, id)
    if (!found) return c.notFound()
    const key = `${object}/${id}`
    const notice = notices.get(key)
    notices.delete(key)
    const changes = book.changesOf(object, found.entry.id)
    return c.html(recordPage({ ...view(c, object), notice, ...found, changes }))
  })
  app.post('/_sandbox/:object/:id', async (c) => {
    const { object, id } = c.req.param()
    const form = new URLSearchParams(await c.req.text())
    if (!book.find(object, id)) return c.notFound()
    try {
      book.edit(object, id, form.get('field') ?? '', (form.get('value') ?? '').slice(0, 10_000))
    } catch (error) {
      notices.set(`${object}/${id}`, `Not saved: ${(error as Error).message}`)
    }
    return c.redirect(`/_sandbox/${object}/${encodeURIComponent(id)}`, 303)
  })
  app.post('/_sandbox/:object/:id/press', async (c) => {
    const { object, id } = c.req.param()
    if (!book.find(object, id)) return c.notFound()
    notices.set(`${object}/${id}`, await book.press(object, id))
    return c.redirect(`/_sandbox/${object}/${encodeURIComponent(id)}`, 303)
  })
  // Links to a record in the real CRM, such as those of the desk, lead to its page here.
  app.get('*', (c) => {
    const record = book.recordAt(c.req.path)
    return record ? c.redirect(`/_sandbox/${record.object}/${encodeURIComponent(record.id)}`) : c.notFound()
  })

  function view(c: Context, object: string): View {
    const url = new URL(c.req.url)
    const seconds = Number(url.searchParams.get('refresh') ?? Number.NaN)
    const refreshes = Number.isInteger(seconds) && seconds >= 1 && seconds <= 3600
    url.searchParams.delete('refresh')
    const here = `${url.pathname}${url.search}`
    url.searchParams.set('refresh', '5')
    const links = { here, refreshing: `${url.pathname}${url.search}` }
    return { book, object, links, refreshSeconds: refreshes ? seconds : undefined }
  }

  return {
    app,
    serves(request) {
      const path = new URL(request.url).pathname
      return path === '/' || path.startsWith('/_sandbox') || book.recordAt(path) !== undefined
    },
  }
}

const policy =
  "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

function isLocal(host: string | undefined): boolean {
  return /^(127\.0\.0\.1|localhost)(:\d+)?$/.test(host ?? '')
}

function isOwnForm(c: Context): boolean {
  if (c.req.method === 'GET' || c.req.method === 'HEAD') return true
  const origin = c.req.header('origin')
  return (
    (origin === undefined || origin === `http://${c.req.header('host')}`) &&
    ['same-origin', 'none', undefined].includes(c.req.header('sec-fetch-site'))
  )
}
