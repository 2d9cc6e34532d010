import {
  Button,
  Flex,
  hubspot,
  LoadingButton,
  LoadingSpinner,
  Select,
  Text,
  type CrmContext,
  type ExtensionPointApiActions,
} from '@hubspot/ui-extensions'
import { useEffect, useRef, useState } from 'react'
import {
  createPaydirt,
  follow,
  Problem,
  recipesOf,
  recordRef,
  type Answer,
  type RecordRef,
  type Result,
} from './paydirt-client.ts'
import { ProblemView } from './problem-view.tsx'
import { ResultView } from './result-view.tsx'

type Phase = 'loading' | 'idle' | 'requesting' | 'following' | 'left'

interface Props {
  context: CrmContext
  actions: Pick<ExtensionPointApiActions<'crm.record.sidebar'>, 'refreshObjectProperties'>
  /** Replaced in tests. */
  sleep?: (ms: number) => Promise<void>
}

/** The card: the last result of the record, a button, and the progress of the current task. */
export function EnrichRecord({ context, actions, sleep = realSleep }: Props) {
  const recipes = recipesOf(context.variables?.['PAYDIRT_RECIPES'])
  const [recipe, setRecipe] = useState(recipes[0])
  const [phase, setPhase] = useState<Phase>('loading')
  const [result, setResult] = useState<Result>()
  const [task, setTask] = useState<Answer>()
  const [problem, setProblem] = useState<Problem>()
  const { objectTypeId, objectId } = context.crm
  // Increases with each request and each change of record, so that a late response is ignored.
  const generation = useRef(0)

  const paydirt = createPaydirt({ url: context.variables?.['PAYDIRT_URL'], fetch: hubspot.fetch })

  const during = async (work: (record: RecordRef, isCurrent: () => boolean) => Promise<void>) => {
    const own = ++generation.current
    const isCurrent = () => generation.current === own
    setProblem(undefined)
    try {
      await work(recordRef(objectTypeId, objectId), isCurrent)
    } catch (error) {
      if (!isCurrent()) return
      setProblem(error instanceof Problem ? error : unexpected(error))
      setPhase('idle')
    }
  }

  const showLast = () =>
    during(async (record, isCurrent) => {
      setPhase('loading')
      setTask(undefined)
      setResult(undefined)
      const last = await paydirt.last(record)
      if (!isCurrent()) return
      setResult(last)
      setPhase('idle')
    })

  const watch = async (record: RecordRef, first: Answer, isCurrent: () => boolean) => {
    const show = (answer: Answer) => {
      if (!isCurrent()) return
      setTask(answer)
      setResult(answer)
    }
    show(first)
    if (!first.done && isCurrent()) setPhase('following')
    const answer = await follow({
      first,
      ask: (taskId) => paydirt.task(record, taskId),
      onAnswer: show,
      pause: async (ms) => {
        await sleep(ms)
        return isCurrent()
      },
    })
    if (!isCurrent()) return
    setPhase(answer.done ? 'idle' : 'left')
    if (answer.status === 'written') actions.refreshObjectProperties()
  }

  const enrich = () =>
    during(async (record, isCurrent) => {
      setPhase('requesting')
      await watch(record, await paydirt.enrich(record, recipe), isCurrent)
    })

  const checkAgain = () =>
    during(async (record, isCurrent) => {
      if (!task) return
      setPhase('following')
      await watch(record, await paydirt.task(record, task.taskId), isCurrent)
    })

  useEffect(() => {
    void showLast()
    return () => {
      generation.current += 1
    }
    // Only a change of record reloads the last result.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [objectTypeId, objectId])

  const busy = phase === 'requesting' || phase === 'following'
  return (
    <Flex direction="column" gap="sm">
      {problem && <ProblemView problem={problem} />}
      {phase === 'loading' && <LoadingSpinner label="Loading the last result" showLabel />}
      {phase === 'idle' && !result && !problem && <Text>This record is not enriched yet.</Text>}
      {result && <ResultView result={result} />}
      {recipes.length > 1 && (
        <Select
          label="What to look up"
          name="recipe"
          value={recipe ?? ''}
          readOnly={busy}
          options={recipes.map((name) => ({ label: recipeLabels[name] ?? name, value: name }))}
          onChange={(value) => setRecipe(String(value))}
        />
      )}
      {phase === 'left' && (
        <Button onClick={() => void checkAgain()} variant="secondary">
          Check again
        </Button>
      )}
      <LoadingButton
        variant="primary"
        loading={busy}
        disabled={phase === 'loading'}
        onClick={() => void enrich()}
      >
        Enrich
      </LoadingButton>
    </Flex>
  )
}

const recipeLabels: Record<string, string> = {
  profile: 'Profile',
  contact: 'Contact details',
  full: 'Everything',
}

function unexpected(error: unknown): Problem {
  return new Problem(
    error instanceof Error ? error.message : 'An error occurred in this card.',
    'Reload the page. Requesting again does not pay twice.',
  )
}

function realSleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms)
  })
}
