import type { Env, Hono } from 'hono'
import type { ChangeLog } from './change-log.ts'
import { keepState } from './kept-state.ts'
import { listen, type Listening } from './listen.ts'
import type { createPages } from './browse.ts'

interface Served<E extends Env> {
  /** The API of the real CRM. */
  app: Hono<E>
  /** The pages for a person, where there are any. */
  pages: ReturnType<typeof createPages> | undefined
  changes: ChangeLog | undefined
  /** The records and all that belongs to them; changed in place. */
  state: Record<string, unknown>
  /** The file that keeps the state from one start to the next. */
  stateFile: string | undefined
  port: number | undefined
}

/** Serves the API of a stand-in and its pages at one address. With a file, the state is read first, and written at the stop. */
export async function serveStandIn<E extends Env>(options: Served<E>): Promise<Listening> {
  const { app, pages, changes, state, stateFile, port } = options
  const save =
    stateFile === undefined
      ? undefined
      : await keepState(stateFile, { store: state, changes: changes?.all ?? new Map() })
  const { baseUrl, stop } = await listen(
    (request, bindings) => (pages?.serves(request) ? pages.app : app).fetch(request, bindings),
    port,
  )
  return {
    baseUrl,
    async stop() {
      await stop()
      await save?.()
    },
  }
}
