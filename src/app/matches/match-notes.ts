import type { NoteDraft, NoteLink } from '../../connectors/noting.ts'
import { markerOf } from '../../domain/notes/marker.ts'
import { counted } from '../../domain/values/counted.ts'
import { writeNotes } from '../notes/write-notes.ts'
import { companyEntityOf } from '../config/watching/match-lists.ts'
import type { AppliedStep } from './match-plans.ts'
import { MatchWaits, stepPlaces, type MatchWork } from './match-work.ts'

const dayMs = 86_400_000
const mostLinks = 10

/** Writes the note and the task of a match, each once: their markers are of the match. Throws MatchWaits where the CRM cannot take one yet. */
export async function workNotes(
  work: MatchWork,
  recordId: string,
  people: AppliedStep | undefined,
): Promise<void> {
  const { context, connector, match, matches, onMatch } = work
  const drafts = draftsOf(work, recordId, people)
  if (drafts.length === 0) return
  if (!connector.notes) {
    for (const { kind } of drafts)
      await matches.endStep(match.id, {
        ordinal: stepPlaces[kind],
        recordId,
        status: 'skipped',
        reason: `${connector.name} takes no ${kind}s`,
      })
    return
  }
  const outcomes = await writeNotes(context, connector, drafts, {
    entity: companyEntityOf(onMatch),
    runId: match.id,
  })
  for (const { kind, status, reason = '' } of outcomes)
    if (status !== 'waiting')
      await matches.endStep(match.id, {
        ordinal: stepPlaces[kind],
        recordId,
        status: status === 'left' ? 'rejected' : status === 'undone' ? 'skipped' : 'written',
        reason: status === 'left' ? reason : `one ${kind} of the match`,
      })
  const waiting = outcomes.find(({ status }) => status === 'waiting')
  if (waiting) throw new MatchWaits(`the ${waiting.kind} waits: ${waiting.reason ?? ''}`)
}

function draftsOf(
  { match, onMatch }: MatchWork,
  recordId: string,
  people: AppliedStep | undefined,
): NoteDraft[] {
  const { id, monitor, signals, takenAt } = match
  const { note, task, owner } = onMatch
  const links: NoteLink[] = signals
    .flatMap(({ title, url }) => (url === null ? [] : [{ title, url }]))
    .slice(0, mostLinks)
  // No names of people: the note tells how many there are, and the CRM shows who.
  const lines = [
    ...signals.map(({ title, at }) => (at === null ? title : `${at.slice(0, 10)}: ${title}`)),
    ...(people && people.created > 0 ? [`${counted(people.created, 'person', 'people')} added`] : []),
  ]
  const body = lines.join('\n')
  const shared = { recordId, body, links }
  return [
    ...(note
      ? [
          {
            ...shared,
            kind: 'note' as const,
            marker: markerOf('match', id, 'note'),
            title: (typeof note === 'object' ? note.title : undefined) ?? `Monitor ${monitor}`,
          },
        ]
      : []),
    ...(task
      ? [
          {
            ...shared,
            kind: 'task' as const,
            marker: markerOf('match', id, 'task'),
            title: task.title,
            dueAt: new Date(takenAt.getTime() + (task.dueDays ?? 0) * dayMs),
            ...(owner === undefined ? {} : { ownerId: owner }),
          },
        ]
      : []),
  ]
}
