import type { SaveError } from './answers.ts'

/** Returns the first error of a row of a bulk job: `CODE:message:field,field --`, followed by any others. */
export function parseBulkError(text: string): SaveError {
  const [, statusCode = 'UNKNOWN', message = '', fields = ''] =
    /^([A-Z][A-Z0-9_]*):([\s\S]*?):([A-Za-z0-9_,]*) --/.exec(text) ??
    /^([A-Z][A-Z0-9_]*):?([\s\S]*)$/.exec(text) ??
    []
  return { statusCode, message, fields: fields.split(',').filter((name) => name !== '') }
}
