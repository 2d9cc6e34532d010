export interface CrmStandIn {
  /** The variables with which Paydirt finds it. They are the same at every start. */
  environment: Record<string, string>
  /** The address at which a person sees its records. */
  pageUrl: string
  stop(): Promise<void>
}

export interface CrmStandInOptions {
  /** Port on the loopback. 0, the default, takes a free one. */
  port?: number
  /** Number of records of each object at the first start. Default 500. */
  records?: number
  /** Number of companies of the service's world beside them at the first start, in other spellings. Default none. */
  known?: number | undefined
  /** Keeps the records in this file from one start to the next. It is written when the stand-in stops. */
  stateFile?: string | undefined
  /** The address at which the CRM's buttons find Paydirt. */
  paydirtUrl?: string
}

export const defaultPaydirtUrl = 'http://127.0.0.1:8080'
