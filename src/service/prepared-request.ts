import type { HttpMethod } from '../domain/ports/transport.ts'
import type { Fact } from '../domain/record.ts'
import type { Operation } from '../domain/words.ts'

/** A request ready to be paid for and sent. The journal stores all of it. */
export interface PreparedRequest {
  operation: Operation
  /**
   * `POST https://host/path`, with the values that determine its price in brackets. Terms are cached and spending is
   * reported under this name.
   */
  endpoint: string
  method: HttpMethod
  url: string
  body: string
  timeoutMs: number
  decode: (body: string) => Fact
}
