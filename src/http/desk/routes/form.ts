import type { DeskContext } from '../access/gate.ts'

/** Returns the fields of a form, each on one line and of at most 300 characters. */
export async function form(context: DeskContext): Promise<Record<string, string>> {
  const body = await context.req.parseBody()
  return Object.fromEntries(
    Object.entries(body).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name, readable(value).trim().slice(0, 300)]] : [],
    ),
  )
}

/** Control characters and halves of a character could not be stored, neither here nor in the audit log. */
function readable(text: string): string {
  return text.toWellFormed().replaceAll(/\p{Cc}/gu, ' ')
}
