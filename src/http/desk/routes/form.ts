import { parseUsd, type Atomic } from '../../../domain/money.ts'
import type { DeskContext } from '../access/gate.ts'

/** A page that waits for something is loaded again after this many seconds. Needs no script. */
export const reloadSeconds = 3

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

/** Reads an amount in USD as a person writes it. Undefined for any other text. */
export function readAmount(text: string | undefined): Atomic | undefined {
  try {
    return parseUsd((text ?? '').trim())
  } catch {
    return undefined
  }
}

/** Returns the number of the page that an address names; 1 where it names none. */
export function pageNumber(context: DeskContext): number {
  const text = context.req.query('page') ?? ''
  return /^[1-9]\d{0,6}$/.test(text) ? Number(text) : 1
}
