import { ConfigError } from '../../../domain/errors.ts'
import { readReportSubject } from '../../../domain/signals/scheduled-report.ts'
import { reportDocument } from './report-document.ts'
import { reportText } from './report-text.ts'
import { scoredPipelines } from './scored-pipelines.ts'
import { makeSignalsReport, type PipelineReport, type ReportContext } from './signals-report.ts'

/** A message in a chat holds so many accounts as text, and a webhook takes so many as data. */
const mostInText = 10
const mostInData = 200

/**
 * Returns the parts of the message of a scheduled report, as of the time at which it was handed over. It is made anew for each try, so that
 * an account that was forgotten meanwhile is not in it. Throws ConfigError when its pipeline is not in the config any more.
 */
export async function reportMessage(
  context: ReportContext,
  { subject, raisedAt }: { subject: string; raisedAt: Date },
): Promise<{ message: string; report: object }> {
  const asked = readReportSubject(subject)
  if (!asked) throw new ConfigError('bad_report', `${subject} names no report`)
  const { pipeline, since } = asked
  const report = await makeSignalsReport(context, scoredPipelines(context.config), {
    pipeline,
    since,
    at: raisedAt,
  })
  const cut = { ...report, pipelines: report.pipelines.map(cutPipeline) }
  return { message: reportText(report, mostInText).trimEnd(), report: reportDocument(cut) }
}

/** The numbers beside the lists say how many there are, also where a list was cut. */
function cutPipeline(report: PipelineReport): PipelineReport & Record<string, unknown> {
  const { moved, added, gone } = report
  return {
    ...report,
    moved: moved.slice(0, mostInData),
    added: added.slice(0, mostInData),
    gone: gone.slice(0, mostInData),
    counts: { moved: moved.length, added: added.length, gone: gone.length },
  }
}
