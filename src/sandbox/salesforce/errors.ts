/** One error in the REST API's form. Save results call the code `statusCode`, request errors `errorCode`. */
export interface SaveError {
  readonly statusCode: string
  readonly message: string
  readonly fields: readonly string[]
}

/** A request that is refused as a whole. The body of the response is a list with this one error. */
export class SalesforceError extends Error {
  readonly status: number
  readonly errorCode: string
  readonly fields: readonly string[] | undefined

  constructor(status: number, errorCode: string, message: string, fields?: readonly string[]) {
    super(message)
    this.name = 'SalesforceError'
    this.status = status
    this.errorCode = errorCode
    this.fields = fields
  }

  body(): object[] {
    return [
      {
        message: this.message,
        errorCode: this.errorCode,
        ...(this.fields === undefined ? {} : { fields: this.fields }),
      },
    ]
  }
}

export function saveError(statusCode: string, message: string, fields: readonly string[] = []): SaveError {
  return { statusCode, message, fields }
}

export function malformedQuery(message: string): SalesforceError {
  return new SalesforceError(400, 'MALFORMED_QUERY', message)
}

export function resourceNotFound(): SalesforceError {
  return new SalesforceError(404, 'NOT_FOUND', 'The requested resource does not exist')
}
