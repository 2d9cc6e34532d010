export interface CrmStandIn {
  /** The variables with which Paydirt finds it. */
  environment: Record<string, string>
  stop(): Promise<void>
}
