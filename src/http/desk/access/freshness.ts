import type { MiddlewareHandler } from 'hono'
import { getCookie, setCookie } from 'hono/cookie'
import type { Database } from '../../../store/database/database.ts'
import type { DeskContext, DeskEnv } from './gate.ts'

/** The reading of pages that change nothing. */
export interface DeskReads {
  read<T>(read: (db: Database) => Promise<T>): Promise<{ result: T; behindMs: number | undefined }>
  /** After a change, its visitor's pages come from the primary for so long. */
  freshSeconds: number
}

const cookie = 'paydirt_changed'

/**
 * Marks a visitor who has changed something. A cookie, because the next page may come from another process; it lasts for longer than
 * a standby that is read may be behind, so nobody misses what they have just done.
 */
export function marksChanges(reads: DeskReads | undefined): MiddlewareHandler<DeskEnv> {
  return async (context, next) => {
    await next()
    if (!reads || ['GET', 'HEAD', 'OPTIONS'].includes(context.req.method)) return
    // An action that failed counts too: it may have changed something before.
    setCookie(context, cookie, '1', {
      httpOnly: true,
      sameSite: 'Lax',
      path: '/',
      maxAge: reads.freshSeconds,
      secure: context.get('visitor')?.isSecure ?? false,
    })
  }
}

/** Reads for a page: from the standby, where there is one and it is near, unless the visitor has just changed something. */
export async function readForPage<T>(
  { db, reads }: { db: Database; reads?: DeskReads | undefined },
  context: DeskContext,
  read: (db: Database) => Promise<T>,
): Promise<T> {
  if (!reads || getCookie(context, cookie) !== undefined) return read(db)
  const { result, behindMs } = await reads.read(read)
  if (behindMs !== undefined) context.set('behindMs', Math.max(behindMs, context.get('behindMs') ?? 0))
  return result
}
