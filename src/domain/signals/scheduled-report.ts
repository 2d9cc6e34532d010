/** Stands where an object of a CRM stands in an occurrence, for the report of a pipeline. */
export const reportEntity = 'report'

/** Stands where an object of a CRM stands in an occurrence, for a pipeline that watches the rows of a list. */
export const pipelineEntity = 'signals'

/** The condition of the messages that are reports, among those that are alerts. */
export const reportCondition = 'signals_report'

export interface ScheduledReport {
  pipeline: string
  /** `7d` */
  since: string
  plannedAt: Date
}

/** Returns the subject of the message of a report: pipeline, period and planned time, by which it is composed when it is sent. */
export function reportSubject({ pipeline, since, plannedAt }: ScheduledReport): string {
  return `${pipeline}/${since}/${plannedAt.toISOString()}`
}

/** Reads such a subject. Undefined for another text. */
export function readReportSubject(subject: string): ScheduledReport | undefined {
  const [pipeline, since, planned, ...rest] = subject.split('/')
  const plannedAt = new Date(planned ?? '')
  if (pipeline === undefined || since === undefined || rest.length > 0 || Number.isNaN(plannedAt.getTime()))
    return undefined
  return { pipeline, since, plannedAt }
}
